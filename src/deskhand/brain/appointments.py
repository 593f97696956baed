"""What a message says about when, as far as the embedded brain understands it, and what became
of it in words."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from deskhand.brain.embedded_desk import EmbeddedDesk
from deskhand.brain.task_inputs import Fields, language_of, message_of, received_at, said_in
from deskhand.brain.times_in_words import day_in_words, in_words, offer
from deskhand.mail.mail_phrases import mail_phrases
from deskhand.model.booking import OFFERED, Span
from deskhand.model.tasks import Task
from deskhand.scheduling.invitations import CALENDAR_TYPES, Invitation
from deskhand.scheduling.limited_calendars import invitations_of
from deskhand.scheduling.slots import read_slot_id
from deskhand.scheduling.wishes import Wish

_ASKING = ("request", "cancel")
_SHORTEST = 5
_CHANGES = {
    "move": "an agreed appointment is to be moved: whoever would have been there must know",
    "cancel": "an agreed appointment is to be cancelled: whoever would have been there must know",
}


def wish_in(desk: EmbeddedDesk, task: Task) -> Fields:
    """What is said about when, as far as it is said: `on`, `until`, `or_on`, `at`, `after`,
    `before`, or `within` where these cannot say it; `moment` where it is one time.

    `change` is set where an agreed appointment is moved or cancelled, `person` where the words
    were not understood or a person has to know: it says why.
    """
    invited = _invitation(desk, task)
    start = None if invited is None else invited.span.start.astimezone(ZoneInfo(desk.time_zone))
    wish = _wish(desk, task) if start is None else Wish(start.date(), start.time())
    said = _said(wish)
    if invited is not None:
        # no `moment`: the time that an invitation names is answered by itself
        said["invitation"] = True
        if invited.method == "cancel":
            said["called_off"] = True
    elif wish.change is not None:
        said |= _change(wish)
    elif wish.moment is not None and not wish.unclear:
        said["moment"] = True
    if wish.unclear:
        words = ", ".join(f"“{words}”" for words in wish.unclear)
        said["person"] = f"not all that is said about times was understood: {words}"
    return said


def _said(wish: Wish) -> Fields:
    parts: Fields = {"on": wish.day, "until": wish.until, "or_on": wish.or_day}
    parts |= {"at": wish.at, "after": wish.after, "before": wish.before}
    said: Fields = {name: _written(value) for name, value in parts.items() if value is not None}
    if wish.windows:
        said["within"] = [window.written() for window in wish.windows]
    if wish.minutes is not None:
        said["minutes"] = max(wish.minutes, _SHORTEST)
    if wish.zone is not None:
        said["zone"] = wish.zone
    return said


def _change(wish: Wish) -> Fields:
    said: Fields = {"change": wish.change, "person": _CHANGES[str(wish.change)]}
    if wish.old is not None:
        day, clock = wish.old
        said["old_on"] = _written(day)
        if clock is not None:
            said["old_at"] = _written(clock)
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
    from deskhand.language.meeting_times import read_wish

    text = said_in(task)
    language, now = language_of(text, desk.languages).code, _received(desk, task)
    subject = str(message_of(task).get("subject") or "").strip()
    if mail_phrases().reply_subject.match(subject):
        return read_wish(text, language, now, beside=f"{subject}\n{task.text}")
    whole = f"{subject.rstrip('.!?')}.\n\n{text}" if subject else text
    return read_wish(whole, language, now, beside=subject)


def _picked(desk: EmbeddedDesk, task: Task) -> datetime | None:
    zone = ZoneInfo(desk.time_zone)
    offered = [moment.astimezone(zone) for moment in _offered(task)]
    if not offered:
        return None
    from deskhand.language.meeting_times import choose_offer

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

    `offer` holds the free times, `in_words` the one asked for, `free` the same where it is free,
    `missed` where it is gone, `agreed` what an appointment is about to be moved from, `holiday` the
    day on which nobody is there.
    """
    lost = list(_lost(results))
    return {
        str(result.get("tool")): _data_in_words(result.get("data"), lost, language)
        for result in results
    }


def _lost(results: Sequence[Fields]) -> Iterator[Span]:
    """The times that somebody else had by the time they were to be held."""
    for result in results:
        arguments = result.get("arguments") or {}
        if result.get("status") != "success":
            span = read_slot_id(str(arguments.get("slot")))
            if span is not None:
                yield span
            continue
        data = result.get("data")
        if isinstance(data, Mapping) and data.get("declined"):
            yield from _spans([data])


def _spans(slots: Sequence[Any]) -> Iterator[Span]:
    for slot in slots:
        try:
            moments = [datetime.fromisoformat(str(slot[name])) for name in ("start", "end")]
        except (KeyError, ValueError, TypeError):
            continue
        yield Span(*moments)


def _data_in_words(data: Any, lost: Sequence[Span], language: str) -> Any:
    """What was asked for and could not be held is offered no more."""
    if not isinstance(data, Mapping):
        return data
    described = dict(data)
    if isinstance(slots := data.get("slots"), list):
        described["slots"] = [slot for slot in slots if not _is_lost(slot, lost)]
    if times := offer(described, language):
        described["offer"] = times
    asked = data.get("asked") or (data.get("start") if "slots" not in data else None)
    if isinstance(asked, str) and (spoken := _spoken(asked, language)) is not None:
        gone = data.get("wished", "free") != "free" or _is_lost(_asked_slot(data), lost)
        described |= {"in_words": spoken, "missed" if gone else "free": spoken}
    if data.get("change"):
        described["agreed"] = described.get("in_words") or _day_named(data, language)
    if isinstance(holiday := data.get("holiday"), str):
        described["holiday"] = _day_named({"date": holiday}, language)
    if data.get("fitting") == 0:
        described["none_fits"] = True
    return described


def _asked_slot(data: Mapping[str, Any]) -> Any:
    span = read_slot_id(str(data.get("slot")))
    return None if span is None else {"start": span.start, "end": span.end}


def _is_lost(slot: Any, lost: Sequence[Span]) -> bool:
    return any(span.overlaps(gone) for span in _spans([slot]) for gone in lost)


def _day_named(data: Mapping[str, Any], language: str) -> str:
    """The day of an appointment; a question mark where a person has to find out."""
    try:
        return day_in_words(date.fromisoformat(str(data.get("date"))), language)
    except ValueError:
        return "?"


def _spoken(moment: str, language: str) -> str | None:
    try:
        return in_words(datetime.fromisoformat(moment), language)
    except ValueError:
        return None
