"""Who wrote a reply: a model's words are checked for more than a person's or the desk's own."""

from deskhand.model.authorship import is_model_text
from deskhand.model.message import Reply
from deskhand.model.run import EXPIRY, canonical_hash
from deskhand.tools.gate_call import GateCall, Terms


def is_by_model(call: GateCall, reply: Reply, terms: Terms) -> bool:
    """Whether a model wrote it: neither a person nor the desk, whose own questions are its own."""
    if reply.text.strip() in terms.own_questions or is_by_person(call):
        return False
    return is_model_text(call.ctx.envelope.metadata, reply.text)


def is_by_person(call: GateCall) -> bool:
    """Whether a person approved, edited or wrote exactly this reply."""
    note = call.ctx.envelope.metadata.get("decision")
    if not isinstance(note, dict) or note.get("by") in (None, EXPIRY):
        return False
    return bool(note.get("reply_hash") == canonical_hash(call.given))
