"""A person answered a customer from a mail program: end what waits, compare the desk's reply."""

from deskhand.engine.story import read_records
from deskhand.mail.reply import visible_reply
from deskhand.model.envelope import Envelope
from deskhand.model.judgement import Judged, Judgement
from deskhand.model.message import REPLY
from deskhand.model.queue import ReviewFilter
from deskhand.model.run import Review, ReviewState, Run, RunStatus
from deskhand.model.understanding import Understanding
from deskhand.model.waiting import Waiting, WaitKind
from deskhand.ports import Store, TrustStore
from deskhand.trust.difference import changes_facts, share_changed


async def person_answered(store: Store, trust: TrustStore, run: Run, by: str, body: str) -> str:
    """Withdraw what waits and compare a reply written in shadow; returns what the person did.

    The conversation stays the desk's when the person sent its draft, or when the desk only watches.
    """
    text = visible_reply(body)
    shadow = await _shadow(store, run)
    if shadow is not None:
        await _compare(trust, shadow, text)
        await store.answered_by_person(run.conversation, by, silence=False, text=text)
        return "has answered beside the shadow of"
    reviews = await store.find_reviews(ReviewFilter(run_id=run.id, state=ReviewState.OPEN))
    draft = any(_waits_as_draft(review) for review in reviews)
    await store.answered_by_person(run.conversation, by, silence=not draft, text=text)
    return "sent the draft for" if draft else "has taken over the conversation of"


def _waits_as_draft(review: Review) -> bool:
    waiting = Waiting.of(review.payload)
    return waiting is not None and waiting.kind is WaitKind.DRAFT


async def _shadow(store: Store, run: Run) -> Envelope | None:
    """The end of a run whose reply was not sent because of shadow mode; None for other runs."""
    if run.status is not RunStatus.DONE:
        return None
    records = await read_records(store, run.id)
    states = records.states
    outputs = states[-1].after.outputs.values() if states else ()
    watched = any(
        isinstance(output, dict) and (output.get("sent"), output.get("mode")) == (False, "shadow")
        for output in outputs
    )
    return states[-1].after if watched else None


async def _compare(trust: TrustStore, shadow: Envelope, text: str) -> None:
    """How far the reply that was only written is from the one that a person sent."""
    reply = shadow.output(REPLY)
    if not isinstance(reply, dict) or not text:
        return
    written = visible_reply(str(reply.get("text", "")))
    await trust.judge(
        Judgement(
            run_id=shadow.run_id,
            category=Understanding.of(shadow).topic or "",
            language=str(reply.get("language") or ""),
            mode="shadow",
            judged=Judged.COMPARED,
            share=share_changed(written, text),
            facts=changes_facts(written, text),
        )
    )
