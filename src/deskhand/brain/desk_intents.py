"""What a desk's messages want, by its own examples."""

import logging
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from deskhand.config.desk import DeskSpec
from deskhand.language.intent_examples import IntentExamples, load_intents
from deskhand.mail.reply import visible_reply
from deskhand.model.message import Message

if TYPE_CHECKING:
    from deskhand.brain.embedded_desk import IntentPredictor

log = logging.getLogger("deskhand.brain")


def learned_intents(spec: DeskSpec, intents: IntentExamples) -> "IntentPredictor | None":
    """What the desk's examples teach, from the cache where they were read before; None without
    examples."""
    from deskhand.language.intents import IntentModel
    from deskhand.private_files import cache_folder

    if not intents.examples:
        return None
    log.info("%s: reading %d examples", spec.name, len(intents.examples))
    return IntentModel.fit_cached(
        intents.examples,
        cache_folder(),
        spec.brain.error_budget,
        out_of_scope=intents.out_of_scope,
        descriptions=intents.descriptions,
    )


def intent_reader(spec: DeskSpec) -> Callable[[Message], str | None]:
    """Finds a message's intent by the desk's examples, which are learned when it is first asked.

    What it returns is None where no intent fits, or where the desk has no examples.
    """

    in_text = text_intent_reader(spec)

    def intent_of(message: Message) -> str | None:
        return in_text(f"{message.subject}\n{visible_reply(message.body)}".strip())

    return intent_of


def text_intent_reader(spec: DeskSpec) -> Callable[[str], str | None]:
    """As `intent_reader`, for a text."""

    @cache
    def intents() -> "IntentPredictor | None":
        return learned_intents(spec, load_intents(spec.folder))

    def intent_of(text: str) -> str | None:
        model = intents()
        if model is None or not text:
            return None
        return model.predict([text])[0].label

    return intent_of
