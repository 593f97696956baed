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


def message_in(envelope: Envelope) -> Message:
    """The run's message; PermanentError where there is none."""
    if envelope.message is None:
        raise PermanentError("there is no message to triage")
    return envelope.message
