"""Message files: an `.eml`, or JSON of a message or of a conversation's turns."""

import base64
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from deskhand.errors import ConfigError
from deskhand.mail.authentication import MailTrust, principal_of
from deskhand.mail.header_text import MOST_ADDRESSES
from deskhand.mail.limited_mail import read_mail_now
from deskhand.mail.long_text import within_length
from deskhand.model.attached_files import ANY_TYPE
from deskhand.model.contact import CUSTOMER_INFO_HEADER, CustomerInfo
from deskhand.model.ids import new_id
from deskhand.model.message import HANDED_BACK, Message, written_address
from deskhand.model.principal import ANONYMOUS, Principal, asserted

DEFAULT_LIMIT = 25_000_000
YAML_ENDINGS = (".yaml", ".yml")
CHAT = "chat"
"""The channel whose senders may be called by a handle instead of an address."""
_ADDRESS = re.compile(r"[^\s@<>,;]+@[^\s@<>,;]+")


class MessageInvalid(ValueError):
    """A field of a written message is missing or wrong."""

    def __init__(self, field: str, problem: str, where: str = "") -> None:
        super().__init__(where + problem)
        self.field, self.problem = field, problem


def read_messages(
    path: Path, *, max_bytes: int = DEFAULT_LIMIT, trust: MailTrust | None = None
) -> tuple[list[Message], bool]:
    """The messages of a file, and whether they are the turns of a conversation.

    With `trust` a mail's sender is judged as if it had come by a mailbox. Raises ConfigError for a
    file that is too large or cannot be read.
    """
    require_message_file(path)
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
    mail = read_mail_now(raw)
    if trust is not None:
        mail = mail.changed(principal=principal_of(mail, trust))
    return [mail], False


def require_message_file(path: Path) -> None:
    """Raises ConfigError for what is plainly no message: a folder, or YAML such as a desk.yaml."""
    if path.is_dir():
        kind = "folder"
        desk = path
    elif path.suffix.lower() in YAML_ENDINGS:
        kind = "YAML file"
        desk = path.parent
    else:
        return
    raise ConfigError(
        f"this is a {kind}, and a message is an .eml or a .json file",
        file=path,
        fix=f"name the message first and the desk with --desk, as in: MESSAGE.eml --desk {desk}",
    )


def message_from(
    data: Any, *, vouched_by: str | None = None, conversation: str | None = None, number: int = 1
) -> Message:
    """A message as people write it: `from` is an address, ids and times may be left out.

    `customer_id` (with `customer_tier` and `customer_info`) counts only when somebody vouches for
    it. Raises MessageInvalid where a field is missing or wrong.
    """
    if not isinstance(data, dict):
        raise MessageInvalid(
            "", f"a message is a mapping with `from` and `body`, not {type(data).__name__}"
        )
    fields = cast(dict[str, Any], _storable(data))
    if "principal" in fields:
        raise MessageInvalid(
            "principal", "who the sender is cannot be written into a message; write `customer_id`"
        )
    customer = fields.pop("customer_id", None)
    tier = fields.pop("customer_tier", None)
    info = fields.pop("customer_info", None)
    _spell_out_people(fields)
    _read_files(fields)
    if isinstance(headers := fields.get("headers"), dict):
        fields["headers"] = {str(name).lower(): value for name, value in headers.items()}
    _write_reply_to(fields)
    if fields["sender"] is None:
        raise MessageInvalid("from", "a message needs `from`")
    _require_address(fields)
    _fill_in(fields, conversation)
    try:
        message = within_length(Message.model_validate(fields))
        if vouched_by is None or customer is None:
            return message
        vouched = message.changed(principal=_vouched(customer, tier, message, vouched_by))
        return vouched if info is None else _described(vouched, info)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise MessageInvalid(where, first["msg"], f"message {number}, {where}: ") from None


def _spell_out_people(fields: dict[str, Any]) -> None:
    """Sender, recipients and copies in the form that `Message` takes: a bare string is an address.

    What has another shape stays as it is, for the validation to name.
    """
    written = fields.pop("from", None) or fields.pop("customer_address", None)
    fields.setdefault("sender", written)
    fields["sender"] = _spelled_out(fields["sender"])
    name = fields.pop("name", None)
    if name is not None and isinstance(fields["sender"], dict):
        fields["sender"] = {**fields["sender"], "name": name}
    for field in ("recipients", "cc"):
        people = fields.get(field) or []
        if isinstance(people, str | dict):
            people = [people]
        if isinstance(people, list):
            if len(people) > MOST_ADDRESSES:
                raise MessageInvalid(field, f"name at most {MOST_ADDRESSES:,} people")
            people = [_spelled_out(person) for person in people]
        fields[field] = people


def _read_files(fields: dict[str, Any]) -> None:
    """Files whose `content` is written as base64; what else has another shape is left to the
    validation, and what only we may say about a file is left out."""
    listed = fields.get("attachments")
    if not isinstance(listed, list):
        return
    fields["attachments"] = [_file(number, file) for number, file in enumerate(listed)]


def _file(number: int, file: Any) -> Any:
    if not isinstance(file, dict):
        return file
    fields = {name: value for name, value in file.items() if name not in ("digest", "not_kept")}
    written = fields.pop("content", None)
    if written is None:
        return fields
    try:
        content = base64.b64decode(written, validate=True)
    except (ValueError, TypeError):
        raise MessageInvalid(
            f"attachments.{number}.content", "write the file's bytes as base64"
        ) from None
    return {"type": ANY_TYPE, **fields, "content": content, "size": len(content)}


def _write_reply_to(fields: dict[str, Any]) -> None:
    """`reply_to` is the mail header of that name; one of another shape is for the validation."""
    asked = fields.pop("reply_to", None)
    if asked is None:
        return
    people = asked if isinstance(asked, list) else [asked]
    headers = fields.setdefault("headers", {})
    if not isinstance(headers, dict) or not all(isinstance(person, str) for person in people):
        raise MessageInvalid("reply_to", "write an address, or a list of addresses")
    headers["reply-to"] = ", ".join(people)


def _spelled_out(person: Any) -> Any:
    """Somebody as `Message` takes them; `Ann Reed <ann@example.com>` has a name and an address."""
    if not isinstance(person, str):
        return person
    read = written_address(person) if person.rstrip().endswith(">") else None
    if read is None or not read.name:
        return {"address": person.strip()}
    return {"address": read.address, "name": read.name}


def _require_address(fields: dict[str, Any]) -> None:
    """A sender on any channel but a chat is answered by mail, so it must be an address."""
    sender = fields["sender"]
    address = sender.get("address") if isinstance(sender, dict) else None
    if not isinstance(address, str) or fields.get("channel") in (CHAT, HANDED_BACK):
        return
    if not _ADDRESS.fullmatch(address):
        raise MessageInvalid(
            "from", f"`{address[:100]}` is not an address; write it as `ann@example.com`"
        )


def _fill_in(fields: dict[str, Any], conversation: str | None) -> None:
    """What may be left out: body, ids and the time. Nobody is vouched for yet."""
    fields.setdefault("body", fields.pop("text", ""))
    fields.setdefault("id", new_id("msg"))
    fields.setdefault("conversation", conversation or fields["id"])
    fields.setdefault("received_at", datetime.now(UTC))
    fields["principal"] = ANONYMOUS


def _vouched(customer: Any, tier: Any, message: Message, by: str) -> Principal:
    try:
        return asserted(customer, by=by, address=message.sender.address or None, tier=tier)
    except ValidationError as error:
        first = error.errors()[0]
        field = "customer_id" if first["loc"][0] == "customer_id" else "customer_tier"
        raise MessageInvalid(field, first["msg"]) from None


def _described(message: Message, info: Any) -> Message:
    """The message with what is said about its customer; MessageInvalid for what cannot be."""
    try:
        said = CustomerInfo.model_validate(info)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(("customer_info", *map(str, first["loc"])))
        raise MessageInvalid(where, first["msg"]) from None
    header = said.model_dump_json(exclude_none=True)
    return message.changed(headers={**message.headers, CUSTOMER_INFO_HEADER: header})


def _storable(value: Any) -> Any:
    """Half characters (an emoji cut in two) and NUL are replaced: no database takes them."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_storable(item) for item in value]
    return value


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
    common: dict[str, Any] = {}
    turns: Any = data if isinstance(data, list) else None
    if isinstance(data, dict):
        common = data
        turns = data.get("turns")
    try:
        if turns is None:
            return [message_from(data, vouched_by=path.name)], False
        if not isinstance(turns, list) or not turns:
            raise ValueError("`turns` is a list of at least one message")
        return _turns(common, turns, path.name), True
    except ValueError as error:
        raise ConfigError(
            str(error),
            file=path,
            fix='write {"from": "ann@example.com", "subject": "...", "body": "..."}',
        ) from None


def _turns(common: dict[str, Any], turns: list[Any], file: str) -> list[Message]:
    """The messages of a conversation; a turn that is a bare string is a body.

    Turns share the conversation's sender and subject unless they bring their own.
    """
    shared = {key: value for key, value in common.items() if key != "turns"}
    conversation = str(shared.pop("conversation", None) or new_id("conv"))
    shared.pop("id", None)
    messages: list[Message] = []
    for number, turn in enumerate(turns, 1):
        own = turn if isinstance(turn, dict) else {"body": str(turn)}
        message = message_from(
            {**shared, **own}, vouched_by=file, conversation=conversation, number=number
        )
        messages.append(message)
    return messages
