"""What makes the conditions of trust wrong: a fall before the rise, a complaint that no stage
finds."""

from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.suggestions import did_you_mean


def trust_findings(draft: DeskDraft) -> ConfigFindings:
    trust = draft.desk.trust
    if trust is None:
        return
    if trust.fall_back_at >= trust.promote_at:
        problem = f"`fall_back_at` must be below `promote_at` ({trust.promote_at:g})"
        yield ConfigFinding(
            ("trust", "fall_back_at"),
            problem,
            f"write {max(0.05, trust.promote_at - 0.1):.2g}, say",
        )
    categories = {*draft.categories()}
    written = trust.complaints if "complaints" in trust.model_fields_set else ()
    for number, category in enumerate(written):
        if categories and category not in categories:
            fix = did_you_mean(
                category, sorted(categories), otherwise="name a category of the desk"
            )
            yield ConfigFinding(
                ("trust", "complaints", number), f"no stage gives the category `{category}`", fix
            )
