"""What every mail passes before it becomes a run: whose it is, and which conversation it joins."""

from collections.abc import Awaitable, Callable

from deskhand.mail.authentication import MailTrust, principal_of
from deskhand.mail.automatic import automatic
from deskhand.mail.threads import placed
from deskhand.model.message import Message
from deskhand.model.run import Accepted
from deskhand.ports import Threads

Submit = Callable[[Message], Awaitable[Accepted]]

_LONGEST_CONVERSATION = 1000


def mail_intake(trust: MailTrust, threads: Threads, submit: Submit) -> Submit:
    """What a mailbox hands its mail to; `submit` gets the mail with sender and conversation set.

    Mail that a program sent gets a conversation of its own: it must neither answer nor outdate
    anything in another.
    """

    async def hand_in(message: Message) -> Accepted:
        principal = principal_of(message, trust)
        mail = await placed(message.model_copy(update={"principal": principal}), threads)
        if automatic(mail, trust.own, trust.forwarders) is not None:
            alone = f"automatic:{mail.id}"[:_LONGEST_CONVERSATION]
            mail = mail.model_copy(update={"conversation": alone})
        return await submit(mail)

    return hand_in
