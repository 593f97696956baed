"""The same game with hypothesis at the table: it looks for a short way to a violation and shows
it."""

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.security.hijack.game import Game, Table, Tally


class HijackedModel(RuleBasedStateMachine):
    """Every choice is drawn, so a failing game shrinks to the calls that matter."""

    table: ClassVar[Table]
    loop: ClassVar[asyncio.AbstractEventLoop]
    tally: ClassVar[Tally]

    def __init__(self) -> None:
        super().__init__()
        self._data: Any = None
        self._game: Game = self.table.new_game(self._choose)

    def _choose(self, options: Sequence[Any]) -> Any:
        return options[self._data.draw(st.integers(0, len(options) - 1))]

    def _play(self, data: Any, move: Any) -> None:
        self._data = data
        self.loop.run_until_complete(move())

    @rule(data=st.data())
    def message(self, data: Any) -> None:
        self._play(data, self._game.message)

    @precondition(lambda self: bool(self._game.parked))
    @rule(data=st.data())
    def decide(self, data: Any) -> None:
        self._play(data, self._game.decide)

    @precondition(lambda self: bool(self._game.runs))
    @rule(data=st.data())
    def again(self, data: Any) -> None:
        self._play(data, self._game.again)

    @rule(data=st.data())
    def world(self, data: Any) -> None:
        self._play(data, self._game.world)

    def teardown(self) -> None:
        self.tally.add(self._game)
