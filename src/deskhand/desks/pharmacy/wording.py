"""What tools found, in the customer's language."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Literal

from .catalogue import Pharmacy, Product, sample_pharmacies
from .forms import LOOSE
from .shelf import is_there
from .wishes import Details

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
    "pen": ("pens", "injekčních per"),
    "solution": ("ml solution", "ml roztoku"),
    "gum": ("chewing gums", "žvýkaček"),
}
_SINGLE = {"pen": ("pen", "injekční pero"), "tablet": ("tablet", "tableta")}
_NO_DETAILS = Details()
_MOST_PRODUCTS = 3
_MOST_SHELVES = 4
_MONTHS = "January February March April May June July August September October November December"


def name_of(product: Product, language: Language) -> str:
    english, czech = _PACKS[product.form]
    if product.pack == 1:
        english, czech = _SINGLE.get(product.form, (english, czech))
    return (
        f"{product.brand} {product.strength}, {product.pack}"
        f" {czech if language == 'cs' else english}"
    )


def on_shelves(drugs: Sequence[Mapping[str, Any]], place: str, language: Language) -> str:
    """Where products are to be had, in a place if they are there; empty where nowhere."""
    if not drugs:
        return ""
    is_there_some = any(_shelves(drug, (place,)) for drug in drugs)
    return availability(drugs, (place,) if is_there_some else (), "", language)


def form_called(form: str, language: Language) -> str:
    """A form in the words of a pack, without a number."""
    english, czech = _PACKS["tablet" if form == LOOSE else form]
    return (czech if language == "cs" else english).removeprefix("ml ").removeprefix("g ")


def joined(names: Iterable[str], language: Language) -> str:
    """`Praha, Brno a Plzeň`."""
    *most, last = list(names) or [""]
    word = "a" if language == "cs" else "and"
    return f"{', '.join(most)} {word} {last}" if most else last


def availability(
    drugs: Sequence[Mapping[str, Any]],
    where: Sequence[str],
    called: str,
    language: Language,
    details: Details = _NO_DETAILS,
) -> str:
    """Each product with the shelves it is on: those in the asked places, or all if none is
    there."""
    there = [drug for drug in drugs if _shelves(drug, where)]
    anywhere = [drug for drug in drugs if drug["available"]]
    if not there and not anywhere:
        return _sold_out(drugs, language, details)

    shown = there or anywhere
    shelves_in = where if there else ()
    parts = [_product(drug, shelves_in, language, details) for drug in shown[:_MOST_PRODUCTS]]
    parts += _also(shown[_MOST_PRODUCTS:], language, details)
    if where and not there:
        parts.insert(0, _nothing_there(called, language))
    return "\n\n".join(parts)


def _shelves(drug: Mapping[str, Any], where: Sequence[str]) -> list[Mapping[str, Any]]:
    return [shelf for shelf in drug["available"] if _is_in(shelf, where)]


def is_to_be_had(drug: Mapping[str, Any], where: Sequence[str]) -> bool:
    """Whether a product is on a shelf in one of the places, or on any where none is named."""
    return bool(_shelves(drug, where))


def _is_in(shelf: Mapping[str, Any], where: Sequence[str]) -> bool:
    return not where or any(is_there(shelf, place) for place in where)


def _also(drugs: Sequence[Mapping[str, Any]], language: Language, details: Details) -> list[str]:
    """The products that are there besides those that were told with their shelves."""
    if not drugs:
        return []
    named = joined((_priced(drug, language, details) for drug in drugs), language)
    return [f"Skladem tam je také {named}." if language == "cs" else f"In stock as well: {named}."]


def _priced(drug: Mapping[str, Any], language: Language, details: Details) -> str:
    """A product with its substance, its price, and whether it is sold on prescription."""
    if language == "cs":
        name, rest = drug["name_cs"], [drug["substance_cs"], f"{drug['price_czk']} Kč"]
    else:
        name, rest = drug["name"], [drug["substance"], f"{drug['price_czk']} CZK"]
    if drug["prescription"]:
        rest.append("na recept" if language == "cs" else "on prescription")
    elif details.prescription:
        rest.append("bez receptu" if language == "cs" else "no prescription needed")
    return f"{name} ({', '.join(rest)})"


def _product(
    drug: Mapping[str, Any], where: Sequence[str], language: Language, details: Details
) -> str:
    name = _priced(drug, language, details)
    is_there = "je skladem" if language == "cs" else "is in stock at these pharmacies"
    shelves = _shelves(drug, where)[:_MOST_SHELVES]
    lines = [
        f"- {_on_shelf(shelf, language)}{_open(shelf, language, details.hours)}"
        for shelf in shelves
    ]
    return "\n".join([f"{name} {is_there}:", *lines])


def _open(shelf: Mapping[str, Any], language: Language, hours: bool) -> str:
    if not hours:
        return ""
    own = [pharmacy for pharmacy in sample_pharmacies() if pharmacy.id == shelf["pharmacy_id"]]
    return f"; {hours_of(own[0], language)}" if own else ""


def opening_hours(pharmacies: Sequence[Pharmacy], language: Language) -> str:
    """When each of the pharmacies is open, a line each."""
    head = {
        "cs": "Otevírací doba:",
        "en": "Opening hours:",
    }
    lines = (
        f"- {pharmacy.name}, {pharmacy.street}, {pharmacy.city}: {hours_of(pharmacy, language)}"
        for pharmacy in pharmacies
    )
    return "\n".join([head[language], *lines])


def hours_of(pharmacy: Pharmacy, language: Language) -> str:
    """When a pharmacy is open, and when it is closed all day."""
    if pharmacy.hours == "nonstop":
        nonstop = {"cs": "otevřeno nonstop, i v noci, o víkendu a o svátcích"}
        return nonstop.get(language, "open day and night, on weekends and holidays, too")
    on_saturday = "Sat" in pharmacy.hours
    if language == "cs":
        closed = "v neděli zavřeno" if on_saturday else "o víkendu (v sobotu i v neděli) zavřeno"
        return f"{pharmacy.hours_cs}, {closed}"
    closed = "closed on Sundays" if on_saturday else "closed on Saturdays and Sundays"
    return f"{pharmacy.hours}, {closed}"


def letter(text: str, language: Language, signature: str) -> str:
    """A whole letter in one language."""
    greeting, closing = (
        ("Dobrý den,", "S pozdravem") if language == "cs" else ("Hello,", "Best wishes")
    )
    return f"{greeting}\n\n{text}\n\n{closing}\n{signature}"


def _nothing_there(place: str, language: Language) -> str:
    if language == "cs":
        return f"Na tomto místě ({place}) ho teď nemáme, jinde ano."
    return f"We do not have it there ({place}) at the moment, but elsewhere."


def too_few(name: str, packs: int, place: str, language: Language) -> str:
    """Says that so many packs cannot be put aside there."""
    if language == "cs":
        where = f" ({place})" if place else ""
        return f"{packs} × {name} na tomto místě{where} teď odložit nemůžeme, tolik tam není."
    where = f" there ({place})" if place else ""
    return f"We cannot put {packs} × {name} aside{where}: there is not enough on the shelf."


def _sold_out(drugs: Sequence[Mapping[str, Any]], language: Language, details: Details) -> str:
    named = joined((_priced(drug, language, details) for drug in drugs), language)
    if language == "cs":
        return f"{named}: teď bohužel není skladem v žádné z našich lékáren."
    return f"{named}: unfortunately out of stock in all our pharmacies at the moment."


def kinds(drugs: Sequence[Mapping[str, Any]], language: Language, details: Details) -> str:
    """All strengths and packs of a name, with their prices."""
    named = joined((_priced(drug, language, details) for drug in drugs), language)
    return f"V katalogu máme {named}." if language == "cs" else f"Our catalogue has {named}."


def total(wanted: Sequence[tuple[int, Mapping[str, Any]]], language: Language) -> str:
    """What so many packs of each product cost in all."""
    cost = sum(packs * drug["price_czk"] for packs, drug in wanted)
    name = "name_cs" if language == "cs" else "name"
    named = joined((f"{packs} × {drug[name]}" for packs, drug in wanted), language)
    if language == "cs":
        return f"Dohromady: {named} stojí {cost} Kč."
    return f"In total, {named} cost {cost} CZK."


def cost_of(made: Sequence[Mapping[str, Any]], language: Language) -> str:
    """What everything that was put aside costs in all."""
    wanted = [(reservation["packs"], _named(reservation["product"])) for reservation in made]
    return total(wanted, language)


def _named(product: Mapping[str, Any]) -> dict[str, Any]:
    kept = Product(**product)
    return {**product, "name": name_of(kept, "en"), "name_cs": name_of(kept, "cs")}


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
