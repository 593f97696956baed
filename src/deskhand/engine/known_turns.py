"""Which messages of a request were taken before, and by which runs."""

from collections.abc import Sequence

from deskhand.model.ticket_request import TakenTurn, TicketTurn


class KnownTurns:
    """What was taken before of the words that a request holds.

    The same words at another time are another message. Without times, words are known as often as
    they were taken: who hands a whole conversation in again adds to it.
    """

    def __init__(
        self,
        taken: Sequence[TakenTurn],
        named: str | None = None,
        conversation: str | None = None,
    ) -> None:
        """`taken` are those of all tickets, oldest first. `named` is the ticket that the caller
        names, `conversation` the one that it goes on in."""
        self.named, self._conversation = named, conversation
        self._taken = _by_ticket(taken, named)

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
        """The conversation that a request goes on with: that of the ticket it names, or of the
        turns it repeats; None where that is unclear."""
        if self.named is not None:
            return self._conversation
        matches = [match for match in self._matches(turns).values() if match is not None]
        if len({match.ticket for match in matches}) != 1:
            return None
        return matches[-1].words.conversation

    def _matches(self, turns: Sequence[TicketTurn]) -> dict[int, TakenTurn | None]:
        """What each of the customer's turns was taken as; None for a new one."""
        used: set[int] = set()
        match_by_place: dict[int, TakenTurn | None] = {}
        for place, turn in enumerate(turns):
            if turn.is_customers:
                match_by_place[place] = self._match(turn, used)
        return match_by_place

    def _match(self, turn: TicketTurn, used: set[int]) -> TakenTurn | None:
        for number, taken in enumerate(self._taken):
            is_same = taken.words.content == turn.words
            times = (taken.words.at, turn.at)
            at_another_time = None not in times and taken.words.at != turn.at
            if is_same and not at_another_time and number not in used:
                used.add(number)
                return taken
        return None


def _by_ticket(taken: Sequence[TakenTurn], named: str | None) -> list[TakenTurn]:
    """The named ticket's first, then those of the ticket that holds the most of the words, of
    several the one that took them last."""
    held: dict[str, set[str]] = {}
    newest: dict[str, int] = {}
    for number, turn in enumerate(taken):
        held.setdefault(turn.ticket, set()).add(turn.words.content)
        newest[turn.ticket] = number

    def rank(turn: TakenTurn) -> tuple[bool, int, int]:
        return turn.ticket != named, -len(held[turn.ticket]), -newest[turn.ticket]

    return sorted(taken, key=rank)
