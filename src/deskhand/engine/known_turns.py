"""Which messages of a request were taken before, and by which runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from deskhand.model.message import Message
from deskhand.model.ticket_request import TicketTurn, handed_in


@dataclass(frozen=True, slots=True)
class _Taken:
    """Words of the customer that a run holds."""

    content: str
    at: datetime | None
    run: str
    ticket: str
    conversation: str | None
    """None for what came another way than over this API."""


class KnownTurns:
    """What the tickets of one customer hold of his words.

    The same words at another time are another message. Without times, words are known as often as
    they were taken: who hands a whole conversation in again adds to it.
    """

    def __init__(self, named: str | None = None) -> None:
        """`named` is the ticket that the caller names."""
        self.named = named
        self._taken: list[_Taken] = []

    def add(self, ticket: str, messages: Sequence[tuple[str, Message, bytes | None]]) -> None:
        for run, message, _ in messages:
            request = handed_in(message)
            if request is None:
                for part in (message.words, *message.words.split("\n\n")):
                    self._taken.append(_Taken(part.strip(), None, run, ticket, None))
                continue
            for turn in request.taken_turns:
                if turn.is_customers:
                    content = turn.content.strip()
                    where = message.conversation
                    self._taken.append(_Taken(content, turn.timestamp, run, ticket, where))

    def new_places(self, turns: Sequence[TicketTurn]) -> list[int]:
        """Which turns are to be taken; none where all of the customer's are known. What an agent
        said goes with the customer's next words, or his last."""
        matches = self._matches(turns)
        new = [place for place, turn in enumerate(turns) if turn.is_customers]
        new = [place for place in new if matches[place] is None]
        if not new:
            return []
        known_places = [place for place, match in matches.items() if match is not None]
        since = max(known_places, default=-1)
        said = [place for place, turn in enumerate(turns) if not turn.is_customers]
        return sorted([*new, *(place for place in said if place > since)])

    def run_of_last(self, turns: Sequence[TicketTurn]) -> str:
        """The run that took the last of the customer's turns, which are all known."""
        matches = [match for match in self._matches(turns).values() if match is not None]
        return matches[-1].run

    def conversation(self, turns: Sequence[TicketTurn]) -> str | None:
        """The conversation that a request goes on with: that of the turns it repeats, or of the
        ticket it names; None where that is unclear."""
        matches = [match for match in self._matches(turns).values() if match is not None]
        if self.named is not None:
            matches = [taken for taken in self._taken if taken.ticket == self.named]
        if len({match.ticket for match in matches}) != 1:
            return None
        return matches[-1].conversation

    def _matches(self, turns: Sequence[TicketTurn]) -> dict[int, _Taken | None]:
        """What each of the customer's turns was taken as; None for a new one."""
        used: set[int] = set()
        match_by_place: dict[int, _Taken | None] = {}
        for place, turn in enumerate(turns):
            if turn.is_customers:
                match_by_place[place] = self._match(turn, used)
        return match_by_place

    def _match(self, turn: TicketTurn, used: set[int]) -> _Taken | None:
        for number, taken in enumerate(self._taken):
            is_same = taken.content == turn.content.strip()
            at_another_time = None not in (taken.at, turn.timestamp) and taken.at != turn.timestamp
            if is_same and not at_another_time and number not in used:
                used.add(number)
                return taken
        return None
