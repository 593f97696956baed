"""What makes reply texts wrong: names without files, files without a use, unknown languages."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from deskhand.config.reply_texts import FOLDER, ReplyFile
from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.sections.intents import IntentSection
from deskhand.config.sections.reply_text import ANY_LANGUAGE, NamedText
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlFile, YamlPlace

Written = str | Mapping[str, str] | NamedText | None


class TextInPlace(NamedTuple):
    """One text, and where it is written: in desk.yaml, or in a file of its own."""

    text: str
    place: YamlPlace
    file: ReplyFile | None = None

    def finding(self, piece: str, problem: str, fix: str) -> ConfigFinding:
        """A finding about this piece of the text."""
        if self.file is None:
            return ConfigFinding(self.place, problem, fix)
        return ConfigFinding(
            self.place, problem, fix, file=self.file.path, line=self.file.line_of(piece)
        )


def texts_at(draft: DeskDraft, place: YamlPlace, written: Written) -> Iterator[TextInPlace]:
    """Yields the texts that are meant at a place; none for a name without files."""
    if isinstance(written, NamedText):
        for file in draft.reply_files.get(written.text, {}).values():
            yield TextInPlace(file.text, place, file)
    elif isinstance(written, str):
        yield TextInPlace(written, place)
    elif written is not None:
        for language, text in written.items():
            yield TextInPlace(text, (*place, language))


def reply_text_findings(draft: DeskDraft) -> ConfigFindings:
    used: set[str] = set()
    first_language = draft.desk.languages[0].partition("-")[0]
    for source, place, written in _written_texts(draft):
        if not isinstance(written, NamedText):
            continue
        used.add(written.text)
        if written.text not in draft.reply_files:
            create = f"create {FOLDER}/{written.text}.{first_language}.txt"
            fix = did_you_mean(written.text, draft.reply_files, otherwise=create)
            problem = f"there is no reply text `{written.text}`"
            here = (*place, "text")
            finding = ConfigFinding(here, problem, fix)
            if source is not draft.source:
                finding = finding._replace(file=source.path, line=source.line(here))
            yield finding
    yield from _languages(draft)
    if not draft.is_damaged(("plans",)) and not draft.is_damaged(("reviews",)):
        yield from _unused(draft, used)


def _written_texts(draft: DeskDraft) -> Iterator[tuple[YamlFile, YamlPlace, Written]]:
    """Every place where a reply text may be written, with its file and what is written there."""
    for place, written in _in_desk_file(draft):
        yield draft.source, place, written
    for file in draft.intents:
        for name, intent in file.section.intents.items():
            for place, written in _in_intent(("intents", name), intent):
                yield file.source, place, written


def _in_intent(place: YamlPlace, intent: IntentSection) -> Iterator[tuple[YamlPlace, Written]]:
    for kind in ("required", "optional"):
        slots = getattr(intent.slots, kind)
        for name in slots if isinstance(slots, Mapping) else ():
            for key in ("ask", "expects", "why"):
                yield (*place, "slots", kind, name, key), getattr(slots[name], key)
    for index, reply in enumerate(intent.replies):
        yield (*place, "replies", index, "words"), reply.words
    for key in ("reply", "opening", "pre", "post"):
        yield (*place, key), getattr(intent, key)


def _in_desk_file(draft: DeskDraft) -> Iterator[tuple[YamlPlace, Written]]:
    for name, plan in draft.desk.plans.items():
        place = ("plans", name)
        for slot, question in plan.ask.items():
            yield (*place, "ask", slot), question
        for index, reply in enumerate(plan.replies):
            yield (*place, "replies", index, "words"), reply.words
        yield (*place, "reply"), plan.reply
        yield (*place, "opening"), plan.opening
        yield (*place, "pre"), plan.pre
        yield (*place, "post"), plan.post
    for name, canned in draft.desk.reviews.canned.items():
        yield ("reviews", "canned", name), canned


def _languages(draft: DeskDraft) -> ConfigFindings:
    """Files in a language that the desk does not answer in: nobody would ever read them."""
    languages = [language.partition("-")[0] for language in draft.desk.languages]
    for by_language in draft.reply_files.values():
        for language, file in by_language.items():
            if language not in (ANY_LANGUAGE, *languages):
                otherwise = f"add `{language}` to `languages`"
                fix = did_you_mean(language, languages, otherwise=otherwise)
                problem = f"the desk does not answer in the language `{language}`"
                yield ConfigFinding((), problem, fix, file=file.path, line=1)


def _unused(draft: DeskDraft, used: set[str]) -> ConfigFindings:
    for name, by_language in draft.reply_files.items():
        if name not in used:
            for file in by_language.values():
                problem = f"nothing in desk.yaml uses the reply text `{name}`"
                fix = f"write `{{text: {name}}}` where it is to be said, or delete the file"
                yield ConfigFinding((), problem, fix, file=file.path, line=1)
