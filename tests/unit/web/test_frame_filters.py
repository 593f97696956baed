"""How pages write what they are given: days, names, and words that name a setting."""

from datetime import UTC, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest

from deskhand.web.console.frame import called, coded, day_of
from deskhand.web.console.translation import language_of, translator

MIDNIGHT = datetime(2026, 11, 18, 23, 30, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("language", "zone", "day"),
    [
        ("en", "UTC", "18 Nov 2026"),
        ("en", "Europe/Prague", "19 Nov 2026"),
        ("cs", "Europe/Prague", "19. 11. 2026"),
    ],
)
def test_a_day_is_that_of_the_reader_and_has_its_year(language: str, zone: str, day: str) -> None:
    reader: Any = {"written": language_of(language), "zone": ZoneInfo(zone)}
    assert day_of(reader, MIDNIGHT) == day


def test_a_visitor_has_no_name_and_everybody_else_is_called_by_the_title() -> None:
    reader: Any = {"t": translator("cs")}
    assert called(reader, "chat_e55b3a0b1ea0b1eb9e00") == "Návštěvník"
    assert called(reader, "chat_ty@example.com") == "chat_ty@example.com"
    assert called(reader, "Where is my order?") == "Where is my order?"


def test_what_names_a_setting_is_code_and_nothing_else_becomes_a_tag() -> None:
    assert cast(str, coded("Write `caps:` here.")) == "Write <code>caps:</code> here."
    assert coded("`<b>`, <i> and ` alone") == "<code>&lt;b&gt;</code>, &lt;i&gt; and ` alone"
