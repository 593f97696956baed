"""The functions behind the tools. `registry` puts them here, `gate` takes them out; nobody else
may import this."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

Handler = Callable[..., Any]

_handlers: "WeakKeyDictionary[object, Handler]" = WeakKeyDictionary()


def keep_handler(tool: object, handler: Handler) -> None:
    _handlers[tool] = handler


def handler_of(tool: object) -> Handler:
    return _handlers[tool]
