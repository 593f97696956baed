"""Everything wrong with a desk is said at once: file, line, problem and what to write instead."""

from pathlib import Path

import pytest

from deskhand.config.desk import load_desk
from deskhand.errors import ConfigError, ConfigErrors
from tests.unit.config.conftest import INBOX, Desk, Load, Refuse

HEAD = "desk: d\nmodels: {fast: p/m}\nflows:\n  main:\n    stages:\n"


def stages(*lines: str) -> str:
    """A desk whose stages begin on line 6."""
    return HEAD + "".join(f"      {line}\n" for line in lines)


def said(problems: list[ConfigError]) -> str:
    return "\n".join(str(problem) for problem in problems)


def only(problems: list[ConfigError]) -> ConfigError:
    assert len(problems) == 1, said(problems)
    return problems[0]


@pytest.mark.parametrize(
    ("text", "line", "problem", "fix"),
    [
        # the file
        (
            HEAD.replace("desk: d\n", "") + "      a: {task: draft}\n",
            1,
            "`desk` is missing",
            "the desk's name",
        ),
        (
            stages("a: {task: draft}").replace("desk: d", "desk: My Desk"),
            1,
            "`desk` cannot be",
            "lower case letters",
        ),
        (
            stages("a: {task: draft}") + "langauges: [en]\n",
            7,
            "unknown key `langauges`",
            "`languages`",
        ),
        (stages("a: {task: draft}") + "zebra: 1\n", 7, "unknown key `zebra`", "write one of"),
        (stages("a: {task: draft}") + "languages: english\n", 7, "must be a list", "[en, cs]"),
        (
            stages("a: {task: draft}") + "limits: {max_backlog: lots}\n",
            7,
            "must be a whole number",
            "messages may wait",
        ),
        (
            stages("a: {task: draft}") + "limits: {max_backlog: -1}\n",
            7,
            "`max_backlog` cannot be `-1`",
            "greater than 0",
        ),
        (stages("a: {task: draft}") + "limits:\n", 7, "nothing after its colon", "remove the line"),
        (stages("a: {task: draft}") + "brain: lm\n", 7, '`brain` cannot be `"lm"`', "`llm`"),
        (stages("a: {task: draft}") + "brain: {script: x}\n", 7, "`script`", "`scripted`"),
        (
            stages("a: {task: draft}") + "brain: {scripted: no.yaml}\n",
            7,
            "no file `no.yaml`",
            "create it",
        ),
        (
            stages("a: {task: draft}").replace("p/m", "m"),
            2,
            '`fast` cannot be `"m"`',
            "gemini/gemini-3.8-flash",
        ),
        (
            stages("a: {prompt: reply}").replace("models: {fast: p/m}\n", ""),
            5,
            "names no model",
            "scripted",
        ),
        (
            stages("a: {task: draft}") + "providers: {p: {key_env: A, key_file: b}}\n",
            7,
            "both `key_env`",
            "keep one",
        ),
        (
            stages("a: {task: draft}") + "providers: {p: {base_url: x}}\n",
            7,
            "`base_url` cannot be",
            "http://",
        ),
        (
            stages("a: {task: draft}")
            + "tickets: {satisfaction: {page: 'https://d.example', channel: post}}\n",
            7,
            "there is no channel `post`",
            "add this channel",
        ),
        (
            stages("a: {task: draft}") + "tickets: {forgotten_after: soon}\n",
            7,
            "`forgotten_after` cannot be",
            "3 days",
        ),
        ("desk: d\n", 1, "no flow", "add `flows:"),
        ("desk: d\nflows: {}\n", 2, "no flow", "add `flows:"),
        ("desk: d\nflows: {a: {}}\n", 2, "`stages` is missing in `a`", "write `stages:`"),
        ("desk: d\nflows: {a: {stages: {}}}\n", 2, "`stages` is empty", "stages by name"),
        (stages("a: {task: draft}") + "default_flow: mian\n", 7, "no flow `mian`", "`main`"),
        # a flow
        (stages("a: {task: draft}") + "    start: b\n", 7, "starts with `b`", "write one of a"),
        (
            stages("a: {task: draft}", "b: {task: draft}"),
            7,
            "no run ever reaches stage `b`",
            "point a `next`",
        ),
        (
            stages("a: {task: draft, next: end}", "end: {task: draft}"),
            7,
            "cannot be called `end`",
            "another name",
        ),
        (
            stages("a: {task: draft, next: b}", "b: {task: draft, next: a}"),
            6,
            "the loop a → b → a",
            "`max_visits",
        ),
        (stages("a: {task: draft, next: a}"), 6, "the loop a → a has no limit", "`max_visits"),
        (stages("a: {task: draft, loop_to: a}"), 6, "the loop a → a has no limit", "`max_visits"),
        (stages("a: {task: draft, on_error: a}"), 6, "the loop a → a has no limit", "`max_visits"),
        # a stage
        (stages("A-1: {task: draft}"), 6, "`A-1` cannot be a name", "a-z"),
        (stages("a:"), 6, "`a` must be a mapping", "`service`"),
        (stages("a: {output: x}"), 6, "stage `a` does nothing", "write `task:`"),
        (stages("a: {task: draft, nxt: end}"), 6, "unknown key `nxt` in stage `a`", "`next`"),
        (stages("a: {task: drft}"), 6, '`task` cannot be `"drft"`', "`draft`"),
        (stages("a: {task: classify}"), 6, "classifies, but into what", "categories"),
        (
            stages("a: {task: draft, categories: [x]}"),
            6,
            "`categories` has no effect",
            "`task: classify`",
        ),
        (stages("a: {task: draft, service: review}"), 6, "both `service` and `task`", "keep one"),
        (
            stages("a: {tools: [get_contact], service: review}"),
            6,
            "both `service` and `tools`",
            "keep one",
        ),
        (stages("a: {service: review, model: fast}"), 6, "`model` has no effect", "`task:`"),
        (
            stages("a: {service: dispatch, auto_send_at: 1}"),
            6,
            "`auto_send_at` has no effect",
            "`service: review`",
        ),
        (stages("a: {task: draft, with: {x: 1}}"), 6, "`with` has no effect", "`service:`"),
        (stages("a: {service: reveiw}"), 6, "no service `reveiw`", "`review`"),
        (
            stages("a: {tools: [get_contact, get_contct]}"),
            6,
            "no tool `get_contct`",
            "`get_contact`",
        ),
        (stages("a: {prompt: replay}"), 6, "no prompt `replay`", "`reply`"),
        (stages("a: {prompt: zzz}"), 6, "no prompt `zzz`", "create prompts/zzz.j2"),
        (stages("a: {task: draft, model: fats}"), 6, "no model for the role `fats`", "`fast`"),
        (stages("a: {task: draft, next: 5}"), 6, "`next` must be text", "the stage that follows"),
        (
            stages("a:", "  task: draft", "  next:"),
            8,
            "`next` has nothing after its colon",
            "remove the line",
        ),
        (stages("a: {task: draft, temperature: .nan}"), 6, "`temperature` cannot be", "finite"),
        (stages("a: {task: draft, timeout: 0}"), 6, "`timeout` cannot be `0`", "greater than 0"),
        (
            stages("a: {task: draft, attempts: true}"),
            6,
            "`attempts` must be a whole number",
            "whole number",
        ),
        (stages("a:", "  task: draft", "  next: b"), 8, "`next` leads to `b`", "or add this stage"),
        (
            stages("a: {task: draft, on_error: reveiw, next: review}", "review: {service: review}"),
            6,
            "`reveiw`",
            "`review`",
        ),
        (stages("a: {task: draft, loop_to: end}"), 6, "`loop_to` leads to `end`", "write one of a"),
        (stages("a: {task: draft, resume_at: b}"), 6, "`resume_at` leads to `b`", "write one of a"),
        # a route
        (
            stages("a:", "  task: draft", "  routes:", "    - {when: {x: 1}, to: b}"),
            9,
            "`to` leads to `b`",
            "a",
        ),
        (
            stages("a: {task: draft, routes: [{condition: x, target: b}]}"),
            6,
            "`target` leads to `b`",
            "end",
        ),
        (
            stages("a: {task: draft, routes: [{when: {x: {atleast: 1}}, to: end}]}"),
            6,
            "`atleast`",
            "`at_least`",
        ),
        (
            stages("a: {task: draft, routes: [{condition: any, target: end}]}"),
            6,
            "`any` needs a list",
            "any:",
        ),
        (
            stages("a: {task: draft, routes: [{when: {}, to: end}]}"),
            6,
            "the condition is empty",
            "{category: spam}",
        ),
        (stages("a: {task: draft, routes: [{to: end}]}"), 6, "no condition", "when"),
        (stages("a: {task: draft, routes: [{when: {x: 1}}]}"), 6, "leads nowhere", "to: STAGE"),
        (
            stages("a: {task: draft, routes: [{when: {x: 1}, target: end}]}"),
            6,
            "`target` does not go",
            "{when, to}",
        ),
        (
            stages("a: {task: draft, routes: [{condition: x, to: end}]}"),
            6,
            "`to` does not go",
            "{when, to}",
        ),
        (
            stages("a: {task: draft, routes: [{when: {x: 1}, outcome: replan}]}"),
            6,
            "does not say where",
            "loop_to",
        ),
        (
            stages("a: {task: draft, routes: [{when: {x: 1}, outcome: loop_back}]}"),
            6,
            "does not say where",
            "loop_to",
        ),
        (
            stages("a: {task: draft, routes: [{when: {x: 1}, outcome: clarify}]}"),
            6,
            "asks the customer nothing",
            "ask",
        ),
        (
            stages("a: {task: draft, routes: [{when: {x: 1}, outcome: clarfy, ask: b}]}"),
            6,
            "clarfy",
            "`clarify`",
        ),
        (
            stages("a: {task: draft, routes: [{when: {x: 1}, to: end, ask: b}]}"),
            6,
            "`ask` has no effect",
            "clarify",
        ),
        (
            stages("a: {task: draft, routes: [{when: {x: 1}, to: end, outcome: terminate}]}"),
            6,
            "contradict",
            "keep one",
        ),
        (
            stages("a: {task: draft, routes: [{when: {x: 1}, outcome: clarify, ask: 'A {{ b'}]}"),
            6,
            "the question's template is wrong",
            "close",
        ),
        (
            stages("a: {task: draft, routes: [3]}"),
            6,
            "item 1 of `routes` must be a mapping",
            "{when, to}",
        ),
    ],
)
def test_one_mistake_gives_one_problem(
    refuse: Refuse, text: str, line: int, problem: str, fix: str
) -> None:
    error = only(refuse(text))
    assert Path(str(error.file)).name == "desk.yaml"
    assert (error.line, problem in error.problem, fix in str(error.fix)) == (line, True, True), str(
        error
    )


def test_a_condition_is_wrong_on_its_own_line(refuse: Refuse) -> None:
    lines = [
        "a:",
        "  task: draft",
        "  routes:",
        "    - when:",
        "        any:",
        "          - {x: 1}",
    ]
    text = stages(*lines, "          - y: {blow: 3}", "      to: end")
    assert only(refuse(text)).line == 12


def test_a_misspelt_category_cannot_slip_past_a_reviewer(refuse: Refuse) -> None:
    problems = refuse(INBOX.replace("always_ask: [complaint]", "always_ask: [complaints]"))
    assert "`complaints`" in only(problems).problem
    assert only(problems).fix == "did you mean `complaint`?"
    assert (
        "`complain`" in only(refuse(INBOX.replace("tone: {complaint:", "tone: {complain:"))).problem
    )


def test_several_flows_need_a_default(refuse: Refuse, load: Load) -> None:
    flow = "{stages: {work: {service: dispatch}}}"
    text = f"desk: d\nflows:\n  a: {flow}\n  b: {flow}\n"
    assert "default_flow: a" in str(only(refuse(text)).fix)
    assert load(text + "default_flow: b\n").default_flow == "b"


def test_a_prompt_that_cannot_be_parsed_is_named_with_its_own_line(refuse: Refuse) -> None:
    error = only(
        refuse(INBOX, {"prompts/decide.j2": "Hello\n\n{% if x %}\n{{ y z }}\n{% endif %}"})
    )
    assert (Path(str(error.file)).name, error.line) == ("decide.j2", 4)


def test_prompts_that_cannot_be_read_or_share_a_name_are_told(refuse: Refuse) -> None:
    error = only(refuse(INBOX, {"prompts/decide.j2": b"ok\ncaf\xe9"}))
    assert (Path(str(error.file)).name, error.line, "UTF-8" in error.problem) == (
        "decide.j2",
        2,
        True,
    )
    assert (
        "also in reply.md"
        in only(refuse(INBOX, {"prompts/reply.txt": "x", "prompts/decide.j2": "y"})).problem
    )


def test_all_problems_are_told_at_once_in_the_order_of_the_file(refuse: Refuse) -> None:
    text = stages(
        "a: {task: drft, next: b, model: fats}",
        "b: {service: reveiw, next: c, on_error: nowhere, temprature: 1}",
        "c: {tools: [nothing_like_it], routes: [3, {when: {x: {abve: 1}}, outcome: replan}],"
        " next: b}",
        "d:",
        "e: {prompt: replay, timeout: soon}",
    )
    problems = refuse(text.replace("desk: d", "desk: D") + "zebra: 1\n", {"prompts/bad.md": "{{"})
    words = said(problems)
    for word in (
        "D",
        "drft",
        "fats",
        "reveiw",
        "temprature",
        "nothing_like_it",
        "item 1 of",
        "abve",
        "replan",
    ):
        assert word in words
    for word in ("`d` must be", "replay", "soon", "zebra", "nowhere", "bad.md", "b → c → b"):
        assert word in words
    lines = [problem.line or 0 for problem in problems if str(problem.file).endswith("desk.yaml")]
    assert lines == sorted(lines)


def test_a_mistake_has_no_echoes(refuse: Refuse) -> None:
    """Stages behind a misspelt target are not also called unreachable, nor a stage with a
    misspelt task idle."""
    assert "`retreive`" in only(refuse(INBOX.replace("next: retrieve", "next: retreive"))).problem
    assert "`nxt`" in only(refuse(INBOX.replace("next: retrieve", "nxt: retrieve"))).problem
    assert "`next`" in only(refuse(INBOX.replace("next: retrieve", "next: [retrieve]"))).problem
    assert "`clasify`" in only(refuse(INBOX.replace("start: classify", "start: clasify"))).problem
    assert (
        "`tsk`"
        in only(refuse(INBOX.replace("        task: draft\n", "        tsk: draft\n"))).problem
    )
    assert "`max_visit`" in only(refuse(INBOX.replace("max_visits", "max_visit"))).problem
    assert "`flow`" in only(refuse(INBOX.replace("flows:", "flow:"))).problem


def test_a_stage_called_send_is_not_taken_for_the_end(refuse: Refuse) -> None:
    problems = refuse(stages("a: {task: draft, next: end}", "send: {task: draft}"))
    assert "no run ever reaches stage `send`" in only(problems).problem


def test_every_loop_is_named_and_one_limit_within_it_is_enough(refuse: Refuse, load: Load) -> None:
    loop = [
        "a: {task: draft, next: b}",
        "b: {task: draft, routes: [{when: {x: 1}, to: a}], next: c}",
    ]
    problems = refuse(stages(*loop, "c: {task: draft, loop_to: b}"))
    assert [problem.problem for problem in problems] == [
        "the loop a → b → a has no limit",
        "the loop b → c → b has no limit",
    ]
    limited = [loop[0], loop[1].replace("task: draft", "task: draft, max_visits: 2")]
    assert (
        load(stages(*limited, "c: {task: draft, loop_to: b}")).flows["main"].stages["b"].max_visits
        == 2
    )


def test_asking_the_customer_is_no_loop(load: Load) -> None:
    route = "{when: {x: 1}, outcome: clarify, ask: Which one?}"
    spec = load(
        stages("a: {task: draft, next: b}", f"b: {{task: draft, resume_at: a, routes: [{route}]}}")
    )
    assert spec.flows["main"].stages["b"].resume_at == "a"


def test_a_key_pasted_into_the_file_is_not_repeated_in_the_message(refuse: Refuse) -> None:
    error = only(refuse(stages("a: {task: draft}") + "providers: {p: {key_env: sk-secret-123}}\n"))
    assert "sk-secret-123" not in str(error)


def test_an_unlike_name_gets_the_list_of_known_ones(refuse: Refuse) -> None:
    assert "write one of dispatch, retrieve_context, review" in str(
        only(refuse(stages("a: {service: zzz}"))).fix
    )


def test_a_service_nobody_registered_is_unknown(desk: Desk) -> None:
    with pytest.raises(ConfigErrors, match="there is no service `review`"):
        load_desk(desk(stages("a: {service: review}")))


def test_a_file_that_is_no_yaml_is_one_problem(refuse: Refuse) -> None:
    assert only(refuse("desk: [\n")).line == 1


def test_the_error_reads_as_file_line_problem_fix(refuse: Refuse, tmp_path: Path) -> None:
    text = str(ConfigErrors(refuse(stages("a: {service: reveiw}"))))
    assert (
        text
        == f"{tmp_path}/desk.yaml:6: there is no service `reveiw`\n  fix: did you mean `review`?"
    )


# --- slips that were taken for something else


@pytest.mark.parametrize(
    ("languages", "problem", "fix"),
    [
        ("[en, cz]", "`cz` is no language", "did you mean `cs`?"),
        ("[en, xx]", "`xx` is no language", "ISO 639-1"),
    ],
)
def test_a_language_that_there_is_not_is_told(
    languages: str, problem: str, fix: str, refuse: Refuse
) -> None:
    text = stages("a: {task: draft}").replace("desk: d\n", f"desk: d\nlanguages: {languages}\n")
    told = only(refuse(text))
    assert (told.line, problem in told.problem, fix in (told.fix or "")) == (2, True, True)


def test_a_category_that_is_listed_twice_is_told(refuse: Refuse) -> None:
    told = only(refuse(stages("a: {task: classify, categories: [order, other, order]}")))
    assert told.problem == "the category `order` is listed twice"
    assert (told.line, told.fix) == (6, "remove one of the two")


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("intents.yaml", "intents:\n  order: [Where is it?]\n  refnd: [Money back]\n", 3),
        ("intents/en.yaml", "intents:\n  refnd: {examples: [Money back]}\n", 2),
        ("intents/more.csv", "text,label\nWhere is it?,order\nMoney back,refnd\n", 3),
    ],
)
def test_a_label_that_no_category_has_is_told(
    file: str, text: str, line: int, refuse: Refuse
) -> None:
    desk = stages("a: {task: classify, categories: [order, refund, other]}")
    told = only(refuse(desk, {file: text}))
    assert told.problem == "no stage gives the category `refnd`"
    assert (str(told.file).endswith(file), told.line) == (True, line)
    assert told.fix == "did you mean `refund`?"


def test_a_label_that_a_routing_rule_asks_for_needs_no_category(desk: Desk) -> None:
    text = stages("a: {task: classify, categories: [order, other]}")
    text += "routing: {rules: [{name: one, match: {intent: medical}}]}\n"
    load_desk(desk(text, {"intents.yaml": "intents: {order: [Where?], medical: [Safe?]}\n"}))


def test_a_routing_rule_for_an_intent_without_examples_is_told(refuse: Refuse) -> None:
    desk = stages("a: {task: classify, categories: [order, medical]}")
    desk += "routing: {rules: [{name: one, match: {intent: medicl}}]}\n"
    told = only(refuse(desk, {"intents/en.yaml": "intents: {order: [Where?], medical: [Safe?]}\n"}))
    assert (told.problem, told.fix) == ("there is no intent `medicl`", "did you mean `medical`?")


def test_a_reply_that_speaks_of_a_call_nobody_makes_is_told(refuse: Refuse) -> None:
    desk = stages("a: {task: classify, categories: [order]}")
    desk += "plans:\n  order:\n    reply: There are {results.get_contct.name} here.\n"
    desk += "    steps: [{tool: get_contact}]\n"
    told = only(refuse(desk))
    assert told.problem == (
        "`{results.get_contct.name}` speaks of a call that the plan does not make"
    )
    assert (told.line, told.fix) == (9, "did you mean `get_contact`?")
