"""Another brain than the one that desk.yaml asks for, to compare the two."""

from deskhand.config.desk import DeskSpec
from deskhand.config.suggestions import did_you_mean
from deskhand.errors import ConfigError

KINDS = ("scripted", "embedded", "llm", "cascade")


def with_brain_kind(spec: DeskSpec, kind: str) -> DeskSpec:
    """The same desk with a brain of this kind; unchanged where it has one already.

    The embedded brain is chosen anew even so: then the desk's agents ask no model either.
    Raises ConfigError where there is no such kind, or where the desk lacks what it needs.
    """
    if kind == spec.brain.kind and kind != "embedded":
        return spec
    if kind not in KINDS:
        raise ConfigError(
            f"there is no brain {kind!r}", fix=did_you_mean(kind, KINDS, otherwise="leave it out")
        )
    file = None
    if kind == "scripted":
        file = spec.folder / "brain.yaml"
        if not file.is_file():
            raise ConfigError(
                "the desk has no rules for a scripted brain",
                file=file,
                fix="write them, or choose another brain",
            )
    if kind in ("llm", "cascade") and spec.default_model is None:
        raise ConfigError(
            f"desk {spec.name!r} names no model",
            fix="write `models:` in desk.yaml, or choose another brain",
        )
    changes = {"kind": kind, "file": file, "agents": kind != "embedded"}
    return spec.model_copy(update={"brain": spec.brain.model_copy(update=changes)})
