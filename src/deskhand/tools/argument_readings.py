"""How a call's arguments were read from the message: what stages say about it, and what is plain
from where a value came from.

A stage that reads values says how in the field `read` of its output. Whoever makes the call, by a
plan or by a model, the gate finds the value there again.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from deskhand.model.envelope import Envelope
from deskhand.model.share import as_argument
from deskhand.model.value_readings import MAPPINGS, READ, Reading, fields_read, least_certain
from deskhand.tools.provenance import MODEL, normal, stands_in

_SHORTEST_PART = 4
"""Letters of a value that is looked for inside a longer argument."""
_DOUBTFUL: frozenset[Reading] = frozenset(("corrected", "guessed"))


def declared_readings(
    envelope: Envelope, arguments: Mapping[str, Any], model_outputs: Collection[str]
) -> dict[str, Reading]:
    """The arguments of which a stage says how they were read.

    A model may say that it guessed, but never that it read exactly. Of the same value under the
    same name, the newest reading counts: the customer may have confirmed it.
    """
    fields: list[tuple[str, str, Reading]] = []
    for key, output in envelope.outputs.items():
        if not isinstance(output, MAPPINGS) or READ not in output:
            continue
        is_trusted = key not in model_outputs
        fields += [
            (name, normal(as_argument(value)), reading)
            for name, value, reading in fields_read(output)
            if is_trusted or reading in _DOUBTFUL
        ]
    if not fields:  # most stages say nothing of it, and a text is long
        return {}
    fields = list({(name, text): (name, text, reading) for name, text, reading in fields}.values())
    declared: dict[str, Reading] = {}
    for argument, value in arguments.items():
        readings = list(_readings_of(argument, value, fields))
        if readings:
            declared[argument] = least_certain(readings)
    return declared


def plain_reading(origin: str, *, was_given: bool) -> Reading:
    """How an argument was read of which no stage says anything."""
    if not was_given:
        return "default"
    return "guessed" if origin == MODEL else "exact"


def _readings_of(
    argument: str, value: Any, fields: Collection[tuple[str, str, Reading]]
) -> Iterator[Reading]:
    """The readings of the fields with this value; a field of the argument's own name decides."""
    if value is None or isinstance(value, bool | Mapping):
        return
    wanted = normal(value)
    own = [reading for name, text, reading in fields if name == argument and text == wanted]
    if own:
        yield own[-1]
        return
    for _, text, reading in fields:
        is_part = len(text) >= _SHORTEST_PART and stands_in(wanted, text)
        if wanted and (text == wanted or is_part):
            yield reading
