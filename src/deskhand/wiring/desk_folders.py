"""Where a desk lies, by the name that a user gives."""

from importlib.resources import files
from pathlib import Path

from deskhand.config.yaml import read_yaml
from deskhand.errors import ConfigError

SHIPPED = Path(str(files("deskhand"))) / "desks"
SHIPPED_PREFIX = "shipped:"
"""Before the name of a shipped desk, where a folder of that name is a desk too."""
DESK_FILES = ("desk.yaml", "desk.yml")


def find_desk(name: str) -> Path:
    """A desk's folder, from its path or from the name of a shipped desk.

    A plain name that fits both a desk here and a shipped one is refused; another folder of that
    name does not hide the shipped desk. ConfigError also where there is no such desk.
    """
    if name.startswith(SHIPPED_PREFIX):
        return _shipped_desk(name.removeprefix(SHIPPED_PREFIX))
    folder = Path(name)
    require_folder(folder)
    if name not in shipped_desks():
        if folder.is_dir():
            return folder
        return _shipped_desk(name)
    if not _looks_like_a_desk(folder):
        return SHIPPED / name
    raise ConfigError(
        f"{name!r} is a desk in this folder and the name of a shipped desk",
        fix=f"write ./{name} for the one here, or {SHIPPED_PREFIX}{name} for the shipped one",
    )


def _shipped_desk(name: str) -> Path:
    if name in shipped_desks():
        return SHIPPED / name
    raise ConfigError(
        f"there is no desk {name!r}",
        fix=f"name a folder with a desk.yaml, or one of: {', '.join(shipped_desks())}",
    )


def require_folder(path: Path) -> None:
    """Raises ConfigError where a file was named in place of a desk's folder."""
    if not path.is_file():
        return
    fix = "name a folder with a desk.yaml"
    if path.name in DESK_FILES:
        fix = f"name the folder it lies in: {path.parent}"
    raise ConfigError("this is a file, and a desk is a folder", file=path, fix=fix)


def _looks_like_a_desk(folder: Path) -> bool:
    """Whether somebody meant a folder to be a desk; desk.yml is a common slip."""
    return any((folder / file).is_file() for file in DESK_FILES)


def desk_name(folder: Path) -> str:
    """The name that a desk's desk.yaml gives it, without checking the rest of it."""
    source = read_yaml(folder / "desk.yaml")
    name = source.data.get("desk")
    if not isinstance(name, str):
        raise source.problem(("desk",), "`desk` is missing or not text", "write `desk: my-desk`")
    return name


def shipped_desks() -> list[str]:
    """The names of the desks that come with the package."""
    return sorted(entry.parent.name for entry in SHIPPED.glob("*/desk.yaml"))
