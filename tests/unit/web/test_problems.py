import json

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.exceptions import HTTPException

from deskhand.errors import AlreadyServed, Conflict, Fenced, NotFound, StoreUnavailable
from deskhand.web.api.problems import Problem, invalid_fields, problem_of


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (NotFound("there is no run x"), 404, "not_found"),
        (Conflict("too late"), 409, "conflict"),
        (StoreUnavailable("/data: locked"), 503, "store_unavailable"),
        (Fenced("taken"), 503, "fenced"),
        (AlreadyServed("taken"), 503, "fenced"),
        (HTTPException(405), 405, "method_not_allowed"),
        (HTTPException(418), 418, "internal"),
    ],
)
def test_every_expected_error_has_a_status_and_a_code(
    error: Exception, status: int, code: str
) -> None:
    problem = problem_of(error)
    assert problem is not None
    written = json.loads(bytes(problem.response().body))
    assert (written["status"], written["code"]) == (status, code)


def test_an_unexpected_error_is_nobodys_business() -> None:
    assert problem_of(RuntimeError("secret")) is None


def test_a_long_detail_is_cut() -> None:
    assert len(json.loads(bytes(Problem(400, "x" * 10_000).response().body))["detail"]) == 500


def test_wrong_fields_are_told_together_with_their_places() -> None:
    class Inner(BaseModel):
        number: int

    class Outer(BaseModel):
        model_config = ConfigDict(extra="forbid")
        inner: list[Inner]

    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"inner": [{"number": "x"}], "other": 1})
    errors = invalid_fields(caught.value.errors()).problem.errors
    assert [one.field for one in errors] == ["inner.0.number", "other"]
    assert "integer" in errors[0].problem
