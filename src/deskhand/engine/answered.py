"""A person answered a customer from a mail program: what that ends, and what it says about the desk's own reply."""

from deskhand.agents.sending import DRAFT, SHADOWED, category_of
from deskhand.engine.story import read_records
from deskhand.mail.reply import visible_reply
from deskhand.model.judgement import Judged, Judgement
from deskhand.model.message import REPLY
from deskhand.model.run import ReviewState, Run, RunStatus
from deskhand.ports import Store, TrustStore
from deskhand.trust.difference import changes_facts, share_changed


async def person_answered(store: Store, trust: TrustStore, run: Run, by: str, body: str) -> str:
    """Withdraw what waits, compare what was written in shadow; returns in words what the person did.

    Whoever sends a draft of ours, or answers beside a desk that only watches, takes nothing over.
    """
    text = visible_reply(body)
    if run.status is RunStatus.DONE and run.reason == SHADOWED:
        await _compare(store, trust, run, text)
        await store.answered_by_person(run.conversation, by, silence=False, text=text)
        return "has answered beside the shadow of"
    reviews = await store.reviews(run_id=run.id, state=ReviewState.OPEN)
    draft = any(review.payload.get("waits") == DRAFT for review in reviews)
    await store.answered_by_person(run.conversation, by, silence=not draft, text=text)
    return "sent the draft for" if draft else "has taken over the conversation of"


async def _compare(store: Store, trust: TrustStore, run: Run, text: str) -> None:
    """How far the reply that was only written is from the one that a person sent."""
    told = (await read_records(store, run.id)).states
    reply = told[-1].after.output(REPLY) if told else None
    if not isinstance(reply, dict) or not text:
        return
    written = visible_reply(str(reply.get("text", "")))
    await trust.judge(
        Judgement(
            run_id=run.id,
            category=str(category_of(told[-1].after).get("category") or ""),
            language=str(reply.get("language") or ""),
            mode="shadow",
            judged=Judged.COMPARED,
            share=share_changed(written, text),
            facts=changes_facts(written, text),
        )
    )
