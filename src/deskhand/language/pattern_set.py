"""Many RE2 patterns asked at once: which of them a text can match, found by reading it once."""

from collections.abc import Sequence
from typing import Any

import re2

_LONG = 20_000
"""In a longer text the set may run out of memory and say nothing: then every pattern is to be
asked by itself."""
_MEMORY = 64_000_000
"""What RE2 may build for all patterns at once."""


class PatternSet:
    def __init__(self, patterns: Sequence[str]) -> None:
        options = re2.Options()
        options.max_mem = _MEMORY
        self._count = len(patterns)
        self._set: Any = re2.Set.SearchSet(options)
        for pattern in patterns:
            self._set.Add(pattern)
        self._set.Compile()

    def candidates(self, text: str) -> Sequence[int]:
        """The numbers of the patterns that are worth asking, in their order."""
        return range(self._count) if len(text) > _LONG else sorted(self._set.Match(text) or ())
