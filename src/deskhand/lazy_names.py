"""Names that a package offers without importing the modules that they live in."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any


class LazyNames:
    """The public names of a package. Each brings its module along when it is first used, so that
    a command starts with what it needs and no more.

        _NAMES = LazyNames(globals(), {"databases": ("open_database", "open_store")})

        def __getattr__(name: str) -> Any:
            return _NAMES.find(name)

    Type checkers read the same names from imports under TYPE_CHECKING.
    """

    def __init__(self, namespace: dict[str, Any], modules: Mapping[str, Sequence[str]]) -> None:
        """`namespace` is the package's `globals()`; `modules` lists names by their module."""
        self._package: str = namespace["__name__"]
        self._namespace = namespace
        self._homes = {name: module for module, names in modules.items() for name in names}

    @property
    def names(self) -> list[str]:
        return sorted(self._homes)

    def find(self, name: str) -> Any:
        """What a package's `__getattr__` returns. Raises AttributeError for any other name."""
        home = self._homes.get(name)
        if home is None:
            raise AttributeError(f"module {self._package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{self._package}.{home}"), name)
        self._namespace[name] = value
        return value

    def all_names(self) -> list[str]:
        """What a package's `__dir__` returns."""
        return sorted({*self._namespace, *self._homes})
