"""Reply texts in files of their own: `replies/NAME.LANGUAGE.txt` beside desk.yaml."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from deskhand.config.desk import DESK_FILE, DeskSpec, load_desk
from deskhand.errors import ConfigError, ConfigErrors
from deskhand.wiring import find_desk, read_desk
from tests.shared_schema import shared_schema

DESK = """\
desk: shop
languages: [en, cs]
flows:
  main:
    stages:
      classify: {task: classify, categories: [question], next: carry}
      carry: {tools: [find_order]}
plans:
  question:
    steps: [{tool: find_order}]
    reply: {text: status}
"""
STATUS = {
    "status.en.txt": "Your order is {results.find_order.status}.\n\nWrite to us.\n",
    "status.cs.txt": "Vaše objednávka: {results.find_order.status}.\n",
}


def load(folder: Path, texts: Mapping[str, str], desk: str = DESK) -> DeskSpec:
    (folder / DESK_FILE).write_text(desk, encoding="utf-8")
    (folder / "replies").mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / "replies" / name).write_text(text, encoding="utf-8")
    return load_desk(folder, tools={"find_order"})


def refused(folder: Path, texts: Mapping[str, str], desk: str = DESK) -> list[ConfigError]:
    with pytest.raises(ConfigErrors) as caught:
        load(folder, texts, desk)
    return caught.value.problems


def test_a_text_is_read_from_its_files_by_language(tmp_path: Path) -> None:
    plan = load(tmp_path, STATUS).plans["question"]
    assert plan.reply == {
        "en": "Your order is {results.find_order.status}.\n\nWrite to us.",
        "cs": "Vaše objednávka: {results.find_order.status}.",
    }
    assert list(plan.reply) == ["en", "cs"], "in the order of the desk's languages"


def test_a_file_without_a_language_is_for_all(tmp_path: Path) -> None:
    assert load(tmp_path, {"status.txt": "On its way."}).plans["question"].reply == {
        "": "On its way."
    }


def test_every_text_of_a_desk_may_lie_in_files(tmp_path: Path) -> None:
    desk = DESK.replace("    reply: {text: status}\n", "") + (
        "    needs: [order]\n"
        "    ask: {order: {text: which}}\n"
        "    replies: [{given: results.find_order.lost, words: {text: lost}}]\n"
        "    opening: {text: hello}\n"
        "slots: {order: {type: order_number}}\n"
        "reviews: {canned: {thanks: {text: thanks}}}\n"
    )
    names = ("which", "lost", "hello", "thanks")
    spec = load(tmp_path, {f"{name}.txt": f"The text {name}." for name in names}, desk)
    plan = spec.plans["question"]
    assert plan.ask == {"order": {"": "The text which."}}
    assert plan.replies == (("results.find_order.lost", {"": "The text lost."}),)
    assert plan.opening == {"": "The text hello."}
    assert spec.reviews.canned == {"thanks": {"": "The text thanks."}}


def test_a_text_without_files_is_told_where_it_is_named(tmp_path: Path) -> None:
    [missing, unused] = refused(tmp_path, {"state.en.txt": "Lost."})
    assert (missing.file, missing.line) == (tmp_path / DESK_FILE, 11)
    assert missing.problem == "there is no reply text `status`"
    assert missing.fix == "did you mean `state`?"
    assert unused.file == tmp_path / "replies" / "state.en.txt"


def test_a_desk_that_names_its_first_text_is_told_which_file_to_create(tmp_path: Path) -> None:
    [missing] = refused(tmp_path, {})
    assert missing.fix == "create replies/status.en.txt"


def test_a_file_that_nothing_uses_is_told(tmp_path: Path) -> None:
    [problem] = refused(tmp_path, {**STATUS, "goodbye.en.txt": "Goodbye."})
    assert problem.file == tmp_path / "replies" / "goodbye.en.txt"
    assert problem.problem == "nothing in desk.yaml uses the reply text `goodbye`"
    assert problem.fix == "write `{text: goodbye}` where it is to be said, or delete the file"


def test_a_file_in_a_language_that_the_desk_does_not_answer_in_is_told(tmp_path: Path) -> None:
    [problem] = refused(tmp_path, {**STATUS, "status.fr.txt": "Votre commande."})
    assert problem.file == tmp_path / "replies" / "status.fr.txt"
    assert problem.problem == "the desk does not answer in the language `fr`"
    assert problem.fix == "write one of cs, en, or add `fr` to `languages`"


def test_a_placeholder_that_leads_nowhere_is_told_with_the_line_of_the_file(tmp_path: Path) -> None:
    text = "\nGood day.\n\nIt is {result.find_order.status}.\n"
    [problem] = refused(tmp_path, {"status.en.txt": text})
    assert (problem.file, problem.line) == (tmp_path / "replies" / "status.en.txt", 4)
    assert problem.problem == "`{result.find_order.status}` leads nowhere"
    assert problem.fix == "did you mean `results`?"


def test_a_placeholder_that_nothing_fills_in_a_canned_reply_is_told_with_its_line(
    tmp_path: Path,
) -> None:
    desk = f"{DESK}reviews: {{canned: {{thanks: {{text: thanks}}}}}}\n"
    [problem] = refused(tmp_path, {**STATUS, "thanks.txt": "Dear {nmae},\nthank you."}, desk)
    assert (problem.file, problem.line) == (tmp_path / "replies" / "thanks.txt", 1)
    assert problem.problem == "nothing fills `{nmae}` in the canned reply `thanks`"


@pytest.mark.parametrize("name", ["status.en.md", "Status.en.txt", "status.english.txt", "README"])
def test_a_file_whose_name_says_no_text_and_language_is_told(tmp_path: Path, name: str) -> None:
    [problem] = refused(tmp_path, {**STATUS, name: "Hello."})
    assert problem.file == tmp_path / "replies" / name
    assert problem.problem == f"`{name}` is no name for a reply text"
    assert "`free_times.en.txt`" in (problem.fix or "")


@pytest.mark.parametrize(
    ("text", "words"),
    [(" \n", "the reply text is empty"), ("a" * 2001, "the reply text has 2001 characters")],
)
def test_a_text_that_says_nothing_or_too_much_is_told(
    tmp_path: Path, text: str, words: str
) -> None:
    [problem] = refused(tmp_path, {**STATUS, "status.en.txt": text})
    assert problem.file == tmp_path / "replies" / "status.en.txt"
    assert problem.problem.startswith(words)


def test_a_file_that_is_not_utf_8_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "replies").mkdir()
    (tmp_path / "replies" / "status.cs.txt").write_bytes("Objednávka".encode("latin-1"))
    [problem] = refused(tmp_path, {})
    assert problem.fix == "save the file with the encoding UTF-8"


def test_a_name_and_texts_at_once_are_refused(tmp_path: Path) -> None:
    desk = DESK.replace("{text: status}", "{text: status, en: Lost.}")
    [problem] = refused(tmp_path, STATUS, desk)
    assert (problem.file, problem.line) == (tmp_path / DESK_FILE, 11)
    assert problem.problem == "unknown key `en` in `reply`"


def test_the_schema_knows_names_of_texts() -> None:
    named = shared_schema()["$defs"]["NamedText"]
    assert named["required"] == ["text"]
    assert named["additionalProperties"] is False


def test_the_inbox_desk_says_the_same_as_with_its_texts_inline(tmp_path: Path) -> None:
    inbox = find_desk("inbox")
    texts: dict[str, dict[str, str]] = {}
    for path in (inbox / "replies").iterdir():
        name, language, _ = path.name.split(".")
        texts.setdefault(name, {})[language] = path.read_text(encoding="utf-8").removesuffix("\n")
    assert {frozenset(by_language) for by_language in texts.values()} == {
        frozenset(("en", "cs", "de", "es"))
    }

    def inlined(value: object) -> object:
        if isinstance(value, dict):
            if set(value) == {"text"}:
                return texts[value["text"]]
            return {key: inlined(item) for key, item in value.items()}
        if isinstance(value, list):
            return [inlined(item) for item in value]
        return value

    yaml = YAML(typ="safe")
    written = yaml.load((inbox / DESK_FILE).read_text(encoding="utf-8"))
    inline = tmp_path / "inbox"
    inline.mkdir()
    (inline / "prompts").symlink_to(inbox / "prompts")
    (inline / "intents").symlink_to(inbox / "intents")
    with (inline / DESK_FILE).open("w", encoding="utf-8") as file:
        yaml.dump(inlined(written), file)
    assert read_desk(str(inline)).spec.plans == read_desk("inbox").spec.plans
