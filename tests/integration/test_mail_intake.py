"""What a mailbox hands in: the sender proven, the conversation found, the way chosen, all before
a run begins."""

from pathlib import Path

from deskhand.mail import parse
from deskhand.model.message import Message
from deskhand.model.principal import PrincipalKind
from deskhand.model.run import Accepted
from deskhand.wiring import desk_intake, flow_of, open_database, open_store, read_desk, routed_by

DESK = """desk: shop
flows:
  inbox: {stages: {a: {task: summarise}}}
  teapots: {stages: {a: {task: summarise}}}
default_flow: inbox
mail: {trusted_servers: [mx.shop.example]}
routing:
  rules:
    - {name: teapots, match: {subject_contains: teapot}, flow: teapots}
"""
VOUCHED = "mx.shop.example; dmarc=pass header.from=example.com"


def mail(
    number: int,
    *,
    sender: str = "ann@example.com",
    results: str = VOUCHED,
    refers: str = "<none@x.cz>",
) -> bytes:
    return (
        f"Authentication-Results: {results}\r\nFrom: {sender}\r\nSubject: Teapot\r\n"
        f"Message-ID: <{number}@example.com>\r\nReferences: {refers}\r\n\r\nHello {number}"
    ).encode()


async def test_mail_is_proven_placed_and_routed(tmp_path: Path) -> None:
    (tmp_path / "desk.yaml").write_text(DESK)
    loaded = read_desk(str(tmp_path))
    spec = loaded.spec
    async with open_database(str(tmp_path / "mail.db")) as database:
        store = open_store(database, spec.name)
        routed, flow = routed_by(loaded), flow_of(spec)

        async def submit(message: Message) -> Accepted:
            message = await routed(message)
            return await store.accept(message, flow=flow(message))

        hand_in = desk_intake(spec, store, submit)
        runs = [
            await store.run((await hand_in(parse(raw))).run_id)
            for raw in (
                mail(1),
                mail(2, refers="<1@example.com>"),
                mail(3, refers="<1@example.com>", results="mx.shop.example; none"),
                mail(4, refers="<1@example.com>", sender="eve@evil.example", results=VOUCHED),
                mail(1),
            )
        ]
        first = await store.message(runs[0].id)
        forged = await store.message(runs[2].id)
    assert first is not None
    assert forged is not None
    assert (first.principal.kind, first.principal.address) == (
        PrincipalKind.SENDER,
        "ann@example.com",
    )
    assert forged.principal.kind is PrincipalKind.ANONYMOUS
    assert runs[1].conversation == runs[0].conversation
    assert len({run.conversation for run in runs}) == 3, (
        "the forger and the stranger each have their own"
    )
    assert runs[4].id == runs[0].id, "the same mail again is the same run"
    assert {run.flow for run in runs} == {"teapots"}
    assert first.route is not None
    assert first.route.rule == "teapots"
