"""What makes reply texts wrong: names without files, files without a use, unknown languages."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from deskhand.config.reply_texts import FOLDER, ReplyFile
from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.sections.reply_text import ANY_LANGUAGE, NamedText
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlPlace

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
    for place, written in _written_texts(draft):
        if not isinstance(written, NamedText):
            continue
        used.add(written.text)
        if written.text not in draft.reply_files:
            create = f"create {FOLDER}/{written.text}.{first_language}.txt"
            fix = did_you_mean(written.text, draft.reply_files, otherwise=create)
            problem = f"there is no reply text `{written.text}`"
            yield ConfigFinding((*place, "text"), problem, fix)
    yield from _languages(draft)
    if not draft.is_damaged(("plans",)) and not draft.is_damaged(("reviews",)):
        yield from _unused(draft, used)


def _written_texts(draft: DeskDraft) -> Iterator[tuple[YamlPlace, Written]]:
    """Every place where a reply text may be written, with what is written there."""
    for name, plan in draft.desk.plans.items():
        place = ("plans", name)
        for slot, question in plan.ask.items():
            yield (*place, "ask", slot), question
        for index, reply in enumerate(plan.replies):
            yield (*place, "replies", index, "words"), reply.words
        yield (*place, "reply"), plan.reply
        yield (*place, "opening"), plan.opening
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
