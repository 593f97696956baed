"""The services of a triage desk."""

from deskhand.config.desk import DeskSpec
from deskhand.ports import Brain, Contacts, SearchesKnowledge
from deskhand.tickets.service import Tickets
from deskhand.tools.services import ServiceFunction


def triage_services(
    spec: DeskSpec,
    brain: Brain | None,
    tickets: Tickets,
    contacts: Contacts,
    knowledge: SearchesKnowledge,
) -> dict[str, ServiceFunction]:
    """What `triage:` in desk.yaml is for; nothing for a desk without it."""
    if spec.triage is None:
        return {}
    from deskhand.agents.triage.filing import file_through
    from deskhand.agents.triage.parts import TriageParts
    from deskhand.agents.triage.specialising import escalate_through, specialise_through
    from deskhand.agents.triage.supervising import supervise_through
    from deskhand.agents.triage.translating import translate_through

    parts = TriageParts(spec.triage, tickets, contacts, knowledge, brain, spec.languages)
    return {
        "translate": translate_through(parts),
        "supervise": supervise_through(parts),
        "specialise": specialise_through(parts),
        "escalate": escalate_through(parts),
        "file": file_through(parts),
    }
