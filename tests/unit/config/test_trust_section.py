"""`trust:` in desk.yaml: what is read from it, and what is told about mistakes."""

from pathlib import Path

from tests.unit.config.test_channels_section import loaded, problem


def test_trust_is_earned_only_where_desk_yaml_says_so(tmp_path: Path) -> None:
    assert loaded(tmp_path, "mode: auto").trust is None
    trust = loaded(tmp_path, "trust: {start: shadow, complaint_days: 7}").trust
    assert trust is not None
    assert (trust.start, trust.promote_at, trust.alpha, trust.at_least) == ("shadow", 0.9, 0.05, 30)
    assert (trust.complaints, trust.complaint_seconds) == (("complaint",), 7 * 86400)


def test_mistakes_in_it_are_told_with_their_line(tmp_path: Path) -> None:
    told = problem(tmp_path, "trust: {promote_at: 0.7, fall_back_at: 0.8}")
    assert "desk.yaml:2: " in told
    assert "`fall_back_at` must be below `promote_at` (0.7)" in told
    assert "no stage gives the category `complaints`" in problem(
        tmp_path, "trust: {complaints: [complaints]}"
    )
    assert "spot_check" in problem(tmp_path, "trust: {spot_check: 0}")
