"""Names from a list, found in spite of case, diacritics, endings and typos."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz import fuzz, process

from deskhand.config.sections.slots import SlotSpec
from deskhand.language.slots.folded_text import MOST_MATCHES, MOST_WORDS, WORD, Scan, Word, fold
from deskhand.language.slots.slot_context import SlotContext
from deskhand.language.slots.slot_value import SlotMatch
from deskhand.model.value_readings import Reading

_ENDING = re.compile(r"(?:ou|ove|ovi|em|ech|ach|ami|ich|ych|ym|im|ho|mu|[aeiouy]){1,2}$")
_INFLECTED = 0.88
_SHORTEST_FUZZY = 4
"""Shorter names must be written exactly: one letter more or less makes another name."""
_NEAR = 0.04
"""Two names whose likeness differs by less are both possible."""
_MOST_WORK = 1_000_000
"""Work done on one text, a comparison being one; after it names count only where they are
spelled exactly."""
_WORK_A_WINDOW = 150
_WORK_A_LOOK = 30
_LONGEST_NAME = 8
"""In words."""


class _Hit(NamedTuple):
    start: int
    end: int
    name: str
    score: float
    read: Reading = "exact"


class _Likeness(NamedTuple):
    """A name that words may mean."""

    name: str
    score: float
    read: Reading = "exact"


class NameExtractor:
    def __init__(self, spec: SlotSpec) -> None:
        self._threshold = spec.threshold
        self._names: dict[str, list[str]] = defaultdict(list)
        self._inflected: dict[str, list[str]] = defaultdict(list)
        self._first_words: set[str] = set()
        most_words = 1
        for name, others in spec.names.items():
            for spelling in (name, *others):
                words = WORD.findall(fold(spelling))
                if words and name not in self._names["".join(words)]:
                    self._names["".join(words)].append(name)
                    self._inflected["".join(map(_stem, words))].append(name)
                    self._first_words.add(words[0])
                    most_words = max(most_words, len(words))
        self._names = {compact: names for compact, names in self._names.items() if names}
        self._most_words = min(most_words + 1, _LONGEST_NAME)
        self._longest = (
            max(map(len, self._names), default=0) * (2 - self._threshold) / self._threshold
        )
        self._band = lru_cache(maxsize=1000)(self._names_about)

    def find(self, scan: Scan, context: SlotContext) -> Iterator[SlotMatch]:
        hits = self._hits(scan)
        for chosen in _apart(hits):
            readings = [hit for hit in hits if hit[:2] == chosen[:2]]
            for hit in readings:
                confidence = min(hit.score, 0.99 if len(readings) == 1 else 0.5)
                yield scan.match(hit.name, hit.start, hit.end, confidence, read=hit.read)

    def _hits(self, scan: Scan) -> list[_Hit]:
        words = scan.reading.words
        scan.is_cut |= len(words) > MOST_WORDS
        names_like: dict[str, list[_Likeness]] = {}
        hits: list[_Hit] = []
        work = 0
        for index, (start, _, first) in enumerate(words):
            if work >= _MOST_WORK and first not in self._first_words and first not in self._names:
                continue
            for window, compact in self._windows(words, index):
                work += _WORK_A_LOOK
                if compact not in names_like:
                    band = self._band(len(compact)) if work < _MOST_WORK else []
                    work += _WORK_A_WINDOW + len(band) if band else 0
                    names_like[compact] = self._names_like(compact, window, band)
                end = window[-1][1]
                hits += [_Hit(start, end, *likeness) for likeness in names_like[compact]]
            if len(hits) > 2 * MOST_MATCHES:
                scan.is_cut = True
                break
        return hits

    def _windows(self, words: list[Word], index: int) -> Iterator[tuple[list[Word], str]]:
        """The word at the index, alone and with those after it, also written as one."""
        compact = ""
        for end in range(index + 1, min(index + self._most_words, len(words)) + 1):
            compact += words[end - 1][2]
            if len(compact) > self._longest:
                return
            yield words[index:end], compact

    def _names_like(self, compact: str, window: list[Word], band: list[str]) -> list["_Likeness"]:
        """Names with their likeness: those spelled the same, else bent, else alike."""
        return self._exact(compact) or self._bent(window, band) or self._alike(compact, band)

    def _exact(self, compact: str) -> list["_Likeness"]:
        return [_Likeness(name, 1.0) for name in self._names.get(compact, ())]

    def _bent(self, window: list[Word], band: list[str]) -> list["_Likeness"]:
        """Names that differ in their endings alone, as Slavic languages bend them."""
        if not band or self._threshold > _INFLECTED:
            return []
        stem = "".join(_stem(word) for _, _, word in window)
        names = self._inflected.get(stem, ()) if len(stem) >= _SHORTEST_FUZZY else ()
        return [_Likeness(name, _INFLECTED) for name in dict.fromkeys(names)]

    def _names_about(self, length: int) -> list[str]:
        """The names that are neither too short nor too long to be like a word of this length."""
        fewest = length * self._threshold / (2 - self._threshold)
        most = length * (2 - self._threshold) / self._threshold
        return [name for name in self._names if max(fewest, _SHORTEST_FUZZY) <= len(name) <= most]

    def _alike(self, compact: str, band: list[str]) -> list["_Likeness"]:
        if not band or len(compact) < _SHORTEST_FUZZY or compact.isdecimal():
            return []
        similar = process.extract(
            compact, band, scorer=fuzz.ratio, score_cutoff=100 * self._threshold, limit=5
        )
        best: dict[str, float] = {}
        for spelling, score, _ in similar:
            for name in self._names[spelling]:
                best[name] = max(score / 100, best.get(name, 0))
        top = max(best.values(), default=0)
        near = [(name, score) for name, score in best.items() if score > top - _NEAR]
        return [_Likeness(name, score, "corrected") for name, score in near]


def _stem(word: str) -> str:
    stem = _ENDING.sub("", word)
    return stem if len(stem) >= _SHORTEST_FUZZY else word


def _apart(hits: list[_Hit]) -> list[_Hit]:
    """Places that do not overlap: of one name the best spelling, of several the longest text."""
    best: list[_Hit] = []
    for hit in sorted(hits, key=lambda hit: (-hit.score, hit.start, hit.end)):
        if not any(
            hit.name == other.name and hit.start < other.end and other.start < hit.end
            for other in best
        ):
            best.append(hit)
    kept: list[_Hit] = []
    for hit in sorted(best, key=lambda hit: (hit.start - hit.end, hit.start, -hit.score)):
        if not any(hit.start < other.end and other.start < hit.end for other in kept):
            kept.append(hit)
    return sorted(kept)
