"""What is asked back, and what the catalogue does not have, in the customer's language."""

from collections.abc import Mapping, Sequence
from typing import Any

from .catalogue import Product, sample_pharmacies
from .places import town_of
from .wording import Language, form_called, joined, name_of


def ask_medicine(language: Language) -> str:
    if language == "cs":
        return "o který lék jde? Napište nám prosím jeho název a sílu, jak stojí na krabičce."
    return (
        "which medicine is it about? Please tell us its name and strength as they stand on the box."
    )


def ask_place(language: Language) -> str:
    towns = joined(dict.fromkeys(map(town_of, sample_pharmacies())), language)
    if language == "cs":
        return f"Ve které lékárně si chcete lék vyzvednout? Lékárny máme v těchto městech: {towns}."
    return f"At which pharmacy would you like to pick it up? We have pharmacies in {towns}."


def ask_pharmacy(town: str, language: Language) -> str:
    """Which of a town's pharmacies is meant."""
    named = [
        f"{pharmacy.name} ({pharmacy.street})"
        for pharmacy in sample_pharmacies()
        if town_of(pharmacy) == town
    ]
    listed = joined(named, language)
    if language == "cs":
        return f"{town}: lékárny tam máme {listed}. Ve které si chcete lék vyzvednout?"
    return f"{town}: our pharmacies there are {listed}. At which one would you like to pick it up?"


def not_served(towns: Sequence[str], language: Language) -> str:
    named = joined(towns, language)
    if language == "cs":
        return f"V tomto místě lékárnu nemáme: {named}."
    return f"We have no pharmacy there: {named}."


def ask_corrected(item: Mapping[str, Any], language: Language) -> str:
    if language == "cs":
        return f"Píšete „{item['asked']}“. Myslíte tím {item['name']}?"
    return f"You wrote “{item['asked']}”. Do you mean {item['name']}?"


def ask_which(item: Mapping[str, Any], products: Sequence[Product], language: Language) -> str:
    kinds = joined(_kinds(products, language), language)
    if language == "cs":
        return f"{item['name']}: v katalogu máme {kinds}. Co z toho chcete odložit?"
    return f"{item['name']}: our catalogue has {kinds}. Which one shall we put aside?"


def ask_packs(item: Mapping[str, Any], language: Language) -> str:
    if language == "cs":
        return f"{item['query']}: kolik balení máme odložit?"
    return f"{item['query']}: how many packs shall we put aside?"


def ask_amount(item: Mapping[str, Any], most: int, language: Language) -> str:
    packs = item["packs"]
    if language == "cs":
        return (
            f"{item['query']}: chcete {packs} balení, na jednu rezervaci ale odložíme nejvýš {most}"
            f" balení. Kolik balení máme odložit?"
        )
    return (
        f"{item['query']}: you would like {packs} packs, but one reservation holds {most} packs at"
        f" most. How many shall we put aside?"
    )


def ask_rest(names: Sequence[str], language: Language) -> str:
    named = joined(names, language)
    if language == "cs":
        return f"Máme odložit jen {named}?"
    return f"Shall we put aside {named} alone?"


def not_kept(item: Mapping[str, Any], products: Sequence[Product], language: Language) -> str:
    """Says that a medicine, or this strength, form or pack of it, is not in the catalogue; of
    another strength only that it exists."""
    if not item["name"]:
        if language == "cs":
            return (
                f"Lék „{item['asked']}“ v našem katalogu není a žádná z našich lékáren ho nevede."
            )
        return f"“{item['asked']}” is not in our catalogue, and none of our pharmacies keeps it."
    brands = {product.brand for product in products}
    name = brands.pop() if len(brands) == 1 else item["name"]
    kinds = joined(_kinds(products, language), language)
    what = _lacking(item, language)
    if language == "cs":
        return f"{name} {what} v katalogu nemáme. Vedeme: {kinds}."
    return f"We do not keep {name} {what}. Our catalogue has: {kinds}."


def _lacking(item: Mapping[str, Any], language: Language) -> str:
    lacking = item["lacking"]
    if item["lacks"] == "strength":
        return f"v síle {lacking}" if language == "cs" else f"in the strength {lacking}"
    if item["lacks"] == "pack":
        return f"v balení po {lacking}" if language == "cs" else f"in packs of {lacking}"
    forms = dict.fromkeys(form_called(form, language) for form in lacking.split(", "))
    return (
        f"v této formě ({joined(forms, language)})"
        if language == "cs"
        else f"as {joined(forms, language)}"
    )


def _kinds(products: Sequence[Product], language: Language) -> list[str]:
    """The products by brand, strength and form, with their packs."""
    return list(dict.fromkeys(name_of(product, language) for product in products))
