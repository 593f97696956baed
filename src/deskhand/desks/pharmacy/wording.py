"""What tools found, in the customer's language."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal

from .catalogue import Product
from .shelf import is_there

Language = Literal["cs", "en"]

_PACKS: dict[str, tuple[str, str]] = {
    "tablet": ("tablets", "tablet"),
    "capsule": ("capsules", "tobolek"),
    "syrup": ("ml syrup", "ml sirupu"),
    "drops": ("ml drops", "ml kapek"),
    "eye drops": ("ml eye drops", "ml očních kapek"),
    "gel": ("g gel", "g gelu"),
    "cream": ("g cream", "g krému"),
    "ointment": ("g ointment", "g masti"),
    "suppository": ("suppositories", "čípků"),
    "spray": ("ml spray", "ml spreje"),
    "sachet": ("sachets", "sáčků"),
    "effervescent": ("effervescent tablets", "šumivých tablet"),
    "lozenge": ("lozenges", "pastilek"),
    "inhaler": ("inhaler", "inhalátor"),
    "pen": ("pen", "pero"),
    "solution": ("ml solution", "ml roztoku"),
    "gum": ("chewing gums", "žvýkaček"),
}
_MOST_PRODUCTS = 3
_MOST_SHELVES = 4
_MONTHS = "January February March April May June July August September October November December"


def name_of(product: Product, language: Language) -> str:
    english, czech = _PACKS[product.form]
    return (
        f"{product.brand} {product.strength}, {product.pack}"
        f" {czech if language == 'cs' else english}"
    )


def availability(
    drugs: Sequence[Mapping[str, Any]], city: str, called: str, language: Language
) -> str:
    """Each product with the shelves it is on: those in the asked town, or all if none is there."""
    there = [drug for drug in drugs if _shelves(drug, city)]
    anywhere = [drug for drug in drugs if drug["available"]]
    if not there and not anywhere:
        return _sold_out(drugs, language)

    shown = (there or anywhere)[:_MOST_PRODUCTS]
    shelves_in = city if there else ""
    parts = [_product(drug, shelves_in, language) for drug in shown]
    if city and not there:
        parts.insert(0, _nothing_there(called, language))
    return "\n\n".join(parts)


def _shelves(drug: Mapping[str, Any], city: str) -> list[Mapping[str, Any]]:
    return [shelf for shelf in drug["available"] if is_there(shelf, city)]


def _product(drug: Mapping[str, Any], city: str, language: Language) -> str:
    name, price = drug["name_cs" if language == "cs" else "name"], drug["price_czk"]
    if language == "cs":
        head = (
            f"{name} ({drug['substance_cs']}, {price}"
            f" Kč{', na recept' if drug['prescription'] else ''}) je skladem:"
        )
    else:
        rx = ", on prescription" if drug["prescription"] else ""
        head = f"{name} ({drug['substance']}, {price} CZK{rx}) is in stock at these pharmacies:"
    shelves = _shelves(drug, city)[:_MOST_SHELVES]
    return "\n".join([head, *(f"- {_on_shelf(shelf, language)}" for shelf in shelves)])


def _nothing_there(place: str, language: Language) -> str:
    if language == "cs":
        return f"Na tomto místě ({place}) ho teď nemáme, jinde ano."
    return f"We do not have it there ({place}) at the moment, but elsewhere."


def _sold_out(drugs: Sequence[Mapping[str, Any]], language: Language) -> str:
    if language == "cs":
        return f"{drugs[0]['name_cs']} teď bohužel není skladem v žádné z našich lékáren."
    return f"Unfortunately {drugs[0]['name']} is out of stock in all our pharmacies at the moment."


def put_aside(made: Mapping[str, Any], language: Language) -> str:
    what, where = _reserved(made, language), _place(made, language)
    if language == "cs":
        return (
            f"Odložili jsme pro vás {what}: {where}. Číslo rezervace je {made['id']}, platí do"
            f" {_day(made, 'cs')}."
        )
    return (
        f"{what} is put aside for you at {where}. Your reservation is {made['id']}, valid until"
        f" {_day(made, 'en')}."
    )


def reserved(reservations: Sequence[Mapping[str, Any]], language: Language) -> str:
    """The customer's valid reservations, a line each."""
    valid = [reservation for reservation in reservations if reservation["status"] == "active"]
    if not valid:
        nothing = {
            "cs": "Nemáme pro vás žádnou platnou rezervaci.",
            "en": "There is no reservation for you that is valid.",
        }
        return nothing[language]
    head = {"cs": "Máme pro vás odloženo:", "en": "This is put aside for you:"}[language]
    return "\n".join([head, *(f"- {_line(reservation, language)}" for reservation in valid)])


def _line(made: Mapping[str, Any], language: Language) -> str:
    until = {"cs": "platí do", "en": "valid until"}[language]
    what, where = _reserved(made, language), _place(made, language)
    return f"{made['id']}: {what}, {where}, {until} {_day(made, language)}"


def cancelled(made: Mapping[str, Any], language: Language) -> str:
    what = _reserved(made, language)
    if language == "cs":
        return f"Rezervaci {made['id']} ({what}) jsme zrušili."
    return f"Your reservation {made['id']} ({what}) is cancelled."


def _reserved(made: Mapping[str, Any], language: Language) -> str:
    return f"{made['packs']} × {name_of(Product(**made['product']), language)}"


def _place(shelf: Mapping[str, Any], language: Language = "cs") -> str:
    if language == "cs":
        return f"{shelf['pharmacy']}, {shelf['street']}, {shelf['city']}"
    return f"{_english(shelf)}, {shelf['street']}, {shelf['city']}"


def _english(shelf: Mapping[str, Any]) -> str:
    return f"the pharmacy {str(shelf['pharmacy']).removeprefix('Lékárna ')}"


def _on_shelf(shelf: Mapping[str, Any], language: Language) -> str:
    count = shelf["packs"]
    if language == "cs":
        return f"{_place(shelf)}: {count} balení"
    return (
        f"{_english(shelf)} has {count} pack{'s' * (count != 1)} on the shelf ({shelf['street']},"
        f" {shelf['city']})"
    )


def _day(made: Mapping[str, Any], language: Language) -> str:
    day = date.fromisoformat(made["until"])
    if language == "cs":
        return f"{day.day}. {day.month}. {day.year}"
    return f"{day.day} {_MONTHS.split()[day.month - 1]} {day.year}"
