"""The review queue as written in desk.yaml: how long something waits, and replies that reviewers
have at hand."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from deskhand.config.sections.expiry import ExpirySection, ExpirySpec, expiry_spec, seconds_of
from deskhand.config.sections.notify import NotifySpec
from deskhand.config.sections.outgoing import DurationText
from deskhand.config.sections.reply_text import ReplyText, TextsByName, by_language
from deskhand.config.sections.section import Section
from deskhand.model.frozen import Frozen

CannedName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=60)]


class ReviewsSection(Section):
    """The review queue: `{expire_after: 3 days, canned: {thanks: {en: "Dear {name}, thank
    you."}}}`."""

    expire_after: DurationText | None = None
    """How long something waits for a person, as `3 days`; then a reply or call is rejected and a
    hand-over closed."""
    expire: ExpirySection | None = None
    """The same, with what happens then: `{after: 3 days, then: hand_over}`. A stage may say
    otherwise."""
    answer_within: DurationText = "1 day"
    """How long colleagues have to answer a message that was only acknowledged, as `4 hours`."""
    canned: dict[CannedName, ReplyText] = Field(default_factory=dict)
    """Replies to insert into a draft, by name: one text, one a language, or `{text: NAME}` for
    files. `{name}` is the customer's name."""
    notify: NotifySpec = Field(default_factory=NotifySpec.model_construct)
    """How reviewers hear of what waits."""


class ReviewsSpec(Frozen):
    expiry: ExpirySpec | None = None
    """What becomes of something that nobody decides; None where it waits for ever."""
    answer_within: float = 86400.0
    """Seconds until an answer is due that a reply promised."""
    canned: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Texts by name and language; under ANY_LANGUAGE where there is one for all."""
    notify: NotifySpec = Field(default_factory=NotifySpec.model_construct)


def reviews_spec(section: ReviewsSection, folder: Path, texts: TextsByName) -> ReviewsSpec:
    plain = (
        None if section.expire_after is None else ExpirySpec(after=seconds_of(section.expire_after))
    )
    canned = {name: by_language(written, texts) for name, written in section.canned.items()}
    return ReviewsSpec(
        expiry=plain if section.expire is None else expiry_spec(section.expire),
        answer_within=seconds_of(section.answer_within),
        canned=canned,
        notify=section.notify.beside(folder),
    )
