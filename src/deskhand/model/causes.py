"""Why something waits for a person, as one of a fixed list: what a queue is filtered by and an
eval compares."""

from collections.abc import Iterable, Mapping
from enum import IntEnum, StrEnum

from deskhand.model.codes import ErrorCode


class Cause(StrEnum):
    """Words for people stand in a review's `reason`; these never change."""

    # about a reply
    EVERY_REPLY = "every_reply"
    """The desk has not said which replies are sure enough."""
    BELOW_THRESHOLD = "below_threshold"
    ALWAYS_ASK = "always_ask"
    """A person must approve every reply in this category, such as a complaint."""
    FIRST_CONTACT = "first_contact"
    TO_A_MACHINE = "to_a_machine"
    """The message says things that are meant for no person, as `ignore your rules`."""
    CONCERN = "concern"
    """The message holds what the desk gives to people, such as a threat, in whatever words."""
    NO_ANSWER = "no_answer"
    """The brain says itself that it has none."""
    WITHOUT_LLM = "without_llm"
    """The model that should have answered could not be had."""
    UNBACKED_PROMISE = "unbacked_promise"
    UNBACKED_CLAIM = "unbacked_claim"
    """A model states what nothing quoted says, or speaks of what only people answer."""
    OUTGOING_CONTENT = "outgoing_content"
    """The reply names a host, an address, an account or a secret that it should not."""
    RECIPIENT = "recipient"
    """The reply would go to an address that nobody has proven to be the sender's."""
    MODE = "mode"
    """The desk keeps replies of this category for a person to send."""
    SPOT_CHECK = "spot_check"
    """It could have left by itself: one of those a person looks at to see how good they are."""
    ON_REQUEST = "on_request"
    """Older mail that somebody handed in later."""
    PACE = "pace"
    """Many replies have left lately: two machines may be talking to each other."""
    UNDO_WINDOW = "undo_window"
    """It leaves by itself unless somebody stops it."""
    HELD_BACK = "held_back"
    """Somebody stopped it."""
    DELIVERY = "delivery"
    """It could not be delivered yet."""
    # about a tool call
    GATE_HOLD = "gate_hold"
    BUDGET = "budget"
    """A cap on money, calls, messages or model spend is reached."""
    STOPPED = "stopped"
    # about a run
    EMERGENCY = "emergency"
    """Somebody may be in danger: before everything else."""
    ESCALATED = "escalated"
    """A stage, a tool or a rule gives it to a person."""
    REVISIONS = "revisions"
    """It was drafted again as often as it may."""
    STEP_LIMIT = "step_limit"
    TAKEN_OVER = "taken_over"
    AUTOMATIC = "automatic"
    """A program may have written the message."""
    ANSWERED_BEFORE = "answered_before"
    """The mailbox shows an answer that the database does not know: a backup was restored, say."""
    BOUNCED = "bounced"
    EFFECT_UNKNOWN = "effect_unknown"
    """Nobody knows whether something happened."""
    MODEL_AWAY = "model_away"
    """The model could not be reached for as long as the desk waits for it."""
    EXPIRED = "expired"
    """Nobody decided in time."""
    ANSWER_OWED = "answer_owed"
    """The customer was told that somebody will answer."""
    ERROR = "error"


RED = frozenset(
    {
        Cause.TO_A_MACHINE,
        Cause.UNBACKED_PROMISE,
        Cause.UNBACKED_CLAIM,
        Cause.OUTGOING_CONTENT,
        Cause.RECIPIENT,
        Cause.EFFECT_UNKNOWN,
        Cause.BOUNCED,
        Cause.ERROR,
    }
)
"""Something is wrong, or may be: look closely."""
QUIET = frozenset(
    {Cause.MODE, Cause.EVERY_REPLY, Cause.SPOT_CHECK, Cause.ON_REQUEST, Cause.UNDO_WINDOW}
)
"""Nothing is wrong: the desk's settings alone have a person look."""


class Rank(IntEnum):
    """How dangerous an open review is, the most dangerous first: the order of the queue."""

    EMERGENCY = 0
    DANGER = 1
    DOUBT = 2
    ACTION = 3
    """A tool call that a person allows."""
    ROUTINE = 4
    """Only the desk's settings keep the reply."""


def rank_of(causes: Iterable[Cause], *, action: bool) -> Rank:
    """Where a review with these causes stands; a review without any is looked at closely."""
    distinct = set(causes)
    if Cause.EMERGENCY in distinct:
        return Rank.EMERGENCY
    if action:
        return Rank.ACTION
    if distinct & RED:
        return Rank.DANGER
    return Rank.ROUTINE if distinct and distinct <= QUIET else Rank.DOUBT


_OF_ERRORS: Mapping[str, Cause] = {
    ErrorCode.HOP_LIMIT: Cause.STEP_LIMIT,
    ErrorCode.LOOP_LIMIT: Cause.STEP_LIMIT,
    ErrorCode.TAKEN_OVER: Cause.TAKEN_OVER,
    ErrorCode.AUTOMATIC_MAIL: Cause.AUTOMATIC,
    ErrorCode.REPLY_BOUNCED: Cause.BOUNCED,
    ErrorCode.TOO_MANY_REPLIES: Cause.PACE,
    ErrorCode.ANSWERED_BEFORE: Cause.ANSWERED_BEFORE,
    ErrorCode.PERSON_WANTED: Cause.ESCALATED,
    ErrorCode.EFFECT_UNKNOWN: Cause.EFFECT_UNKNOWN,
    ErrorCode.MODEL_UNAVAILABLE: Cause.MODEL_AWAY,
}
_OF_RULES = {
    "always_ask": Cause.ALWAYS_ASK,
    "outgoing_content": Cause.OUTGOING_CONTENT,
    "unbacked_commitment": Cause.UNBACKED_PROMISE,
    "unbacked_claim": Cause.UNBACKED_CLAIM,
    "subject_for_people": Cause.UNBACKED_CLAIM,
    "writer_doubts": Cause.NO_ANSWER,
    "over_cap": Cause.BUDGET,
    "stopped": Cause.STOPPED,
    "earlier_outcome_unknown": Cause.EFFECT_UNKNOWN,
}


def cause_of_error(code: str | None) -> Cause:
    """Why a person gets a run that ended with this error; None means somebody asked for one."""
    return Cause.ESCALATED if code is None else _OF_ERRORS.get(code, Cause.ERROR)


def cause_of_rule(rule: str) -> Cause:
    """Why a call that this rule of the gate holds waits for a person."""
    return _OF_RULES.get(rule, Cause.GATE_HOLD)


def each_once(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    return tuple(dict.fromkeys(causes))


def words_by_cause(reasons: Iterable[tuple[Cause, str]]) -> dict[Cause, str]:
    """Each cause once, in this order, with all that is said about it."""
    sentences: dict[Cause, list[str]] = {}
    for cause, words in reasons:
        sentences.setdefault(cause, []).append(words)
    return {cause: "; ".join(words) for cause, words in sentences.items()}
