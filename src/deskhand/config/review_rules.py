"""What makes a canned reply wrong: a placeholder that nothing would ever fill."""

from deskhand.config.finding import Draft, Finding, Findings
from deskhand.config.near import did_you_mean
from deskhand.config.plans import ANY_LANGUAGE
from deskhand.config.reviews import PLACEHOLDERS, SLOT, placeholders_in, texts_of


def review_findings(draft: Draft) -> Findings:
    known = [*PLACEHOLDERS, *(f"{SLOT}{slot}" for slot in draft.names_at("slots"))]
    for name, words in draft.desk.reviews.canned.items():
        for language, text in texts_of(words).items():
            place = ("reviews", "canned", name, *([] if language == ANY_LANGUAGE else [language]))
            for placeholder in placeholders_in(text):
                if placeholder not in known:
                    fix = did_you_mean(placeholder, known, otherwise="write it without braces")
                    yield Finding(place, f"nothing fills `{{{placeholder}}}` in the canned reply `{name}`", fix)
