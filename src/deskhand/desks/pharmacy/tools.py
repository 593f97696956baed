"""What the pharmacy desk can do: look for medicines, put them aside, and keep medical questions
for people."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from pydantic import Field

from deskhand import (
    Ask,
    Cause,
    Context,
    Envelope,
    Message,
    Outcome,
    Owned,
    Principal,
    ReviewKind,
    RunStatus,
    ServiceResult,
    StageContext,
    ToolError,
    after,
    message_fact,
    resolver,
    service,
    tool,
)

from . import answers, customer_request, shelf, wishes, wording
from .catalogue import TABLES, Pharmacy, Product
from .category_choice import choose_category
from .request_check import checked, doubt_about
from .signs import emergency_signs, medical_signs, order_signs, other_people_signs

_SIGNATURE = "Dostupnost léků"
_EMERGENCY = "EMERGENCY: somebody may be in danger; a medical matter that a person must look at now"
_OTHER_HOURS = "a day is asked about that may have other opening hours"
_OTHER_LANGUAGE = "the answer is not in the customer's language"
_MEDICAL = "a medical question: only a person may answer it"
_OTHER_PEOPLE = "it asks what somebody else bought or collected; a person must look at it"
_ORDERS = "the message gives orders to a program; a person must look at it"

Query = Annotated[str, Field(min_length=1, max_length=300)]
Packs = Annotated[int, Field(ge=1, le=shelf.MOST_PACKS)]


def _whole(message: Message, text: str) -> str:
    """All of it: what somebody hides in a subject, a quotation or an attachment is his question
    as well."""
    attached = [attachment.text or "" for attachment in message.attachments]
    return "\n".join([message.subject, message.body, text, *attached])


@message_fact("medical", in_replies=True)
def medical(message: Message, text: str) -> bool:
    """`message.medical` in the policy: the gate asks at every call, whatever a model believes."""
    return bool(medical_signs(_whole(message, text)))


@message_fact("no_plain_wish")
def no_plain_wish(message: Message, text: str) -> bool:
    """`message.no_plain_wish` in the policy: nothing is put aside then, whoever decided on it."""
    own = customer_request.own_words(text)
    return bool(doubt_about(customer_request.read(message.subject, text), own))


@service("guard")
async def guard(
    envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
) -> dict[str, Any] | ServiceResult:
    """First of all, before anything is understood: a medical question ends here, with a person."""
    return _for_a_person(envelope) or {"found": "nothing for people only"}


def _for_a_person(envelope: Envelope) -> ServiceResult | None:
    message = envelope.message
    text = envelope.raw_input if message is None else _whole(message, envelope.raw_input)
    for reason, signs in (
        (_EMERGENCY, emergency_signs),
        (_MEDICAL, medical_signs),
        (_ORDERS, order_signs),
        (_OTHER_PEOPLE, other_people_signs),
    ):
        if seen := signs(text):
            cause = Cause.EMERGENCY if signs is emergency_signs else Cause.ESCALATED
            return ServiceResult(
                output={"found": reason, "signs": seen},
                outcome=Outcome.TERMINATE,
                ask=Ask(kind=ReviewKind.HAND_OVER, reason=reason, causes=(cause,)),
                status=RunStatus.NEEDS_REVIEW,
                reason=reason,
            )
    return None


@service("hand_over")
async def hand_over(
    envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
) -> ServiceResult:
    """To a person, for the reason that the flow gives."""
    reason = str(settings.get("reason") or "a person must look")
    return ServiceResult(outcome=Outcome.TERMINATE, status=RunStatus.NEEDS_REVIEW, reason=reason)


# --- looking for medicines


@tool(effect="read")
async def search_drugs(
    query: Query, ctx: Context, limit: Annotated[int, Field(ge=1, le=20)] = 5
) -> dict[str, Any]:
    """Search the catalogue by brand or substance, with or without a strength; tells which pharmacy
    has how many packs.

    Args:
        query: what the customer calls it, as in "ibuprofen 400" or "Paralen"; several with commas
        limit: how many products at most
    """
    return await ctx.database.read(TABLES, partial(_search, query, limit))


def _search(query: str, limit: int, db: sa.Connection) -> dict[str, Any]:
    index = shelf.read_catalogue(db)
    choices = customer_request.choices_in(index, query)
    hits = index.search(query, limit)
    products = [hit.product for hit in hits]
    shelves = shelf.available(db, [product.id for product in products])
    drugs = [
        {
            **product._asdict(),
            "name": wording.name_of(product, "en"),
            "name_cs": wording.name_of(product, "cs"),
            "available": shelves[product.id],
        }
        for product in products
    ]
    unknown = [choice.asked for choice in choices if not choice.products]
    return {"query": query, "drugs": drugs, "not_in_catalogue": unknown}


# --- putting them aside


class Reservation(Owned):
    """A customer's own reservation; to anybody else it does not exist."""

    status: str


@resolver(Reservation)
async def find_reservation(key: str, principal: Principal, ctx: Context) -> Reservation | None:
    row = await ctx.database.read(
        TABLES, partial(shelf.reservation_row, number=key.strip().upper())
    )
    if row is None:
        return None
    return Reservation(id=row["id"], owner=row["owner"], status=row["status"])


# public: the desk's policy says for whom it passes
@tool(effect="keyed", risk="medium", public=True, rehearsable=True)
async def manage_reservation(
    action: Literal["create", "check", "cancel"],
    ctx: Context,
    principal: Principal,
    drug_name: Annotated[str, Field(max_length=300)] = "",
    pharmacy_id: Annotated[str, Field(max_length=100)] = "",
    packs: Packs = 1,
    pack_size: Annotated[int, Field(ge=1, le=1000)] | None = None,
    reservation: Reservation | None = None,
) -> dict[str, Any]:
    """Put medicine aside for the customer for two days, see what is put aside for them, or cancel
    it.

    Args:
        action: create, check or cancel
        drug_name: name and strength as the customer writes them, or the number of a reservation
        pharmacy_id: a pharmacy's id or a town; where it is left out, the pharmacy with the fullest
        shelf
        packs: how many packs, for create
        pack_size: how many tablets, ml or g a pack holds; where it is left out, the smallest
        reservation: the number of the customer's reservation, as in R-ABCDEFGH, for check and
        cancel
    """
    owner = _owner(principal, ctx)
    if action == "create":
        work = partial(_create, ctx.effect_key, owner, drug_name, pharmacy_id, packs, pack_size)
        return await ctx.database.once(TABLES, ctx.effect_key, work)
    number = reservation.id if reservation is not None else ""
    if action == "check":
        return await ctx.database.read(TABLES, partial(_check, owner, drug_name, number))
    return await ctx.database.once(
        TABLES, ctx.effect_key, partial(_cancel, owner, drug_name, number)
    )


def _owner(principal: Principal, ctx: Context) -> str:
    """Whose it is; what a colleague approved for a sender nobody knows belongs to its run alone."""
    return (
        principal.customer_id or (principal.address or "").strip().casefold() or f"run:{ctx.run_id}"
    )


def _create(
    key: str,
    owner: str,
    drug_name: str,
    place: str,
    packs: int,
    pack_size: int | None,
    db: sa.Connection,
) -> dict[str, Any]:
    wanted = _meant(db, drug_name, pack_size)
    where = _pharmacy(tuple(shelf.read_pharmacies(db)), place)
    if place.strip() and not where:
        raise ToolError("not_found", f"There is no pharmacy {place!r}.")
    return {
        "action": "create",
        "reservation": shelf.put_aside(db, key, owner, wanted, where, packs),
    }


def _pharmacy(pharmacies: tuple[Pharmacy, ...], place: str) -> str:
    """The pharmacy or town that is meant, by an id or by its name; empty where none is."""
    for pharmacy in pharmacies:
        if pharmacy.id.casefold() == place.strip().casefold():
            return pharmacy.id
    return customer_request.place_in(place, pharmacies)


def _check(owner: str, drug_name: str, number: str, db: sa.Connection) -> dict[str, Any]:
    return {"action": "check", "reservations": _mine(db, owner, drug_name, number)}


def _cancel(owner: str, drug_name: str, number: str, db: sa.Connection) -> dict[str, Any]:
    mine = _mine(db, owner, drug_name, number)
    active = [reservation for reservation in mine if reservation["status"] == shelf.ACTIVE]
    if not active:
        raise ToolError("not_found", "This customer has no such reservation.", recoverable=False)
    if len(active) > 1:
        numbers = ", ".join(reservation["id"] for reservation in active)
        raise ToolError("ambiguous", f"There are several: {numbers}. Which one?", recoverable=False)
    return {"action": "cancel", "reservation": shelf.cancel(db, active[0]["id"], owner)}


def _mine(db: sa.Connection, owner: str, drug_name: str, number: str) -> list[dict[str, Any]]:
    """The customer's reservations: the one of this number, those of a product, or all."""
    number = number or customer_request.reservation_number(drug_name)
    if number:
        every = shelf.reserved_for(db, owner)
        return [reservation for reservation in every if reservation["id"] == number]
    if not drug_name.strip():
        return shelf.reserved_for(db, owner)
    return shelf.reserved_for(db, owner, [product.id for product in _wanted(db, drug_name)])


def _meant(db: sa.Connection, drug_name: str, pack_size: int | None) -> list[Product]:
    """The packs of the one medicine that is meant, smallest first; ToolError where the name is not
    exactly in the catalogue, or more than one strength or form is."""
    choices = customer_request.choices_in(shelf.read_catalogue(db), drug_name)
    if len(choices) != 1 or choices[0].lacks or choices[0].mention.read != "exact":
        raise ToolError(
            "not_found",
            f"{drug_name!r} is not exactly one medicine of the catalogue; ask the customer.",
            recoverable=False,
        )
    products = choices[0].products
    sized = [product for product in products if pack_size in (None, product.pack)]
    kinds = {(product.brand, product.strength, product.form) for product in sized}
    if len(kinds) != 1:
        several = ", ".join(sorted({wording.name_of(product, "en") for product in products}))
        raise ToolError(
            "ambiguous", f"Which one is meant? There are: {several}.", recoverable=False
        )
    return sorted(sized, key=lambda product: product.pack)


def _wanted(db: sa.Connection, drug_name: str) -> list[Product]:
    """What a customer's reservation may be of; of a bare name all that begin with it."""
    index = shelf.read_catalogue(db)
    products: list[Product] = []
    for choice in customer_request.choices_in(index, drug_name):
        is_bare = choice.mention.name and choice.mention.said == choice.mention.written
        products += index.called(choice.mention.name) if is_bare else choice.products
    if not products:
        raise ToolError(
            "not_found", f"There is no medicine {drug_name!r} in the catalogue.", recoverable=False
        )
    return products


# --- what the flow without a model does around its plans


def _people(envelope: Envelope) -> list[str]:
    """Names of persons in the message's headers."""
    message = envelope.message
    if message is None:
        return []
    prepared = "" if message.prepared is None else message.prepared.name
    return [message.sender.name, prepared]


@service("understand")
async def understand(
    envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The category that the brain and the words of the message agree on."""
    subject = envelope.message.subject if envelope.message else ""
    text = customer_request.own_words(envelope.raw_input)
    request = customer_request.read(subject, envelope.raw_input, _people(envelope))
    guess = envelope.output("classification") or {}
    return choose_category(guess, f"{subject}\n{text}", text, bool(request.items))._asdict()


@service("read_request")
async def read_request(
    envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
) -> dict[str, Any] | ServiceResult:
    """Which products, where, how many; an answer to our question is looked at like a first
    message."""
    if (refused := _for_a_person(envelope)) is not None:
        return refused
    subject = envelope.message.subject if envelope.message else ""
    earlier = envelope.output("request") or {}
    people = _people(envelope)
    if earlier.get("question"):
        request = customer_request.answered(earlier, envelope.raw_input, people)
    else:
        request = customer_request.read(subject, envelope.raw_input, people)
    category = str((envelope.output("understanding") or {}).get("category"))
    words = customer_request.own_words(envelope.raw_input)
    read = checked(customer_request.as_output(request), category, words, earlier)
    if not read["missing"]:
        return read
    text = wording.letter(read["question"], request.language, _SIGNATURE)
    return read | {"letter": text}


@service("tell_hours")
async def tell_hours(
    envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """When the pharmacies of the asked place are open; nothing where something else is asked."""
    words = customer_request.own_words(envelope.raw_input)
    request = customer_request.read("", envelope.raw_input, _people(envelope))
    if wishes.asks_for_a_holiday(words):
        return {"hand_over": True, "reason": _OTHER_HOURS}
    if request.items:
        return {"hand_over": True, "reason": "a medicine is named beside opening hours"}
    if not wishes.asks_for_hours_alone(words):
        return {}
    return {"text": answers.opening_hours(request), "language": request.language}


@service("word_results")
async def word_results(
    envelope: Envelope, ctx: StageContext, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The results of the plan as sentences; what cannot be told is left to a person."""
    request = envelope.output("request") or {}
    results = (envelope.output("act") or {}).get("results") or []
    words = customer_request.own_words(envelope.raw_input)
    worded = answers.text_of_results(request, results, wishes.details_in(words))
    language = str(request.get("language") or "en")
    return worded | {"language": language} if worded else {}


@after("draft")
def in_one_language(envelope: Envelope, output: dict[str, Any]) -> Envelope:
    """What this desk worded itself leaves in its own language from greeting to signature. A draft
    that says it in other words, as a model's does, stays as it is."""
    worded = envelope.output("told") or {}
    text, language = str(worded.get("text") or ""), worded.get("language")
    reply = envelope.output("reply")
    drafted = str(output.get("text") or "")
    failure = "did not succeed" in str(output.get("reason") or "")
    is_worded = bool(worded.get("words_a_failure")) and failure
    is_ours = bool(text) and (text in drafted or is_worded or bool(output.get("sources")))
    if not text and output.get("sources") and not _is_readable(envelope, output):
        held = output | {"hand_over": True, "reason": _OTHER_LANGUAGE}
        return envelope.with_output("draft", held)
    if not is_ours or reply is None or (text in drafted and output.get("language") == language):
        return envelope
    whole = wording.letter(text, "cs" if language == "cs" else "en", _SIGNATURE)
    draft = {"text": whole, "language": language, "confidence": 0.95}
    changed = envelope.with_output("draft", draft)
    return changed.with_output("reply", {**reply, "text": whole, "language": language})


def _is_readable(envelope: Envelope, output: Mapping[str, Any]) -> bool:
    """Whether a draft and the articles it quotes are in the language that the customer reads. The
    articles of this desk are English, and a translation's id ends in its language."""
    language = customer_request.language_of(customer_request.own_words(envelope.raw_input))
    quoted = [str(source.get("article")).partition(".")[2] for source in output["sources"]]
    return {str(output.get("language")), *(code or "en" for code in quoted)} == {language}
