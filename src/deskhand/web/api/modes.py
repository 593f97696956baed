"""Modes of a desk's categories: what they rest on, and an operator's word."""

from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Depends, Path, Request
from pydantic import Field, ValidationError

from deskhand.engine.trust_report import change_of, modes_of
from deskhand.model.access import Scope
from deskhand.model.frozen import Frozen
from deskhand.web.api.access import Caller, may
from deskhand.web.api.problems import invalid_fields
from deskhand.web.api.request_body import json_body, parse_json, read_body
from deskhand.web.api.views import View

router = APIRouter(prefix="/api/desks/{desk}/modes", tags=["modes"])

Reader = Annotated[Caller, Depends(may(Scope.RUNS_READ))]
Operator = Annotated[Caller, Depends(may(Scope.DESKS_WRITE))]
DeskName = Annotated[str, Path(max_length=100)]
CategoryName = Annotated[str, Path(max_length=200)]
MAX_BODY = 10_000
Body = TypeVar("Body", bound=Frozen)


class PromoteBody(Frozen):
    """Nothing for a promotion that the figures justify; else a reason to do it all the same."""

    force: bool = False
    reason: str = Field(default="", max_length=1000)


class LowerBody(Frozen):
    mode: Literal["draft", "shadow"] = "draft"
    reason: str = Field(min_length=1, max_length=1000, pattern=r"\S")


class CategoryView(View):
    category: str
    mode: str
    ceiling: str
    """The most that desk.yaml allows."""
    next: str | None
    since: float | None
    judged: int
    """Judgements since then that count."""
    good: int
    lower: float
    """The share of good ones is above this, whenever one looks."""
    bar: float
    justified: bool
    why: str
    doubt: float
    checked: float
    totals: dict[str, Any]
    languages: dict[str, dict[str, Any]]


class ChangeView(View):
    category: str
    number: int
    mode: str
    before: str
    how: str
    by: str
    reason: str
    figures: dict[str, Any]
    at: datetime


class ModesView(View):
    desk: str
    earned: bool
    """Whether modes are earned here; else they are what desk.yaml says."""
    categories: list[CategoryView]
    changes: list[ChangeView]


@router.get("")
async def show_modes(caller: Reader, desk: DeskName) -> ModesView:
    """Every category with its mode, its figures, and whether they justify the next mode."""
    return ModesView.model_validate(await modes_of(caller.desk(desk).trust))


@router.post("/{category}/promote", openapi_extra=json_body(PromoteBody))
async def promote_category(
    request: Request, caller: Operator, desk: DeskName, category: CategoryName
) -> ChangeView:
    """Give a category the next mode; 409 with the figures when they do not justify it."""
    body = await _read(request, PromoteBody)
    change = await caller.desk(desk).trust.promote(
        category, caller.key.name, force=body.force, reason=body.reason
    )
    return ChangeView.model_validate(change_of(change))


@router.post("/{category}/lower", openapi_extra=json_body(LowerBody))
async def lower_category(
    request: Request, caller: Operator, desk: DeskName, category: CategoryName
) -> ChangeView:
    """Give a category a lower mode, from its next reply on, in every process."""
    body = await _read(request, LowerBody)
    change = await caller.desk(desk).trust.lower(category, body.mode, caller.key.name, body.reason)
    return ChangeView.model_validate(change_of(change))


async def _read(request: Request, kind: type[Body]) -> Body:
    try:
        return kind.model_validate(parse_json(await read_body(request, MAX_BODY)))
    except ValidationError as error:
        raise invalid_fields(error.errors(include_url=False)) from None
