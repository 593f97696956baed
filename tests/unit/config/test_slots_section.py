"""The `slots:` section: what is wrong is said with file, line and fix; what loads is what the
schema accepts."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from deskhand.config.sections.slots import OPTIONS, SlotSection, SlotSpec
from tests.shared_schema import shared_schema
from tests.unit.config.conftest import Desk, Load, Refuse

HEAD = "desk: d\nmodels: {fast: p/m}\nflows:\n  main:\n    stages:\n      a: {task: extract}\n"
VALIDATOR = Draft202012Validator(shared_schema())


def with_slot(line: str) -> str:
    """A desk whose slot `x` is on line 8."""
    return f"{HEAD}slots:\n  x: {line}\n"


@pytest.mark.parametrize(
    ("slot", "problem", "fix"),
    [
        ("{type: mony}", "`type` cannot be", "`money`"),
        ("{description: what}", "`type` is missing", "write `type:`"),
        ("{type: email, contry: CZ}", "unknown key `contry`", "`country`"),
        (
            "{type: email, country: CZ}",
            "`country` has no effect with `type: email`",
            "`type: phone`",
        ),
        ("{type: pattern}", "slot `x` has no `pattern`", "add `pattern:"),
        ("{type: pattern, pattern: '(ab'}", "not an RE2 pattern: missing )", "single quotes"),
        ("{type: pattern, pattern: '(?!a)b'}", "not an RE2 pattern", "no look-ahead"),
        ("{type: pattern, pattern: '(a)\\1'}", "not an RE2 pattern", "no back references"),
        ("{type: pattern, pattern: 'a*'}", "matches nothing at all", "`+`"),
        ("{type: pattern, pattern: '(a{1000}){1000}'}", "not an RE2 pattern", "correct it"),
        ("{type: order_number, prefix: []}", "`prefix` is empty", "P-1001"),
        ("{type: order_number, prefix: [P-]}", "cannot be", "P-1001"),
        ("{type: order_number, pattern: 'a', prefix: [P]}", "no effect beside `pattern`", "keep"),
        (
            "{type: order_number, min_digits: 9, max_digits: 4}",
            "at least 9 and at most 4",
            "smaller",
        ),
        ("{type: phone, country: CZE}", "`country` cannot be", "`CZ`"),
        ("{type: phone, country: XX}", "how telephone numbers look in `XX`", "`CZ`"),
        ("{type: money, currency: EURO}", "`currency` cannot be", "`EUR`"),
        ("{type: date, order: ymd}", "`order` cannot be", "dmy, mdy"),
        ("{type: date, time_zone: Europe/Pragu}", "no time zone `Europe/Pragu`", "`Europe/Prague`"),
        ("{type: quantity, units: {}}", "`units` is empty", "fill it"),
        ("{type: name}", "slot `x` has no `names` or `file`", "add `names:"),
        ("{type: name, names: []}", "`names` is empty", "fill it"),
        ("{type: name, names: {}}", "`names` is empty", "fill it"),
        ("{type: name, file: no.txt}", "there is no file `no.txt`", "create it"),
        ("{type: name, file: ../no.txt}", "outside the desk's folder", "move it"),
        ("{type: name, names: [a], file: no.txt}", "both here and in a file", "keep"),
        ("{type: name, names: [a], threshold: 2}", "`threshold` cannot be", "0.5 to 1"),
        ("[]", "must be a mapping", "type"),
    ],
)
def test_what_is_wrong_with_a_slot_is_said_with_its_line(
    refuse: Refuse, slot: str, problem: str, fix: str
) -> None:
    problems = refuse(with_slot(slot))
    assert any(
        problem in one.problem and fix in (one.fix or "") and one.line == 8 for one in problems
    ), problems


def test_one_mistake_is_one_problem(refuse: Refuse) -> None:
    for slot in (
        "{type: mony}",
        "{type: mony, currency: EUR}",
        "{type: phone, country: CZE}",
        "{type: pattern, pattern: 1}",
    ):
        assert len(refuse(with_slot(slot))) == 1, slot


def test_a_name_file_is_checked_and_read(desk: Desk, load: Load, refuse: Refuse) -> None:
    text = with_slot("{type: name, file: names.txt}")
    [empty] = refuse(text, {"names.txt": "# none\n\n"})
    assert "names.txt, line 1: the file has no names" in empty.problem
    [odd] = refuse(text, {"names.txt": b"\xff\xfe"})
    assert "not valid UTF-8" in odd.problem
    desk(text, {"names.txt": "# ours\nWidget Pro | WP | Wigdet\r\n\nČajová konvice\n"})
    assert load(text).slots["x"].names == {"Widget Pro": ("WP", "Wigdet"), "Čajová konvice": ()}


def test_slots_are_compiled_with_their_defaults(load: Load) -> None:
    slots = load(
        HEAD + "slots:\n  order: {type: order_number, prefix: [P], description: which parcel}\n"
    ).slots
    assert slots == {
        "order": SlotSpec(
            name="order", type="order_number", prefix=("P",), description="which parcel"
        )
    }


@pytest.mark.parametrize(
    ("stage", "problem", "fix"),
    [
        ("{task: extract, slots: [ordr]}", "there is no slot `ordr`", "`order`"),
        ("{task: extract, slots: []}", "`slots` is empty", "fill it"),
        ("{task: draft, slots: [order]}", "`slots` has no effect", "`task: extract`"),
    ],
)
def test_a_stage_fills_known_slots_only(refuse: Refuse, stage: str, problem: str, fix: str) -> None:
    text = HEAD.replace("{task: extract}", stage) + "slots: {order: {type: order_number}}\n"
    [one] = refuse(text)
    assert (problem in one.problem, fix in (one.fix or ""), one.line) == (True, True, 6), one


def test_a_stage_passes_its_slots_on_as_choices(load: Load) -> None:
    text = HEAD.replace("{task: extract}", "{task: extract, slots: [order]}")
    spec = load(text + "slots: {order: {type: order_number}, day: {type: date}}\n")
    assert spec.flows["main"].stages["a"].choices == ("order",)
    assert load(HEAD).flows["main"].stages["a"].choices == ()


def test_a_flow_has_another_version_when_a_slot_it_fills_changes(load: Load) -> None:
    def version(slots: str, stage: str = "{task: extract, slots: [order]}") -> str:
        return load(HEAD.replace("{task: extract}", stage) + slots).flows["main"].version

    plain = version("slots: {order: {type: order_number}}\n")
    assert version("slots: {order: {type: order_number, prefix: [P]}}\n") != plain
    assert version("slots: {order: {type: order_number}, day: {type: date}}\n") == plain


SMALL: dict[str, Any] = {"desk": "d", "flows": {"main": {"stages": {"a": {"service": "dispatch"}}}}}


@pytest.mark.parametrize(
    ("slot", "is_valid"),
    [
        ({"type": "email"}, True),
        ({"type": "email", "description": "where to answer"}, True),
        ({"type": "phone", "country": "CZ"}, True),
        ({"type": "name", "names": {"a": ["b"]}}, True),
        ({"type": "name", "names": ["a"]}, True),
        ({"type": "quantity", "units": {"kg": []}}, True),
        ({"type": "emial"}, False),
        ({}, False),
        ({"type": "email", "country": "CZ"}, False),
        ({"type": "phone", "country": "CZE"}, False),
        ({"type": "pattern"}, False),
        ({"type": "name"}, False),
        ({"type": "name", "names": []}, False),
        ({"type": "name", "names": ["a"], "file": "b"}, False),
        ({"type": "email", "zebra": 1}, False),
    ],
)
def test_the_schema_covers_the_section(slot: dict[str, Any], is_valid: bool) -> None:
    assert VALIDATOR.is_valid({**SMALL, "slots": {"x": slot}}) == is_valid


def test_every_option_belongs_to_a_type() -> None:
    options = {option for options in OPTIONS.values() for option in options}
    assert options == set(SlotSection.model_fields) - {"type", "description"}
