"""Routing a message: within its limits, by the desk's rules, read by the preprocessor they name."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from deskhand.config.desk import DeskSpec
from deskhand.config.without_model import stand_ins
from deskhand.mail.attachment_limits import within_limits
from deskhand.mail.preprocess import Preprocess, prepared_by
from deskhand.mail.reply_addresses import reply_addresses
from deskhand.model.message import UNCHANGED, Message, Route
from deskhand.routing.message_router import MessageRouter


@dataclass(frozen=True, slots=True)
class RoutingStep:
    """Gives each message its route, the text that its route's preprocessor makes of it, and the
    addresses that its answer goes to."""

    spec: DeskSpec
    router: MessageRouter
    preprocessors: Mapping[str, Preprocess]
    """Those that the desk's own code brings."""

    async def __call__(self, message: Message) -> Message:
        message = within_limits(message, self.spec.limits)
        route = await self._decide(message)
        preprocessor = route.preprocess
        profile = self.spec.profiles.get(route.profile or "")
        if not preprocessor and profile is not None:
            preprocessor = profile.preprocess
        routed = message.changed(route=route.changed(preprocess=preprocessor), prepared=None)
        if preprocessor is not None and preprocessor != UNCHANGED:
            routed = await prepared_by(routed, preprocessor, self.preprocessors)
        goes_to = reply_addresses(routed, self.spec.mail_trust)
        return routed.changed(reply_addresses=goes_to)

    async def _decide(self, message: Message) -> Route:
        """Rules that read the message work in a thread: reading takes a while."""
        if self.router.reads:
            return await asyncio.to_thread(self.router.route, message)
        return self.router.route(message)


def stand_ins_for(spec: DeskSpec, agents_at_work: bool | None) -> Mapping[str, str]:
    """The flows that work in place of a desk's agents, by the flow they stand in for.

    None leaves it to whether the agents have a model to ask.
    """
    if agents_at_work is None:
        return spec.stand_ins
    if agents_at_work:
        return {}
    return stand_ins(spec, dict.fromkeys(spec.profiles, ""))
