"""What the customer is told: the results of tools beside what the catalogue does not have."""

from collections.abc import Mapping, Sequence
from typing import Any

from . import wording
from .catalogue import Pharmacy, sample_pharmacies
from .customer_request import Request, called, products_of
from .places import Places, town_of
from .questions import not_kept, not_served
from .wishes import Details
from .wording import Language

Fields = dict[str, Any]


def text_of_results(
    request: Mapping[str, Any], results: Sequence[Mapping[str, Any]], details: Details
) -> Fields:
    """The text of the reply; empty where a call failed for a reason that only a person
    understands."""
    language: Language = "cs" if request.get("language") == "cs" else "en"
    drugs, changes = _sorted(results)
    if not results or not changes:
        return {"text": _availability(request, drugs, language, details)} if results else {}
    parts: list[str] = []
    for number, result in enumerate(changes):
        text = _change(request, number, result, drugs, language)
        if not text:
            return {}
        parts.append(text)
    parts += _asked_beside(request, changes, language, details)
    failed = any(result.get("status") != "success" for result in changes)
    return {"text": "\n\n".join(parts), "words_a_failure": failed}


def _sorted(
    results: Sequence[Mapping[str, Any]],
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """What is on the shelves, and the results about reservations."""
    about_drugs = [result for result in results if "drugs" in (result.get("data") or {})]
    drugs = [drug for result in about_drugs for drug in result["data"]["drugs"]]
    return drugs, [result for result in results if result.get("tool") != "search_drugs"]


def _change(
    request: Mapping[str, Any],
    number: int,
    result: Mapping[str, Any],
    drugs: Sequence[Mapping[str, Any]],
    language: Language,
) -> str:
    """What became of one call about a reservation; empty where it cannot be told."""
    match result.get("data") or {}:
        case {"action": "create", "reservation": dict(made)}:
            return wording.put_aside(made, language)
        case {"action": "check", "reservations": [*reservations]}:
            return wording.reserved(reservations, language)
        case {"action": "cancel", "reservation": dict(made)}:
            return wording.cancelled(made, language)
    items = request.get("items") or []
    why = (result.get("error") or {}).get("error_type")
    if why == "sold_out" and number < len(items):
        return _sold_out(request, items[number], drugs, language)
    is_cancelling = (request.get("slots") or {}).get("action") == "cancel"
    if why == "not_found" and is_cancelling:
        return wording.reserved((), language)
    return ""


def _asked_beside(
    request: Mapping[str, Any],
    changes: Sequence[Mapping[str, Any]],
    language: Language,
    details: Details,
) -> list[str]:
    """What somebody asked beside his reservations: what they cost, and when the pharmacies of it
    are open."""
    data = [change.get("data") or {} for change in changes]
    made = [kept["reservation"] for kept in data if kept.get("action") == "create"]
    parts: list[str] = []
    if made and (details.price or details.total):
        parts.append(wording.cost_of(made, language))
    if details.opening_hours:
        pharmacies = _pharmacies_of(made) or pharmacies_in(_places_of(request))
        parts += [wording.opening_hours(pharmacies, language)] if pharmacies else []
    return parts


def _pharmacies_of(made: Sequence[Mapping[str, Any]]) -> list[Pharmacy]:
    ids = {reservation["pharmacy_id"] for reservation in made}
    return [pharmacy for pharmacy in sample_pharmacies() if pharmacy.id in ids]


def _places_of(request: Mapping[str, Any]) -> Places:
    return Places(*(tuple(names) for names in request.get("places") or ((), (), ())))


def _sold_out(
    request: Mapping[str, Any],
    item: Mapping[str, Any],
    drugs: Sequence[Mapping[str, Any]],
    language: Language,
) -> str:
    """Says that too little is on the shelves that were asked for, and where there is some."""
    packs, place = item["packs"] or 1, str(request.get("place") or "")
    smallest = min(products_of(item), key=lambda product: product.pack)
    own = [drug for drug in drugs if drug["id"] in item["products"]]
    elsewhere = wording.on_shelves(own, place, language)
    head = wording.too_few(wording.name_of(smallest, language), packs, called(place), language)
    return "\n\n".join(part for part in (head, elsewhere) if part)


def _availability(
    request: Mapping[str, Any],
    drugs: Sequence[Mapping[str, Any]],
    language: Language,
    details: Details,
) -> str:
    places = _places_of(request)
    parts: list[str] = []
    if places.not_served:
        parts.append(not_served(places.not_served, language))
    items = request.get("items") or []
    for item in items:
        parts += _item(item, drugs, places, language, details)
    parts += _total(items, drugs, language, details)
    if details.post:
        parts.append(_not_sent(language))
    if request.get("not_put_aside"):
        parts.append(_not_put_aside(language))
    if details.hours and not _is_on_a_shelf_there(items, drugs, places):
        pharmacies = pharmacies_in(places)
        parts += [wording.opening_hours(pharmacies, language)] if pharmacies else []
    return "\n\n".join(parts)


def _is_on_a_shelf_there(
    items: Sequence[Mapping[str, Any]], drugs: Sequence[Mapping[str, Any]], places: Places
) -> bool:
    """Whether the reply names a shelf of a place that is asked for, with its opening hours."""
    kept = {product for item in items if not item["lacks"] for product in item["products"]}
    where = places.pharmacies or places.towns
    own = [drug for drug in drugs if drug["id"] in kept]
    return any(wording.is_to_be_had(drug, where) for drug in own)


def _item(
    item: Mapping[str, Any],
    drugs: Sequence[Mapping[str, Any]],
    places: Places,
    language: Language,
    details: Details,
) -> list[str]:
    if not item["name"] or item["lacks"]:
        return [not_kept(item, products_of(item), language)]
    own = [drug for drug in drugs if drug["id"] in item["products"]]
    where = places.pharmacies or places.towns
    named = wording.joined(map(called, where), language)
    parts = [_read_as(item, language)] if item["read"] == "corrected" else []
    if details.kinds and len(own) > 1:
        parts.append(wording.kinds(own, language, details))
    return [*parts, wording.availability(own, where, named, language, details)] if own else parts


def _total(
    items: Sequence[Mapping[str, Any]],
    drugs: Sequence[Mapping[str, Any]],
    language: Language,
    details: Details,
) -> list[str]:
    """What it costs in all, in the smallest packs; nothing where a strength or form is open, or
    something is not kept."""
    wanted: list[tuple[int, Mapping[str, Any]]] = []
    for item in items:
        own = [drug for drug in drugs if drug["id"] in item["products"] and not item["lacks"]]
        if len({(drug["brand"], drug["strength"], drug["form"]) for drug in own}) != 1:
            return []
        wanted.append((item["packs"] or 1, min(own, key=lambda drug: int(drug["pack"]))))
    has_counted = any(packs > 1 for packs, _ in wanted)
    is_asked = (details.price and has_counted) or (details.total and len(wanted) > 1)
    return [wording.total(wanted, language)] if is_asked else []


def _read_as(item: Mapping[str, Any], language: Language) -> str:
    if language == "cs":
        return f"Píšete „{item['asked']}“; rozumíme tomu jako {item['name']}. Pokud ne, ozvěte se."
    return f"You wrote “{item['asked']}”, which we read as {item['name']}. If not, tell us."


def _not_sent(language: Language) -> str:
    if language == "cs":
        return (
            "Léky poštou neposíláme. Vyzvednout si je můžete osobně v kterékoli z našich lékáren."
        )
    return (
        "We do not send medicines by post. You can collect them in person at any of our pharmacies."
    )


def _not_put_aside(language: Language) -> str:
    if language == "cs":
        return "Zatím jsme nic neodložili."
    return "We have not put anything aside."


def pharmacies_in(places: Places) -> list[Pharmacy]:
    """The pharmacies that are meant; none where no place of ours is named."""
    if places.pharmacies:
        return [pharmacy for pharmacy in sample_pharmacies() if pharmacy.id in places.pharmacies]
    return [pharmacy for pharmacy in sample_pharmacies() if town_of(pharmacy) in places.towns]


def opening_hours(request: Request) -> str:
    """When the pharmacies of the asked places are open; all of them where none is named."""
    parts: list[str] = []
    if request.places.not_served:
        parts.append(not_served(request.places.not_served, request.language))
    pharmacies = pharmacies_in(request.places) or list(sample_pharmacies())
    return "\n\n".join([*parts, wording.opening_hours(pharmacies, request.language)])
