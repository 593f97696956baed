"""Message files: an `.eml`, or JSON of a message or of a conversation's turns."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from deskhand.errors import ConfigError
from deskhand.mail.authentication import MailTrust, principal_of
from deskhand.mail.message_parser import parse
from deskhand.model.ids import new_id
from deskhand.model.message import Message
from deskhand.model.principal import ANONYMOUS, Principal, asserted

DEFAULT_LIMIT = 25_000_000


class MessageInvalid(ValueError):
    """A field of a written message is missing or wrong."""

    def __init__(self, field: str, problem: str, where: str = "") -> None:
        super().__init__(where + problem)
        self.field, self.problem = field, problem


def read_messages(
    path: Path, *, max_bytes: int = DEFAULT_LIMIT, trust: MailTrust | None = None
) -> tuple[list[Message], bool]:
    """The messages of a file, and whether it holds a conversation (several turns) rather than one
    message.

    With `trust` a mail is from whom it would be from if it came by a mailbox.
    """
    try:
        size = path.stat().st_size
        if size > max_bytes:
            raise ConfigError(
                f"{size:,} bytes are more than the desk takes ({max_bytes:,})",
                file=path,
                fix="raise limits.max_message_bytes",
            )
        raw = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"cannot be read: {error.strerror}", file=path, fix="check the path"
        ) from None
    if path.suffix.lower() == ".json":
        return _from_json(raw, path)
    mail = parse(raw)
    return [mail if trust is None else mail.changed(principal=principal_of(mail, trust))], False


def message_from(
    data: Any, *, vouched_by: str | None = None, conversation: str | None = None, number: int = 1
) -> Message:
    """A message as people write it: `from` is an address, ids and times may be left out;
    MessageInvalid otherwise.

    `customer_id` (with `customer_tier`) counts only when somebody vouches for it.
    """
    if not isinstance(data, dict):
        raise MessageInvalid(
            "", f"a message is a mapping with `from` and `body`, not {type(data).__name__}"
        )
    known = cast(dict[str, Any], _storable(data))
    if "principal" in known:
        raise MessageInvalid(
            "principal", "who the sender is cannot be written into a message; write `customer_id`"
        )
    customer, tier = known.pop("customer_id", None), known.pop("customer_tier", None)
    known.setdefault("sender", known.pop("from", None) or known.pop("customer_address", None))
    if isinstance(known["sender"], str):
        known["sender"] = {"address": known["sender"]}
    for field in ("recipients", "cc"):
        written = known.get(field) or []
        several = [written] if isinstance(written, str | dict) else written
        if isinstance(several, list):
            several = [{"address": one} if isinstance(one, str) else one for one in several]
        known[field] = several
    if isinstance(headers := known.get("headers"), dict):
        known["headers"] = {str(name).lower(): value for name, value in headers.items()}
    if known["sender"] is None:
        raise MessageInvalid("from", "a message needs `from`")
    known.setdefault("body", known.pop("text", ""))
    known.setdefault("id", new_id("msg"))
    known.setdefault("conversation", conversation or known["id"])
    known.setdefault("received_at", datetime.now(UTC))
    try:
        known["principal"] = ANONYMOUS
        message = Message.model_validate(known)
        if vouched_by is None or customer is None:
            return message
        return message.changed(principal=_vouched(customer, tier, message, vouched_by))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise MessageInvalid(where, first["msg"], f"message {number}, {where}: ") from None


def _vouched(customer: Any, tier: Any, message: Message, by: str) -> Principal:
    try:
        return asserted(customer, by=by, address=message.sender.address or None, tier=tier)
    except ValidationError as error:
        field = f"customer_{'id' if error.errors()[0]['loc'][0] == 'customer_id' else 'tier'}"
        raise MessageInvalid(field, error.errors()[0]["msg"]) from None


def _storable(value: Any) -> Any:
    """Half characters (an emoji cut in two) and NUL are replaced: no database takes them."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    return [_storable(item) for item in value] if isinstance(value, list) else value


def _from_json(raw: bytes, path: Path) -> tuple[list[Message], bool]:
    try:
        data = json.loads(raw)
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"not UTF-8 at byte {error.start}", file=path, fix="save the file as UTF-8"
        ) from None
    except RecursionError:
        raise ConfigError("nested too deeply", file=path, fix="write one message object") from None
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise ConfigError(
            f"not JSON: {error}", file=path, line=line, fix="write one message object"
        ) from None
    turns = (
        data.get("turns") if isinstance(data, dict) else data if isinstance(data, list) else None
    )
    try:
        if turns is None:
            return [message_from(data, vouched_by=path.name)], False
        if not isinstance(turns, list) or not turns:
            raise ValueError("`turns` is a list of at least one message")
        return _turns(data if isinstance(data, dict) else {}, turns, path.name), True
    except ValueError as error:
        raise ConfigError(
            str(error),
            file=path,
            fix='write {"from": "ann@example.com", "subject": "...", "body": "..."}',
        ) from None


def _turns(common: dict[str, Any], turns: list[Any], file: str) -> list[Message]:
    """Turns share the conversation's sender and subject unless they bring their own; a bare
    string is a body."""
    shared = {key: value for key, value in common.items() if key != "turns"}
    conversation = str(shared.pop("conversation", None) or new_id("conv"))
    shared.pop("id", None)
    return [
        message_from(
            {**shared, **(turn if isinstance(turn, dict) else {"body": str(turn)})},
            vouched_by=file,
            conversation=conversation,
            number=n,
        )
        for n, turn in enumerate(turns, 1)
    ]
