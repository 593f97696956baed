"""Where a category stands, from what was judged."""

from itertools import count

import pytest

from deskhand.config.sections.trust import TrustSpec
from deskhand.model.judgement import Judged, Judgement, ModeChange
from deskhand.trust.standing import CategoryMode, Standing, category_mode_of, stand

SPEC = TrustSpec()
_runs = count(1)


def judged(
    kind: str,
    mode: str = "draft",
    *,
    run: str = "",
    counts: bool = True,
    share: float = 0.0,
    facts: bool = False,
    language: str = "en",
    at: float = 100.0,
) -> Judgement:
    run = run or f"run_{next(_runs)}"
    return Judgement(run, "inquiry", language, mode, Judged(kind), share, facts, counts, at)


def standing(
    mode: str, judgements: list[Judgement], *, spec: TrustSpec = SPEC, **place: object
) -> Standing:
    known = {"ceiling": "auto", **place}
    return stand(CategoryMode("inquiry", mode, **known), judgements, spec)  # type: ignore[arg-type]


def change(mode: str, how: str = "promoted", number: int = 1, at: float = 10.0) -> ModeChange:
    return ModeChange("inquiry", number, mode, "draft", how, "eve", "why", {}, at)


def test_a_category_begins_where_desk_yaml_says_and_never_passes_its_ceiling() -> None:
    assert category_mode_of("inquiry", "draft", "auto", []).mode == "draft"
    assert category_mode_of("inquiry", "draft", "shadow", []).mode == "shadow"
    assert category_mode_of("inquiry", "draft", "draft", [change("auto")]).mode == "draft"
    fallen = [change("auto"), change("draft", "fell_back", 2, at=20.0)]
    place = category_mode_of("inquiry", "draft", "auto", fallen)
    assert (place.mode, place.since, place.number, place.falls, place.next) == (
        "draft",
        20.0,
        2,
        1,
        "auto",
    )
    assert category_mode_of("inquiry", "draft", "draft", []).next is None


def test_forty_five_drafts_that_left_as_they_were_justify_auto() -> None:
    found = standing("draft", [judged("unchanged") for _ in range(45)])
    assert (found.judged, found.good, found.justified) == (45, 45, True)
    assert found.lower >= SPEC.promote_at


def test_forty_good_ones_of_forty_five_do_not() -> None:
    good = [judged("unchanged") for _ in range(40)]
    bad = [judged("edited", share=0.2) for _ in range(5)]
    found = standing("draft", good + bad)
    assert not found.justified
    assert found.lower < 40 / 45


def test_a_few_are_never_enough() -> None:
    found = standing("draft", [judged("unchanged") for _ in range(29)])
    assert (found.justified, found.why) == (False, "29 judged of at least 30")


def test_only_replies_count_that_nothing_but_the_mode_kept() -> None:
    held = [judged("unchanged", counts=False) for _ in range(100)]
    assert standing("draft", held).judged == 0


def test_what_was_judged_before_the_last_change_does_not_count() -> None:
    earlier = [judged("unchanged", at=5.0) for _ in range(100)]
    assert standing("draft", earlier, since=10.0).judged == 0


def test_a_run_is_one_trial_and_its_worst_decision_counts() -> None:
    """Approved, stopped in the undo window and then edited: it could not have left as it was."""
    found = standing(
        "draft", [judged("unchanged", run="a"), judged("edited", run="a", counts=False, share=0.2)]
    )
    assert (found.judged, found.good) == (1, 0)


@pytest.mark.parametrize(
    ("share", "facts", "good"),
    [(0.04, False, True), (0.04, True, False), (0.06, False, False), (0.0, False, True)],
)
def test_a_small_edit_may_be_forgiven_but_not_one_of_a_number(
    share: float, facts: bool, good: bool
) -> None:
    spec = SPEC.model_copy(update={"small_edit": 0.05})
    found = standing("draft", [judged("edited", share=share, facts=facts)], spec=spec)
    assert found.good == good
    assert standing("draft", [judged("edited", share=0.04)]).good == 0


def test_a_good_language_does_not_speak_for_a_bad_one() -> None:
    english = [judged("unchanged") for _ in range(200)]
    czech = [judged("unchanged", language="cs") for _ in range(7)]
    czech += [judged("rejected", language="cs") for _ in range(3)]
    found = standing("draft", english + czech)
    assert not found.justified
    assert found.why == "in cs only 7 of 10 were good"
    assert standing("draft", english + czech[:7]).justified


def test_after_a_fall_it_takes_more() -> None:
    good = [judged("unchanged") for _ in range(41)]
    assert standing("draft", good).justified
    assert not standing("draft", good, falls=1).justified


def test_in_shadow_replies_like_those_people_sent_justify_drafts() -> None:
    alike = [judged("compared", "shadow", share=0.5, counts=False) for _ in range(30)]
    assert standing("shadow", alike).justified
    other = [judged("compared", "shadow", share=0.9, counts=False) for _ in range(30)]
    assert not standing("shadow", alike[:15] + other).justified


def test_in_auto_failed_spot_checks_make_it_fall_back() -> None:
    fine = [judged("unchanged", "auto") for _ in range(50)]
    found = standing("auto", fine)
    assert (found.alarm, found.doubt, found.checked) == (None, 0.0, SPEC.spot_check)
    doubtful = standing("auto", [*fine, judged("rejected", "auto")])
    assert doubtful.alarm is None
    assert doubtful.checked > 4 * SPEC.spot_check
    bad = standing("auto", [*fine, *[judged("rejected", "auto") for _ in range(5)]])
    assert bad.alarm == "5 of the last 55 replies that people looked at were not good"


def test_in_auto_replies_that_come_back_make_it_fall_back() -> None:
    sent = [judged("sent", "auto", run=f"s{number}", counts=False) for number in range(40)]
    back = [judged("complained", "auto", run=f"s{number}", counts=False) for number in (3, 9)]
    assert standing("auto", sent + back).alarm is None
    back += [judged("bounced", "auto", run=f"s{number}", counts=False) for number in (11, 17)]
    found = standing("auto", sent + back)
    assert (
        found.alarm
        == "4 of the last 40 replies that left by themselves came back as bounces or complaints"
    )


def test_what_a_person_stops_counts_and_what_he_lets_pass_does_not() -> None:
    passed = [judged("unchanged", "auto", counts=False) for _ in range(5)]
    assert standing("auto", passed).judged == 0
    stopped = [judged("edited", "auto", counts=False, share=0.3) for _ in range(5)]
    assert standing("auto", stopped).alarm is not None


def test_low_confidence_replies_that_people_reject_say_nothing_about_auto() -> None:
    assert standing("auto", [judged("rejected", "", counts=False) for _ in range(50)]).alarm is None
