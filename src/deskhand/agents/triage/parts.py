"""What the stages of a triage desk work with."""

from collections.abc import Sequence
from dataclasses import dataclass

from deskhand.config.sections.triage import TriageSection
from deskhand.errors import PermanentError
from deskhand.model.envelope import Envelope
from deskhand.model.message import Message
from deskhand.ports import Brain, Contacts, SearchesKnowledge
from deskhand.tickets.service import Tickets

TICKET = "ticket"
TRANSLATION = "translation"
CUSTOMER_INFO = "customer_info"
SUPERVISOR_DECISION = "supervisor_decision"
READING = "reading"
KB_RESULTS = "kb_results"
TRIAGE_RESULT = "triage_result"


@dataclass(frozen=True, slots=True)
class TriageParts:
    """What the stages of one triage desk work with."""

    spec: TriageSection
    tickets: Tickets
    contacts: Contacts
    knowledge: SearchesKnowledge
    brain: Brain | None = None
    languages: Sequence[str] = ("en",)
    """Those that the desk answers in."""

    def asked_brain(self) -> Brain:
        """The desk's brain; PermanentError where there is none."""
        if self.brain is None:
            raise PermanentError("a triage desk needs a brain; name a model or use `embedded`")
        return self.brain


async def ticket_id_in(parts: TriageParts, envelope: Envelope, run_id: str) -> str | None:
    """The ticket that has the run's message now; None where no stage has placed it.

    While a run waits, people merge and split tickets: then it is another than the one in which the
    message was placed.
    """
    placed = envelope.output(TICKET)
    if not isinstance(placed, dict):
        return None
    store, placed_in = parts.tickets.store, str(placed["ticket_id"])
    holder = await store.ticket_of_run(run_id)
    if holder is not None:
        return holder
    led = await store.lead([placed_in])
    return led[placed_in].id if placed_in in led else placed_in


def message_in(envelope: Envelope) -> Message:
    """The run's message; PermanentError where there is none."""
    if envelope.message is None:
        raise PermanentError("there is no message to triage")
    return envelope.message
