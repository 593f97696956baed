"""What makes a slot wrong beyond its types: options of another type, patterns that do not
compile, missing files."""

from zoneinfo import available_timezones

import re2

from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.sections.slots import OPTIONS, SlotSection, read_names
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlPlace
from deskhand.errors import ConfigError

_MOST_PROGRAM = 50_000
_REQUIRED = {
    "pattern": (("pattern",), "add `pattern: '[A-Z]{2}[0-9]{6}'`"),
    "name": (("names", "file"), "add `names: [one, two]`, or `file: names.txt`"),
}


def slot_findings(draft: DeskDraft) -> ConfigFindings:
    for name, slot in draft.desk.slots.items():
        place = ("slots", name)
        yield from _idle_options(place, slot)
        yield from _missing_options(place, name, slot)
        yield from _together(place, slot)
        if slot.pattern is not None:
            yield from _pattern((*place, "pattern"), slot.pattern)
        if slot.country is not None:
            yield from _country((*place, "country"), slot.country)
        if slot.time_zone is not None and slot.time_zone not in available_timezones():
            fix = did_you_mean(slot.time_zone, available_timezones(), otherwise="remove it")
            yield ConfigFinding(
                (*place, "time_zone"), f"there is no time zone `{slot.time_zone}`", fix
            )
        if slot.file is not None:
            yield from _name_file(draft, (*place, "file"), slot.file)


def _country(place: YamlPlace, country: str) -> ConfigFindings:
    from phonenumbers import SUPPORTED_REGIONS  # a desk without such a slot need not wait for it

    if country not in SUPPORTED_REGIONS:
        problem = f"how telephone numbers look in `{country}` is not known"
        yield ConfigFinding(place, problem, "write the country's code of two letters, as `CZ`")


def _idle_options(place: YamlPlace, slot: SlotSection) -> ConfigFindings:
    for key in slot.model_fields_set - {"type", "description", *OPTIONS[slot.type]}:
        owners = " or ".join(
            f"`type: {kind}`" for kind, options in OPTIONS.items() if key in options
        )
        problem = f"`{key}` has no effect with `type: {slot.type}`"
        yield ConfigFinding(
            (*place, key), problem, f"use it with {owners}, or remove it", echo_of=(*place, "type")
        )


def _missing_options(place: YamlPlace, name: str, slot: SlotSection) -> ConfigFindings:
    options, fix = _REQUIRED.get(slot.type, ((), ""))
    if options and not any(option in slot.model_fields_set for option in options):
        wanted = " or ".join(f"`{option}`" for option in options)
        yield ConfigFinding(place, f"slot `{name}` has no {wanted}", fix, echo_of=place)


def _together(place: YamlPlace, slot: SlotSection) -> ConfigFindings:
    if slot.names is not None and slot.file is not None:
        yield ConfigFinding(
            (*place, "file"), "the names are both here and in a file", "keep `names` or `file`"
        )
    if slot.type == "order_number" and slot.pattern is not None:
        for key in ("prefix", "min_digits", "max_digits"):
            if key in slot.model_fields_set:
                yield ConfigFinding(
                    (*place, key),
                    f"`{key}` has no effect beside `pattern`",
                    f"keep `{key}` or `pattern`",
                )
    fewest, most = slot.min_digits or 3, slot.max_digits or 12
    if fewest > most:
        key = "min_digits" if slot.min_digits is not None else "max_digits"
        problem = f"no number has at least {fewest} and at most {most} digits"
        yield ConfigFinding((*place, key), problem, "make `min_digits` the smaller one")


def _pattern(place: YamlPlace, pattern: str) -> ConfigFindings:
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0] if error.args else "it cannot be read"
        yield ConfigFinding(
            place, f"this is not an RE2 pattern: {_words(said)}", _pattern_fix(pattern)
        )
        return
    except UnicodeEncodeError:
        yield ConfigFinding(place, "the pattern holds half a character", "type it again")
        return
    if compiled.programsize > _MOST_PROGRAM:
        yield ConfigFinding(place, "the pattern is too large", "repeat less: shorter `{n,m}`")
    if compiled.search("") is not None:
        yield ConfigFinding(
            place, "the pattern matches nothing at all as well", "use `+` where it has `*`"
        )


def _words(said: object) -> str:
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)


def _pattern_fix(pattern: str) -> str:
    if any(mark in pattern for mark in ("(?=", "(?!", "(?<=", "(?<!")):
        return (
            "RE2 has no look-ahead and look-behind: match what stands around and name the value"
            " `(?P<value>...)`"
        )
    if any(f"\\{digit}" in pattern for digit in "123456789"):
        return "RE2 has no back references: write the repetition out"
    return "correct it; in YAML put patterns in single quotes: `'\\bP-[0-9]{4}\\b'`"


def _name_file(draft: DeskDraft, place: YamlPlace, file: str) -> ConfigFindings:
    path = draft.folder / file
    if not path.resolve().is_relative_to(draft.folder.resolve()):
        yield ConfigFinding(
            place, f"`{file}` is outside the desk's folder", "move it into the folder"
        )
        return
    if not path.is_file():
        fix = "create it, or correct the name (it is relative to the desk's folder)"
        yield ConfigFinding(place, f"there is no file `{file}`", fix)
        return
    try:
        read_names(path)
    except ConfigError as error:
        where = f"{file}, line {error.line}" if error.line is not None else file
        yield ConfigFinding(place, f"{where}: {error.problem}", error.fix or "correct it")
