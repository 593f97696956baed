"""How a value was read from a message: whether the sender wrote it, or somebody guessed at it."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

Reading = Literal["exact", "confirmed", "default", "corrected", "guessed"]
"""`exact`: a declared spelling, or the regular inflection of exactly one name. `confirmed`: the
customer or a colleague said so when asked. `default`: the sender left it open. `corrected`: a typo,
mended by likeness. `guessed`: anything else."""

READ = "read"
"""The field of a stage's output that tells how its other fields were read, by name."""

DOUBTS: dict[str, str] = {
    "confirmed": "confirmed by the customer",
    "default": "left open by the sender",
    "corrected": "corrected: not what was written",
    "guessed": "guessed",
}
"""What people are told about a value that was not simply read."""

MAPPINGS = (dict, Mapping)
"""Almost all are plain dictionaries, and asking Mapping alone takes eight times as long."""

READINGS: tuple[Reading, ...] = get_args(Reading)
"""Most certain first."""


def readings_in(output: object) -> dict[str, Reading]:
    """What a stage's output says about how its fields were read; empty where it says nothing."""
    declared = output.get(READ) if isinstance(output, MAPPINGS) else None
    if declared is None or not isinstance(declared, Mapping):
        return {}
    readings: dict[str, Reading] = {}
    for name, reading in declared.items():
        if reading in READINGS:
            readings[str(name)] = reading
    return readings


def least_certain(readings: Iterable[Reading]) -> Reading:
    """The least certain of some readings; `exact` where there are none."""
    return max(readings, key=READINGS.index, default="exact")


def fields_read(output: Mapping[str, Any]) -> Iterable[tuple[str, Any, Reading]]:
    """Each field of an output that says how it was read, with its value and its reading.

    A plan and an extraction keep what they read under `slots` or `values`.
    """
    readings = readings_in(output)
    if not readings:
        return
    inner = (output.get(name) for name in ("slots", "values"))
    places = [output, *(place for place in inner if isinstance(place, Mapping))]
    for name, reading in readings.items():
        for place in places:
            if place.get(name) is not None:
                yield name, place[name], reading
