"""What the results of a plan's calls are told by, matter by matter."""

from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.brain.appointments import with_times_in_words
from deskhand.brain.declared_plans import Unresolved, in_words, is_known, resolved, words_in
from deskhand.brain.replies import literal
from deskhand.brain.task_inputs import Fields
from deskhand.config.sections.plans import DeclaredPlan

TOLD = "told"
"""The field of a result that the customer has been told: it is not told again."""
Plans = Mapping[str, DeclaredPlan]


def results_by_plan(
    plans: Plans, plan: DeclaredPlan | None, results: Sequence[Fields]
) -> list[tuple[DeclaredPlan | None, list[Fields]]]:
    """The results of each matter, with the plan whose words tell them: a message may be about
    several things."""
    groups: list[tuple[DeclaredPlan | None, list[Fields]]] = []
    for result in results:
        tool = result.get("tool")
        own = plan if _calls(plan, tool) else _plan_that_calls(plans, tool) or plan
        group = next((some for other_plan, some in groups if other_plan is own), None)
        if group is None or any(other.get("tool") == tool for other in group):
            groups.append((own, [result]))
        else:
            group.append(result)
    return groups


def _calls(plan: DeclaredPlan | None, tool: Any) -> bool:
    return plan is not None and any(name == tool for name, _ in plan.steps)


def _plan_that_calls(plans: Plans, tool: Any) -> DeclaredPlan | None:
    return next((plan for plan in plans.values() if _calls(plan, tool)), None)


def statement(
    plan: DeclaredPlan, facts: Mapping[str, Any], language: str, languages: tuple[str, ...]
) -> str | None:
    """The desk's own sentence for the case that is given, if everything it speaks of is known."""
    fitting = [words for given, words in plan.replies if is_known(given, facts)]
    for by_language in [*fitting, *([plan.reply] if plan.reply else [])]:
        words = words_in(by_language, language, languages) or ""
        try:
            return "\n".join(_line(line, facts) for line in words.strip().splitlines())
        except Unresolved:
            continue
    return None


def _line(line: str, facts: Mapping[str, Any]) -> str:
    """A line that is nothing but a reference to a list becomes a line for each of its texts."""
    value = resolved(line.strip(), facts)
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return "\n".join(f"- {literal(item)}" for item in value)
    return in_words(line, facts)


class ResultTeller:
    """Tells what calls found, in the desk's own words."""

    def __init__(self, plans: Plans, languages: tuple[str, ...]) -> None:
        self._plans = plans
        self._languages = languages

    def tell(self, results: Sequence[Fields], language: str | None) -> str:
        """What is said of these results; empty where no plan has words for them."""
        spoken = language or self._languages[0].partition("-")[0]
        lines: list[str] = []
        for plan, some in results_by_plan(self._plans, None, results):
            facts = {"results": with_times_in_words(some, spoken)}
            words = None if plan is None else statement(plan, facts, spoken, self._languages)
            lines += [words] if words else []
        return "\n".join(lines)
