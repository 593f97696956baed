"""A slot as written in desk.yaml, and the SlotSpec it becomes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from deskhand.config.sections.section import Section
from deskhand.config.yaml import read_text
from deskhand.errors import ConfigError
from deskhand.model.frozen import Frozen

SlotName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
SlotType = Literal[
    "pattern", "order_number", "email", "phone", "money", "date", "quantity", "name", "text"
]
TextAbout = Literal["reason", "address", "summary"]
Country = Annotated[str, Field(pattern=r"^[A-Z]{2}$")]
Currency = Literal[
    "AUD", "BGN", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HUF", "INR", "JPY", "MXN", "NOK", "NZD", "PLN",  # noqa: E501
    "RON", "SEK", "TRY", "UAH", "USD",
]  # fmt: skip
Text = Annotated[str, Field(min_length=1, max_length=200)]
SpellingsByName = dict[Text, list[Text]]

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "pattern": ("pattern",),
    "order_number": ("prefix", "min_digits", "max_digits", "pattern"),
    "email": (),
    "phone": ("country",),
    "money": ("currency", "currencies", "decimal"),
    "date": ("order", "prefer", "time", "time_zone"),
    "quantity": ("units", "decimal"),
    "name": ("names", "file", "threshold"),
    "text": ("about",),
}
"""Which options each type takes, beside `description`."""
_LARGEST_NAME_FILE = 1_000_000


def _names_form(value: Any) -> str:
    return "names: mapping" if isinstance(value, Mapping) else "names: list"


NamesSection = Annotated[
    Annotated[Annotated[list[Text], Field(min_length=1)], Tag("names: list")]
    | Annotated[Annotated[SpellingsByName, Field(min_length=1)], Tag("names: mapping")],
    Discriminator(_names_form),
]


class SlotSection(Section):
    """A slot: a kind of value to find in messages, as `{type: order_number, prefix: [P]}`."""

    type: SlotType
    """What kind of value it is; the other options depend on it."""
    description: str | None = Field(default=None, min_length=1, max_length=500)
    """What the value means, for people and for an LLM: `the parcel the message is about`."""
    pattern: str | None = Field(default=None, min_length=1, max_length=2000)
    """With `pattern` or `order_number`: an RE2 pattern; the value is its named group, or all it
    matched."""
    prefix: list[Annotated[str, Field(pattern=r"^[A-Za-z]{1,8}$")]] | None = Field(
        default=None, min_length=1
    )
    """With `order_number`: the letters numbers begin with, as `[P]` for P-1001."""
    min_digits: int | None = Field(default=None, ge=1, le=20)
    """With `order_number`: the fewest digits a number has, 3 if absent."""
    max_digits: int | None = Field(default=None, ge=1, le=20)
    """With `order_number`: the most digits a number has, 12 if absent."""
    country: Country | None = None
    """With `phone`: where numbers without a country code belong, as `CZ`; they become +420..."""
    currency: Currency | None = None
    """With `money`: which dollar `$` and which crown `kr` means, as `CAD`."""
    currencies: list[Currency] | None = Field(default=None, min_length=1)
    """With `money`: the only currencies that count."""
    decimal: Literal["comma", "point"] | None = None
    """With `money` or `quantity`: what stands before the decimals; the message's language
    decides if absent."""
    order: Literal["dmy", "mdy"] | None = None
    """With `date`: how 3/4/2025 is read; the message's language decides if absent."""
    prefer: Literal["past", "future"] | None = None
    """With `date`: where dates without a year and bare weekdays lie."""
    time: bool | None = None
    """With `date`: whether a time of day beside the date becomes part of the value."""
    time_zone: str | None = Field(default=None, min_length=1)
    """With `date`: the zone in which today is today, as `Europe/Prague`."""
    units: SpellingsByName | None = Field(default=None, min_length=1)
    """With `quantity`: what is counted, with its spellings: `{bottle: [bottles, láhev, láhve],
    kg: []}`."""
    names: NamesSection | None = None
    """With `name`: the names to find, `[Widget Pro, ...]` or with other spellings `{Widget Pro:
    [WP], ...}`."""
    file: str | None = Field(default=None, min_length=1)
    """With `name`: a text file in the desk's folder, a name a line, other spellings after `|`."""
    threshold: float | None = Field(default=None, ge=0.5, le=1)
    """With `name`: how like a name a word must be, 0.5 to 1; 0.85 if absent."""

    about: TextAbout | None = None
    """With `text`: what the customer's words are about, so that they are found beside other
    values."""

    def compile(self, name: str, folder: Path) -> "SlotSpec":
        """The slot as the extractor reads it; it must have passed the checks."""
        written = self.model_dump(exclude_none=True, exclude={"names", "file"})
        return SlotSpec(name=name, names=self._spellings(folder), **written)

    def _spellings(self, folder: Path) -> dict[str, tuple[str, ...]]:
        if isinstance(self.names, list):
            return dict.fromkeys(self.names, ())
        if self.names is not None:
            return {name: tuple(others) for name, others in self.names.items()}
        return read_names(folder / self.file) if self.file is not None else {}


class SlotSpec(Frozen):
    """A slot that was checked: its type, its options, and for `name` all the names there are."""

    name: str
    type: SlotType
    description: str = ""
    pattern: str | None = None
    prefix: tuple[str, ...] = ()
    min_digits: int = 3
    max_digits: int = 12
    country: Country | None = None
    currency: Currency | None = None
    currencies: tuple[Currency, ...] = ()
    decimal: Literal["comma", "point"] | None = None
    order: Literal["dmy", "mdy"] | None = None
    prefer: Literal["past", "future"] | None = None
    time: bool = False
    time_zone: str | None = None
    units: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """What is counted to its spellings; all built-in units when empty."""
    names: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Name to its other spellings."""
    threshold: float = 0.85
    about: TextAbout | None = None


NAMING_TYPES: tuple[SlotType, ...] = ("order_number", "pattern", "name")
"""Values that name a thing: what is said about it later may leave them out."""


def money_slots(slots: Mapping[str, SlotSpec]) -> frozenset[str]:
    """The slots whose values are amounts of money."""
    return frozenset(name for name, slot in slots.items() if slot.type == "money")


def naming_slots(slots: Mapping[str, SlotSpec]) -> frozenset[str]:
    """The slots whose values name a thing."""
    return frozenset(name for name, slot in slots.items() if slot.type in NAMING_TYPES)


def read_names(path: Path) -> dict[str, tuple[str, ...]]:
    """A name a line, other spellings after `|`; empty lines and lines that begin with `#` are
    skipped."""
    names: dict[str, tuple[str, ...]] = {}
    for line in read_text(path, largest=_LARGEST_NAME_FILE).split("\n"):
        spellings = [part.strip() for part in line.split("|")]
        if spellings[0] and not line.lstrip().startswith("#"):
            names[spellings[0]] = (*names.get(spellings[0], ()), *filter(None, spellings[1:]))
    if not names:
        raise ConfigError("the file has no names", file=path, line=1, fix="write one name a line")
    return names
