import datetime as dt
import enum
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, Optional

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr

from deskhand.errors import ConfigError
from deskhand.tools.context import Context
from deskhand.tools.docstring import read_docstring
from deskhand.tools.schema import ArgumentsInvalid, Signature, signature_of


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Size:
    width: int
    unit: str = "cm"


class Line(BaseModel):
    title: str
    amount: int = Field(default=1, description="How many.")


class Tree(BaseModel):
    name: str
    children: list["Tree"] = []


def signature(function: Callable[..., Any]) -> Signature:
    return signature_of(
        function, function.__name__, read_docstring(function.__doc__ or "").parameters
    )


def test_the_schema_is_the_one_of_the_seed() -> None:
    def search(param1: str, param2: int = 5) -> None:
        """Args:
        param1: What to look for.
        """

    assert signature(search).schema == {
        "type": "object",
        "properties": {
            "param1": {"type": "string", "description": "What to look for."},
            "param2": {"type": "integer", "default": 5},
        },
        "required": ["param1"],
    }


def test_every_ordinary_type_has_a_plain_schema() -> None:
    def every(
        text: str,
        action: Literal["create", "check"],
        only: Literal["one"],
        color: Color,
        day: dt.date,
        size: Size,
        lines: list[Line],
        counts: dict[str, int],
        price: Annotated[float, Field(gt=0, description="In euros.")],
        flag: bool = False,
        pharmacy_id: str | None = None,
        old: Optional[int] = None,  # noqa: UP045
        either: int | str | None = None,
        kind: Color = Color.RED,
    ) -> None: ...

    schema = signature(every).schema
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"] == {
        "text": {"type": "string"},
        "action": {"type": "string", "enum": ["create", "check"]},
        "only": {"type": "string", "enum": ["one"]},
        "color": {"type": "string", "enum": ["red", "blue"]},
        "day": {"type": "string", "format": "date"},
        "size": {
            "type": "object",
            "properties": {
                "width": {"type": "integer"},
                "unit": {"type": "string", "default": "cm"},
            },
            "required": ["width"],
        },
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "title": {"type": "string"},
                    "amount": {"type": "integer", "default": 1, "description": "How many."},
                },
                "required": ["title"],
            },
        },
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "price": {"type": "number", "exclusiveMinimum": 0, "description": "In euros."},
        "flag": {"type": "boolean", "default": False},
        "pharmacy_id": {"type": "string"},
        "old": {"type": "integer"},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "kind": {"type": "string", "enum": ["red", "blue"], "default": "red"},
    }
    assert schema["required"] == [
        "text",
        "action",
        "only",
        "color",
        "day",
        "size",
        "lines",
        "counts",
        "price",
    ]


def test_a_recursive_type_keeps_its_definition() -> None:
    def plant(tree: Tree) -> None: ...

    schema = signature(plant).schema
    assert schema["$defs"]["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    jsonschema.validate(
        {"tree": {"name": "a", "children": [{"name": "b", "children": []}]}}, schema
    )
    assert signature(plant).check({"tree": {"name": "a"}}).values["tree"] == Tree(name="a")


def test_a_tool_without_parameters_has_an_empty_object() -> None:
    def ping() -> None: ...

    assert signature(ping).schema == {"type": "object", "properties": {}, "required": []}


def test_the_context_is_injected_and_never_shown() -> None:
    def act(ctx: Context, text: str) -> None: ...

    read = signature(act)
    assert (list(read.injected), list(read.schema["properties"])) == (["ctx"], ["text"])
    with pytest.raises(ArgumentsInvalid, match="ctx is not a parameter"):
        read.check({"text": "a", "ctx": {"run_id": "forged"}})


@pytest.mark.parametrize(
    "name", ["schema", "copy", "json", "model_config", "model_dump", "self_", "_hidden", "dict"]
)
def test_any_parameter_name_works(name: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def act({name}: int = 1): ...", namespace)
    read = signature(namespace["act"])
    assert list(read.schema["properties"]) == [name]
    assert read.check({name: 2}).values == {name: 2}
    assert read.check({}).canonical == {name: 1}


def test_a_pydantic_field_as_default_is_understood() -> None:
    def act(limit: int = Field(5, ge=1, description="At most so many.")) -> None: ...

    read = signature(act)
    assert read.schema["properties"] == {
        "limit": {"type": "integer", "default": 5, "minimum": 1, "description": "At most so many."}
    }
    assert read.check({}).values == {"limit": 5}
    with pytest.raises(ArgumentsInvalid):
        read.check({"limit": 0})


def test_values_arrive_typed_and_the_canonical_form_is_json() -> None:
    def act(
        day: dt.date,
        size: Size,
        color: Color,
        price: Decimal,
        pair: tuple[int, int],
        note: str = "-",
    ) -> None: ...

    given = {
        "day": "2026-01-02",
        "size": {"width": 3},
        "color": "red",
        "price": "1.50",
        "pair": [1, 2],
    }
    checked = signature(act).check(given)
    assert checked.values == {
        "day": dt.date(2026, 1, 2),
        "size": Size(3),
        "color": Color.RED,
        "price": Decimal("1.50"),
        "pair": (1, 2),
        "note": "-",
    }
    assert checked.canonical == {**given, "size": {"width": 3, "unit": "cm"}, "note": "-"}
    assert signature(act).survives(checked)


def test_what_an_approval_could_not_show_does_not_survive() -> None:
    def act(pin: SecretStr) -> None: ...

    read = signature(act)
    assert not read.survives(read.check({"pin": "1234"}))


def order(
    items: list[Size], query: str, limit: int = 5, flag: bool = True, price: float = 1.0
) -> None: ...


@pytest.mark.parametrize(
    ("arguments", "argument", "words"),
    [
        ({"items": []}, "query", "is required"),
        ({"items": [], "query": 5}, "query", "should be a valid string, not 5"),
        ({"items": [], "query": "a", "limit": "5"}, "limit", 'should be a valid integer, not "5"'),
        ({"items": [], "query": "a", "limit": 5.5}, "limit", "should be a valid integer"),
        (
            {"items": [], "query": "a", "limit": None},
            "limit",
            "should be a valid integer, not null",
        ),
        ({"items": [], "query": "a", "flag": 1}, "flag", "should be a valid boolean"),
        ({"items": [], "query": "a", "price": float("nan")}, "arguments", "cannot be read as JSON"),
        ({"items": [], "query": "a", "limt": 5}, "limt", "did you mean limit?"),
        (
            {"items": [], "query": "a", "zzz": 5},
            "zzz",
            "parameters are: items, query, limit, flag, price",
        ),
        (
            {"items": [{"width": 1}, {"width": "x"}], "query": "a"},
            "items[1].width",
            "should be a valid integer",
        ),
        ({"items": [{}], "query": "a"}, "items[0].width", "is required"),
        ({"items": "none", "query": "a"}, "items", "should be a valid array"),
        ({"items": [], "query": "\ud800"}, "arguments", "surrogate"),
        ({"items": [], "query": object()}, "arguments", "cannot be read as JSON"),
    ],
)
def test_a_bad_argument_is_named_in_words(
    arguments: dict[str, Any], argument: str, words: str
) -> None:
    with pytest.raises(ArgumentsInvalid) as caught:
        signature(order).check(arguments)
    details = caught.value.details
    assert details.error_type == "tool_arguments_invalid"
    assert [problem["argument"] for problem in details.details["problems"]] == [argument]
    assert words in details.message
    assert details.recoverable


def test_all_problems_are_listed_at_once() -> None:
    with pytest.raises(ArgumentsInvalid) as caught:
        signature(order).check({"limit": "many", "flag": "yes"})
    named = [problem["argument"] for problem in caught.value.details.details["problems"]]
    assert named == ["items", "query", "limit", "flag"]


def test_whole_floats_are_integers_as_in_json() -> None:
    checked = signature(order).check(
        {"items": [{"width": 2.0}], "query": "a", "limit": 5.0, "price": 3}
    )
    assert checked.values["limit"] == 5
    assert type(checked.values["limit"]) is int
    assert type(checked.values["price"]) is float
    assert (
        checked.canonical
        == signature(order).check({"items": [{"width": 2}], "query": "a", "price": 3.0}).canonical
    )


Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["items", "query", "limit", "flag", "price", "other"]), Json)
)
def test_anything_is_either_typed_or_refused_in_words(arguments: dict[str, Any]) -> None:
    read = signature(order)
    try:
        checked = read.check(arguments)
    except ArgumentsInvalid as error:
        problems = error.details.details["problems"]
    else:
        problems = [checked]
        assert isinstance(checked.values["limit"], int)
        assert read.check(checked.canonical) == checked
        jsonschema.validate(checked.canonical, read.schema)
    assert problems


def positional(value: int, /) -> None: ...
def many(*values: int) -> None: ...
def keywords(**values: int) -> None: ...
def socket(value: Callable[[], int]) -> None: ...
def unresolved(value: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821
def wrong_default(limit: int = None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013


def stranger(value: int) -> None:
    """Does.

    Args:
        valve: A slip.
    """


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (positional, "cannot be named"),
        (many, "cannot be named"),
        (keywords, "cannot be named"),
        (socket, "socket"),
        (unresolved, "Nowhere"),
        (wrong_default, "default of 'limit' is None"),
        (stranger, "'valve', which is not a parameter"),
    ],
)
def test_what_a_model_could_not_be_told_is_refused_with_its_place(
    function: Callable[..., Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        signature(function)
    assert (caught.value.file, caught.value.line) == (__file__, function.__code__.co_firstlineno)


def test_a_docstring_is_split_into_description_and_parameters() -> None:
    read = read_docstring("""Find a drug.

        Prefers generics.

        Args:
            query (str): What to look for,
                in any language.
            limit: At most: so many.

        Returns:
            drugs: not a parameter.
        """)
    assert read.description == "Find a drug.\n\nPrefers generics."
    assert read.parameters == {
        "query": "What to look for, in any language.",
        "limit": "At most: so many.",
    }
