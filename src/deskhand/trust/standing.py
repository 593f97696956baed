"""Where a category stands: what its judged replies say, which mode that justifies, whether it
has to fall back."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from deskhand.config.sections.trust import TrustSpec
from deskhand.model.judgement import (
    AFTERWARDS,
    BY_PEOPLE,
    RETURNED,
    Judged,
    Judgement,
    ModeChange,
)
from deskhand.trust.evidence import Doubt, exceeds, lower_bound

MODES = ("shadow", "draft", "auto")
"""Each trusts the desk with more than the one before."""
FELL_BACK = "fell_back"
WINDOW = 200
"""How many of the newest judgements in `auto` are looked at for doubt: what lies further back
has been forgotten."""
_ENOUGH_OF_A_LANGUAGE = 10
_WORSE = 3
"""Replies coming back this many times as often as they may is what doubt is about."""


@dataclass(frozen=True, slots=True)
class CategoryMode:
    """What is known of a category's mode."""

    category: str
    mode: str
    """The mode that replies of the category leave by now."""
    ceiling: str
    """The most that desk.yaml allows."""
    since: float = 0.0
    """When it came to this mode; earlier judgements do not count any more."""
    number: int = 0
    """The number of its last change."""
    falls: int = 0
    """How often it fell back by itself: each time it takes more to be believed again."""

    @property
    def next(self) -> str | None:
        """The mode above, where desk.yaml allows it."""
        above = MODES.index(self.mode) + 1
        return MODES[above] if above <= MODES.index(self.ceiling) else None


def category_mode_of(
    category: str, start: str, ceiling: str, changes: Sequence[ModeChange]
) -> CategoryMode:
    """Where the changes so far, oldest first, have led; a lower ceiling in desk.yaml takes
    effect at once."""
    last = changes[-1] if changes else None
    mode = lower_of(start if last is None else last.mode, ceiling)
    falls = sum(change.how == FELL_BACK for change in changes)
    if last is None:
        return CategoryMode(category, mode, ceiling)
    return CategoryMode(category, mode, ceiling, last.at, last.number, falls)


def lower_of(first: str, second: str) -> str:
    return MODES[min(MODES.index(first), MODES.index(second))]


def first_mode(trust: TrustSpec | None, ceiling: str) -> str:
    """The mode of a category whose replies nobody has judged yet."""
    return ceiling if trust is None else lower_of(trust.start, ceiling)


@dataclass(frozen=True, slots=True)
class Standing:
    current: CategoryMode
    judged: int = 0
    """Judgements that count for the next mode, or in `auto` for keeping it."""
    good: int = 0
    lower: float = 0.0
    """The share of good ones is above this, whenever one looks."""
    bar: float = 0.0
    """Where the bound has to be for the next mode."""
    justified: bool = False
    why: str = ""
    doubt: float = 0.0
    """In `auto`: from 0 to 1, where the category falls back."""
    checked: float = 0.0
    """In `auto`: the share of replies that a person looks at first."""
    alarm: str | None = None
    """Why it has to fall back."""


def stand(current: CategoryMode, judgements: Iterable[Judgement], spec: TrustSpec) -> Standing:
    """Judgements of this category, oldest first."""
    recent = [judgement for judgement in judgements if judgement.at > current.since]
    match current.mode:
        case "auto":
            return _in_auto(current, recent, spec)
        case "draft":
            counted = {
                judgement.run_id
                for judgement in recent
                if judgement.counts and judgement.mode == "draft"
            }
            trials = _trials(
                (judgement for judgement in recent if judgement.run_id in counted), spec
            )
            return _below(current, trials, spec, spec.promote_at)
        case _:
            alike = {
                judgement.run_id: (judgement.share <= spec.alike_within, judgement.language)
                for judgement in recent
                if _compared(judgement)
            }
            return _below(current, alike, spec, spec.draft_at)


def is_good(judgement: Judgement, spec: TrustSpec) -> bool:
    """Whether the reply could have left as it was."""
    small = judgement.share <= spec.small_edit and not judgement.facts
    right = judgement.judged in (Judged.UNCHANGED, Judged.RIGHT)
    return right or (judgement.judged is Judged.EDITED and small)


def _compared(judgement: Judgement) -> bool:
    return judgement.judged is Judged.COMPARED


_BY_SOMEBODY = (*BY_PEOPLE, *AFTERWARDS)
"""Whoever looked, before the reply left or afterwards."""
_Trials = dict[str, tuple[bool, str]]
"""By run: whether it was good, and its language. A run is one trial, however often it was
decided about."""


def _trials(judgements: Iterable[Judgement], spec: TrustSpec) -> _Trials:
    trials: _Trials = {}
    for judgement in judgements:
        if judgement.judged in BY_PEOPLE:
            good, language = trials.get(judgement.run_id, (True, judgement.language))
            trials[judgement.run_id] = (good and is_good(judgement, spec), language)
    return trials


def _below(current: CategoryMode, trials: _Trials, spec: TrustSpec, bar: float) -> Standing:
    good = sum(fine for fine, _ in trials.values())
    bad = len(trials) - good
    alpha = spec.alpha / 2**current.falls
    standing = Standing(current, len(trials), good, lower_bound(good, bad, alpha), bar)
    if current.next is None:
        return replace(standing, why="desk.yaml allows no more")
    if len(trials) < spec.at_least:
        return replace(standing, why=f"{len(trials)} judged of at least {spec.at_least}")
    if not exceeds(good, bad, bar, alpha):
        return replace(
            standing, why=f"known to be above {standing.lower:.1%}, which is not {bar:.0%} yet"
        )
    if (weak := _weak_language(trials, spec)) is not None:
        return replace(standing, why=weak)
    return replace(
        standing, justified=True, why=f"known to be above {standing.lower:.1%} (bar {bar:.0%})"
    )


def _weak_language(trials: _Trials, spec: TrustSpec) -> str | None:
    """A language that the others must not speak for."""
    by_language: dict[str, list[bool]] = defaultdict(list)
    for fine, language in trials.values():
        by_language[language].append(fine)
    for language, all_fine in sorted(by_language.items()):
        good, judged = sum(all_fine), len(all_fine)
        if judged >= _ENOUGH_OF_A_LANGUAGE and good / judged < spec.fall_back_at:
            return f"in {language or 'an unknown language'} only {good} of {judged} were good"
    return None


def _in_auto(current: CategoryMode, recent: Sequence[Judgement], spec: TrustSpec) -> Standing:
    checks = Doubt(spec.promote_at, spec.fall_back_at, spec.alpha)
    returns = Doubt(1 - spec.returns_at, 1 - _WORSE * spec.returns_at, spec.alpha)
    good_so_far: dict[tuple[str, bool], bool] = {}
    for judgement, good in _seen_in_auto(recent, spec):
        looked_at = judgement.judged in _BY_SOMEBODY
        run = (judgement.run_id, looked_at)
        earlier = good_so_far.get(run)
        doubt = checks if looked_at else returns
        if earlier is None:
            doubt.note(good)
        elif earlier and not good:
            doubt.take_back()
        good_so_far[run] = good if earlier is None else earlier and good
        if doubt.raised:
            break
    people = [
        good for judgement, good in _seen_in_auto(recent, spec) if judgement.judged in _BY_SOMEBODY
    ]
    level = max(checks.level, returns.level)
    alarm = _alarm_words(checks, returns, recent, people)
    share = spec.spot_check + (1 - spec.spot_check) * level
    return Standing(
        current,
        len(people),
        sum(people),
        doubt=level,
        checked=share,
        alarm=alarm,
        why=alarm or "kept",
    )


def _seen_in_auto(recent: Iterable[Judgement], spec: TrustSpec) -> Iterator[tuple[Judgement, bool]]:
    """What tells of replies that leave by themselves: spot checks, what people stopped, what
    left, what came back."""
    for judgement in recent:
        if judgement.mode != "auto":
            continue
        if judgement.judged in _BY_SOMEBODY:
            good = is_good(judgement, spec)
            if (
                judgement.counts or not good
            ):  # whoever stops a reply chose it: that he lets another pass says nothing
                yield judgement, good
        elif judgement.judged is Judged.SENT or judgement.judged in RETURNED:
            yield judgement, judgement.judged is Judged.SENT


def _alarm_words(
    checks: Doubt, returns: Doubt, recent: Sequence[Judgement], people: Sequence[bool]
) -> str | None:
    if checks.raised:
        bad = len(people) - sum(people)
        return f"{bad} of the last {len(people)} replies that people looked at were not good"
    if returns.raised:
        sent = sum(judgement.judged is Judged.SENT for judgement in recent)
        back = sum(judgement.judged in RETURNED for judgement in recent)
        return (
            f"{back} of the last {sent} replies that left by themselves came back as bounces or"
            " complaints"
        )
    return None
