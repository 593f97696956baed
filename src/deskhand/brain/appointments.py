"""What a message says about when, as far as the embedded brain understands it, and what became
of it in words."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from deskhand.brain.embedded_desk import EmbeddedDesk
from deskhand.brain.task_inputs import Fields, language_of, message_of, received_at, said_in
from deskhand.brain.times_in_words import day_in_words, in_words, offer
from deskhand.language.meeting_times import choose_offer, read_wish
from deskhand.mail.mail_phrases import mail_phrases
from deskhand.model.booking import OFFERED
from deskhand.model.tasks import Task
from deskhand.scheduling.invitations import CALENDAR_TYPES, Invitation
from deskhand.scheduling.limited_calendars import invitations_of
from deskhand.scheduling.slots import Wish

_ASKING = ("request", "cancel")


def wish_in(desk: EmbeddedDesk, task: Task) -> Fields:
    """`on`, `until`, `or_on`, `at`, `after`, `before` as far as they are said, and `moment`
    where it is one time."""
    invited = _invitation(desk, task)
    start = None if invited is None else invited.span.start.astimezone(ZoneInfo(desk.time_zone))
    wish = _wish(desk, task) if start is None else Wish(start.date(), start.time())
    parts: Fields = {"on": wish.day, "until": wish.until, "or_on": wish.or_day}
    parts |= {"at": wish.at, "after": wish.after, "before": wish.before}
    said: Fields = {name: _written(value) for name, value in parts.items() if value is not None}
    if invited is not None:
        # no `moment`: the time that an invitation names is answered by itself
        said["invitation"] = True
        if invited.method == "cancel":
            said["called_off"] = True
    elif wish.moment is not None:
        said["moment"] = True
    return said


def about_a_time(desk: EmbeddedDesk, task: Task) -> str | None:
    """Why the message is about an appointment, whatever else its words say."""
    if _invitation(desk, task) is not None:
        return "it brings an invitation"
    return "it takes a time that was offered" if _picked(desk, task) is not None else None


def _wish(desk: EmbeddedDesk, task: Task) -> Wish:
    picked = _picked(desk, task)
    if picked is not None:
        return Wish(picked.date(), picked.time())
    text = said_in(task)
    language, now = language_of(text, desk.languages).code, _received(desk, task)
    wish = read_wish(text, language, now)
    subject = str(message_of(task).get("subject") or "")
    if wish.says_something or mail_phrases().reply_subject.match(subject):
        return wish
    return read_wish(subject, language, now)


def _picked(desk: EmbeddedDesk, task: Task) -> datetime | None:
    zone = ZoneInfo(desk.time_zone)
    offered = [moment.astimezone(zone) for moment in _offered(task)]
    if not offered:
        return None
    text = said_in(task)
    return choose_offer(
        offered, text, language_of(text, desk.languages).code, _received(desk, task)
    )


def _invitation(desk: EmbeddedDesk, task: Task) -> Invitation | None:
    """The first invitation that came with the message, made or called off."""
    zone = ZoneInfo(desk.time_zone)
    attachments = message_of(task).get("attachments")
    texts: list[str] = []
    for attachment in attachments if isinstance(attachments, list) else ():
        if not isinstance(attachment, Mapping) or not attachment.get("text"):
            continue
        if str(attachment.get("type")).lower() in CALENDAR_TYPES:
            texts.append(str(attachment["text"]))
    invitations = invitations_of(texts, zone)
    return next((event for event in invitations if event.method in _ASKING), None)


def _offered(task: Task) -> list[datetime]:
    metadata = task.inputs.get("metadata")
    slots = metadata.get(OFFERED) if isinstance(metadata, Mapping) else None
    return _starts(slots) if isinstance(slots, list) else []


def _starts(slots: Sequence[Any]) -> list[datetime]:
    try:
        return [
            datetime.fromisoformat(str(slot["start"]))
            for slot in slots
            if isinstance(slot, Mapping)
        ]
    except (KeyError, ValueError):
        return []


def _received(desk: EmbeddedDesk, task: Task) -> datetime:
    return received_at(task).astimezone(ZoneInfo(desk.time_zone))


def _written(value: Any) -> str:
    return f"{value:%H:%M}" if isinstance(value, time) else str(value.isoformat())


# --- results in words


def with_times_in_words(results: Sequence[Fields], language: str) -> dict[str, Any]:
    """Returns data by tool, with times in words.

    `offer` holds the free times, `in_words` the one asked for, `missed` the one that is gone,
    `holiday` the day on which nobody is there.
    """
    failed = [result for result in results if result.get("status") != "success"]
    lost = {str((result.get("arguments") or {}).get("slot")) for result in failed}
    return {
        str(result.get("tool")): _data_in_words(result.get("data"), lost, language)
        for result in results
    }


def _data_in_words(data: Any, lost: set[str], language: str) -> Any:
    """What was asked for and could not be held is offered no more."""
    if not isinstance(data, Mapping):
        return data
    described = dict(data)
    if isinstance(slots := data.get("slots"), list):
        described["slots"] = [
            slot for slot in slots if not (isinstance(slot, Mapping) and slot.get("id") in lost)
        ]
    if times := offer(described, language):
        described["offer"] = times
    asked = data.get("asked") or (data.get("start") if "slots" not in data else None)
    if isinstance(asked, str) and (spoken := _spoken(asked, language)) is not None:
        described["in_words"] = spoken
        if data.get("wished", "free") != "free" or data.get("slot") in lost:
            described["missed"] = spoken
    if isinstance(holiday := data.get("holiday"), str):
        described["holiday"] = _spoken_day(holiday, language)
    if data.get("fitting") == 0:
        described["none_fits"] = True
    return described


def _spoken_day(day: str, language: str) -> str:
    try:
        return day_in_words(date.fromisoformat(day), language)
    except ValueError:
        return day


def _spoken(moment: str, language: str) -> str | None:
    try:
        return in_words(datetime.fromisoformat(moment), language)
    except ValueError:
        return None
