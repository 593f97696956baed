"""Which category is for the desk's articles, and when they decide that a message belongs to it.

A message is an inquiry if articles surely answer everything that it asks, whatever its words
resemble: "my husband says oak is oak" sounds like somebody who comes back to something.
"""

from collections.abc import Collection, Mapping
from typing import Any

from deskhand.brain.embedded_desk import EmbeddedDesk
from deskhand.config.sections.plans import DeclaredPlan
from deskhand.model.tasks import OTHER

ANSWERED = "articles answer everything that it asks"
"""The reason for such a category."""


def only_writes(plan: DeclaredPlan) -> bool:
    """Whether a category's plan leaves the reply to the articles, or to a colleague with words of
    its own; others act, or say nothing."""
    if plan.hand_over:
        return bool(plan.steps or plan.opening)
    return plan.tell == () and not (plan.reply or plan.replies)


def category_for_articles(desk: EmbeddedDesk, choices: Collection[str]) -> str | None:
    """The category whose reply quotes articles; None where the desk or the task has none."""
    for name, plan in (desk.plans or {}).items():
        if only_writes(plan) and not plan.hand_over and name in (choices or (name,)):
            return name
    return None


def is_left_open(desk: EmbeddedDesk, category: Mapping[str, Any]) -> bool:
    """Whether what its words say leaves room for the articles: they say `other`, or nothing sure
    and nothing that a person must see or that is more than writing."""
    if not category.get("abstained"):
        return category.get("category") == OTHER
    best = category.get("best")
    if best is None or best in desk.always_asked:
        return False
    plan = (desk.plans or {}).get(str(best))
    return best == OTHER or (plan is not None and only_writes(plan))
