"""What a desk's owner wrote, taken apart once: each reply is held against the same texts."""

from functools import cached_property, lru_cache

from deskhand.outgoing.content_words import tokens, words_in

_DESKS = 16
"""Desks whose texts are kept taken apart."""


class OwnTexts:
    """All texts of a desk's owner."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self._texts = texts

    @cached_property
    def words(self) -> frozenset[str]:
        """Their words, folded."""
        return frozenset(word.folded for text in self._texts for word in words_in(text))

    @cached_property
    def lines(self) -> frozenset[str]:
        """The tokens of each line, a signature for example."""
        lines = [line for text in self._texts for line in text.splitlines()]
        return frozenset(tokens(line) for line in lines)

    def say(self, said: str) -> bool:
        """Whether one of the texts has these tokens, in this order."""
        return said in self._tokens

    @cached_property
    def _tokens(self) -> str:
        """Tokens hold no line break, so none of a reply's reach from one text into the next."""
        return "\n".join(tokens(text) for text in self._texts)


@lru_cache(maxsize=_DESKS)
def own_texts_of(texts: tuple[str, ...]) -> OwnTexts:
    """The texts, taken apart when they are first asked for."""
    return OwnTexts(texts)
