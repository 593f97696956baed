"""The embedded brain: what it reads, what it decides, and that it says when it does not know."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from deskhand.brain.embedded import EmbeddedBrain
from deskhand.config.sections.plans import DeclaredPlan
from deskhand.errors import ModelAnswerInvalid
from deskhand.model.plan import Plan
from deskhand.model.tasks import TaskKind
from tests.embedded_desk import INTENTS, KeywordIntents, Predicted, a_desk, a_task, hit
from tests.waiting import PATIENCE

CHOICES = ("order_status", "refund", "other")


async def answered(
    kind: TaskKind, text: str = "Where is my parcel?", *hits: Any, **fields: Any
) -> dict[str, Any]:
    desk = fields.pop("desk", None) or a_desk(*hits)
    answer = await EmbeddedBrain(desk).answer(a_task(kind, text, **fields))
    assert (answer.brain, answer.model, answer.cost) == ("embedded", None, 0.0)
    return answer.data


# --- classify


async def test_a_message_is_classified_by_what_was_learned() -> None:
    assert await answered(TaskKind.CLASSIFY, choices=CHOICES) == {
        "category": "order_status",
        "confidence": 0.93,
    }


async def test_abstention_is_other_without_confidence() -> None:
    found = await answered(TaskKind.CLASSIFY, "Do you sell chairs?", choices=CHOICES)
    assert (found["category"], found["confidence"], found["abstained"]) == ("other", 0.0, True)
    assert (found["best"], found["best_confidence"]) == ("order_status", 0.31)


async def test_without_an_other_the_likeliest_is_named_without_confidence() -> None:
    found = await answered(
        TaskKind.CLASSIFY, "Do you sell chairs?", choices=("refund", "order_status")
    )
    assert (found["category"], found["confidence"]) == ("order_status", 0.0)


async def test_a_label_that_is_no_choice_here_is_not_given() -> None:
    found = await answered(TaskKind.CLASSIFY, choices=("spam", "other"))
    assert (found["category"], found["confidence"], found["best"]) == ("other", 0.0, "order_status")


async def test_the_subject_helps_where_the_body_says_little() -> None:
    found = await answered(
        TaskKind.CLASSIFY, "Please help me with this one", subject="My parcel", choices=CHOICES
    )
    assert found["category"] == "order_status"
    intents = KeywordIntents(INTENTS)
    desk = a_desk(intents=lambda: intents)
    await answered(TaskKind.CLASSIFY, "See above.", subject="My parcel", choices=CHOICES, desk=desk)
    assert intents.asked == ["My parcel\nSee above."]


class ShortIntents(KeywordIntents):
    """Surely knows what a clause means, and of longer texts only what they likely mean."""

    def __init__(self, likely: float) -> None:
        super().__init__(INTENTS)
        self.likely = likely

    def _one(self, text: str) -> Predicted:
        read = super()._one(text)
        is_long = len(text.split()) > 6
        return Predicted(None, "refund", self.likely) if is_long else read


@pytest.mark.parametrize(
    ("text", "likely", "category"),
    [
        ("My money back please, a friend of mine bought the very same", 0.9, "refund"),
        ("My money back please, a friend of mine bought the very same", 0.7, "other"),
        ("My money back please, and where does my parcel stay", 0.9, "other"),
        ("What do you think about the weather of today, my dear friend?", 0.9, "other"),
    ],
)
async def test_a_clause_may_plainly_say_what_the_text_likely_means(
    text: str, likely: float, category: str
) -> None:
    intents = ShortIntents(likely)
    desk = a_desk(intents=lambda: intents)
    found = await answered(TaskKind.CLASSIFY, text, choices=CHOICES, desk=desk)
    assert found["category"] == category


async def test_without_examples_the_categories_names_are_a_weak_start() -> None:
    desk = a_desk(intents=lambda: None, descriptions={"refund": "the customer wants money back"})
    brain = EmbeddedBrain(desk)
    choices = ("refund", "password_reset", "other")
    for text, category in (
        ("I want my money back", "refund"),
        ("I forgot my password", "password_reset"),
    ):
        found = (await brain.answer(a_task(TaskKind.CLASSIFY, text, choices=choices))).data
        assert found.get("best", found["category"]) == category


async def test_with_nothing_to_choose_by_it_abstains() -> None:
    desk = a_desk(intents=lambda: None)
    assert (await answered(TaskKind.CLASSIFY, choices=("other",), desk=desk))["abstained"] is True


async def test_it_learns_once_and_in_a_thread() -> None:
    made = 0
    ticked = threading.Event()

    def learn() -> KeywordIntents:
        nonlocal made
        made += 1
        assert ticked.wait(PATIENCE), "the loop stands still"
        return KeywordIntents(INTENTS)

    brain = EmbeddedBrain(a_desk(intents=learn))

    async def tick() -> None:
        await asyncio.sleep(0.01)
        ticked.set()

    clock = asyncio.create_task(tick())
    await asyncio.gather(
        *(brain.answer(a_task(TaskKind.CLASSIFY, choices=CHOICES)) for _ in range(4))
    )
    await clock
    assert made == 1


# --- extract and translate


async def test_slots_are_values_ambiguous_or_missing() -> None:
    found = await answered(
        TaskKind.EXTRACT, "It is P-1001, or maybe P-1002", choices=("order", "mail")
    )
    assert found == {
        "values": {},
        "read": {},
        "ambiguous": {"order": ["P-1001", "P-1002"]},
        "missing": ["mail"],
        "confidence": 0.0,
    }
    found = await answered(
        TaskKind.EXTRACT, "It did not come", subject="P-1001", choices=("order",)
    )
    assert (found["values"], found["missing"]) == ({"order": "P-1001"}, [])
    assert found["confidence"] > 0.5


async def test_a_desk_without_slots_extracts_nothing() -> None:
    found = await answered(TaskKind.EXTRACT, "P-1001", desk=a_desk(slots=None), choices=("order",))
    assert (found["values"], found["missing"]) == ({}, ["order"])


async def test_it_does_not_translate_and_says_so() -> None:
    czech = "Dobrý den, kde je prosím můj balík?"
    found = await answered(TaskKind.TRANSLATE, czech)
    assert (found["text"], found["language"], found["translated"]) == (czech, "cs", False)
    assert found["confidence"] == 0.0
    found = await answered(TaskKind.TRANSLATE, "Good morning, where is my parcel please?")
    assert (found["language"], found["translated"]) == ("en", False)
    assert found["confidence"] > 0.5


# --- decide


def classified(category: str = "order_status", **outputs: Any) -> dict[str, Any]:
    return {"outputs": {"classification": {"category": category, "confidence": 0.9}, **outputs}}


async def test_a_declared_plan_is_filled_with_slots() -> None:
    found = await answered(TaskKind.DECIDE, "Where is P-1001?", inputs=classified())
    [call] = Plan.parse(found).tool_calls
    assert (call.tool, call.parameters) == (
        "find_order",
        {"order": "P-1001", "note": "asked by ann@example.com"},
    )
    assert (found["intent_id"], found["slots"]) == ("order_status", {"order": "P-1001"})
    assert 0.5 < found["confidence"] <= 0.9
    assert "ask" not in found
    assert "hand_over" not in found


@pytest.mark.parametrize(
    ("text", "ambiguous", "question"),
    [
        ("Where is my parcel?", {}, "Which parcel is it? The number begins with P-."),
        ("Where are P-1001 and P-1002?", {"order": ["P-1001", "P-1002"]}, "Which parcel is it?"),
        ("Dobrý den, kde je prosím můj balík?", {}, "O kterou zásilku jde?"),
    ],
)
async def test_what_is_missing_or_ambiguous_is_asked_for(
    text: str, ambiguous: dict[str, Any], question: str
) -> None:
    found = await answered(TaskKind.DECIDE, text, inputs=classified())
    [step] = found["steps"]
    assert (step["type"], step["param"]) == ("ask_user", "order")
    assert question in step["prompt"]
    assert (found["ask"], found["missing"], found["ambiguous"]) == (
        step["prompt"],
        ["order"],
        ambiguous,
    )


async def test_what_an_earlier_message_said_is_still_known() -> None:
    inputs = classified(plan={"slots": {"order": "P-1001"}})
    found = await answered(TaskKind.DECIDE, "And today?", inputs=inputs)
    assert found["steps"][0]["parameters"]["order"] == "P-1001"
    found = await answered(TaskKind.DECIDE, "I meant P-1002", inputs=inputs)
    assert found["steps"][0]["parameters"]["order"] == "P-1002"


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        (classified("complaint"), "no plan is declared for 'complaint'"),
        (classified("other"), "no plan is declared for 'other'"),
        (classified("refund"), "needs outputs.order.number, which is not known"),
        ({"outputs": {}}, "the message's intent is not clear"),
    ],
)
async def test_without_a_plan_it_hands_over_and_says_why(
    inputs: dict[str, Any], reason: str
) -> None:
    found = await answered(TaskKind.DECIDE, "Hm?", inputs=inputs)
    assert (found["steps"], found["hand_over"], found["confidence"]) == ([], True, 0.0)
    assert reason in found["reason"]


async def test_a_plan_without_steps_leaves_it_to_the_articles() -> None:
    found = await answered(TaskKind.DECIDE, inputs=classified("question"))
    assert found["steps"] == []
    assert "hand_over" not in found


async def test_outputs_of_stages_can_be_parameters() -> None:
    found = await answered(TaskKind.DECIDE, inputs=classified("refund", order={"number": 7}))
    assert found["steps"][0]["parameters"] == {"order": 7}


# --- draft


async def test_a_draft_quotes_and_cites_and_the_source_is_recorded() -> None:
    desk = a_desk(hit())
    found = await answered(
        TaskKind.DRAFT, "How can I send something back?", desk=desk, inputs={"tone": "friendly"}
    )
    lines = found["text"].splitlines()
    assert lines[0] == "Hello Ann,"
    assert "> You may send it back within 30 days." in lines
    assert "Source: Returns › How" in lines  # an article's id is nothing for customers
    assert lines[-1] == "Your parcel shop"
    assert (found["language"], found["sources"][0]["article"]) == ("en", "returns-1")
    assert found["confidence"] == 0.9
    assert "hand_over" not in found
    assert desk.knowledge.recorded == [("run_1", ["returns-1"])]  # type: ignore[union-attr]


async def test_a_czech_customer_is_answered_in_czech_with_the_english_quote() -> None:
    found = await answered(
        TaskKind.DRAFT, "Dobrý den, jak mohu zboží vrátit?", hit(similarity=0.86)
    )
    assert found["language"] == "cs"
    assert "Jeho jazyk je angličtina:" in found["text"]
    assert "> You may send it back within 30 days." in found["text"]


async def test_a_question_in_the_subject_alone_is_answered_in_its_language() -> None:
    subject = "Jak mohu zboží vrátit?"
    found = await answered(TaskKind.DRAFT, "", hit(similarity=0.86), subject=subject)
    assert found["language"] == "cs"
    assert [row["ask"] for row in found["asks"]] == [subject]


async def test_of_the_nearest_passages_the_one_that_reads_like_an_answer_is_quoted() -> None:
    def reads(ask: str, passages: Sequence[str], before: str) -> list[float]:
        return [4.0 * ("30 days" in passage) - 1.0 for passage in passages]

    nearer = hit(article="shops-1", title="Shops", text="We have three shops.", similarity=0.9)
    desk = a_desk(nearer, hit(similarity=0.85), reads=reads)
    found = await answered(TaskKind.DRAFT, "How can I send something back?", desk=desk)
    assert found["sources"][0]["article"] == "returns-1"
    assert found["confidence"] == pytest.approx(0.91, abs=0.01)
    doubtful = a_desk(nearer, reads=reads)
    found = await answered(TaskKind.DRAFT, "How can I send something back?", desk=doubtful)
    assert found["hand_over"] is True


async def test_where_a_desk_wants_it_a_person_looks_at_quotes_in_another_language() -> None:
    desk = a_desk(hit(), asks_about_foreign=True)
    own = await answered(TaskKind.DRAFT, "May I send it back to you please?", desk=desk)
    assert "hand_over" not in own
    other = await answered(TaskKind.DRAFT, "Mohu vám to prosím poslat zpátky poštou?", desk=desk)
    assert "> You may send it back" in other["text"]
    assert other["hand_over"] is True
    assert "the article 'Returns' is in another language than the message" in other["reason"]


async def test_where_no_article_is_near_a_colleague_is_announced() -> None:
    desk = a_desk()
    found = await answered(TaskKind.DRAFT, "Can you sponsor our football club?", desk=desk)
    assert "A colleague will read your message" in found["text"]
    assert ">" not in found["text"]
    assert (found["hand_over"], found["reason"]) == (True, "no article answers this")
    assert found["confidence"] < 0.5


async def test_below_the_threshold_a_person_gets_the_ask_and_what_comes_nearest() -> None:
    desk = a_desk(hit(similarity=0.6))
    found = await answered(TaskKind.DRAFT, "Can you sponsor our football club?", desk=desk)
    assert "“Can you sponsor our football club?”\n\n{answer}" in found["text"]
    assert "> You may send it back" in found["text"]
    assert "A colleague will read" not in found["text"]
    assert found["hand_over"] is True
    assert "1 of 1 asks have no sure answer: “Can you sponsor" in found["reason"]
    assert found["asks"][0]["answered"] is False


async def test_a_message_that_asks_nothing_is_not_quoted_back() -> None:
    found = await answered(
        TaskKind.DRAFT, "Attached is our invoice for the paper.", desk=a_desk(hit(similarity=0.6))
    )
    assert "{answer}" in found["text"]
    assert "Attached is our invoice" not in found["text"]


async def test_what_likely_answers_is_drafted_for_a_person_and_what_hardly_does_is_not() -> None:
    desk = a_desk(hit(similarity=0.85), reads=lambda ask, passages, before: [0.4] * len(passages))
    likely = await answered(TaskKind.DRAFT, "May I send it back to you please?", desk=desk)
    assert "{answer}" not in likely["text"]
    assert "> You may send it back" in likely["text"]
    assert likely["hand_over"] is True
    assert likely["asks"][0]["answered"] is False

    far = a_desk(hit(similarity=0.85), reads=lambda ask, passages, before: [-4.0] * len(passages))
    unlikely = await answered(TaskKind.DRAFT, "Can you sponsor our football club?", desk=far)
    assert "“Can you sponsor our football club?”\n\n{answer}" in unlikely["text"]
    assert ">" not in unlikely["text"]


async def test_each_ask_is_looked_up_by_itself() -> None:
    desk = a_desk(hit())
    text = "Hello, how can I send something back? And where is your shop? Thanks, Ada"
    found = await answered(TaskKind.DRAFT, text, desk=desk)
    assert [row["ask"] for row in found["asks"]] == [
        "how can I send something back?",
        "And where is your shop?",
    ]
    asked = desk.knowledge.questions  # type: ignore[union-attr]
    assert "how can I send something back?" in asked
    assert not any("Thanks" in question for question in asked)


def acted(category: str = "order_status", **result: Any) -> dict[str, Any]:
    results = [
        {
            "tool": "find_order",
            "status": "success",
            "data": {"status": "on its way", "owner": "x"},
            **result,
        }
    ]
    plan = {"intent_id": category, "slots": {"order": "P-1001"}, "steps": []}
    return classified(category, plan=plan, act={"results": results, "executed": 1, "failed": 0})


async def test_what_tools_found_is_told_in_the_desks_own_words() -> None:
    desk = a_desk(hit())
    found = await answered(TaskKind.DRAFT, desk=desk, inputs=acted())
    assert "Your parcel P-1001 is on its way." in found["text"].splitlines()
    assert found["confidence"] > 0.9
    assert desk.knowledge.questions == []  # type: ignore[union-attr]


async def test_without_words_only_the_fields_that_may_be_told_are_listed() -> None:
    found = await answered(
        TaskKind.DRAFT, inputs=acted("refund", data={"return": "R-7", "margin": 0.4})
    )
    assert "- return: R-7" in found["text"]
    assert "0.4" not in found["text"]


async def test_where_nobody_said_what_may_be_told_a_person_looks_first() -> None:
    found = await answered(TaskKind.DRAFT, inputs=acted("question"))
    assert "- status: on its way" in found["text"]
    assert found["hand_over"] is True


async def test_a_failed_tool_is_a_colleagues_matter_and_the_reason_is_told() -> None:
    error = {"error_type": "tool_failed", "message": "the shop is\nclosed"}
    found = await answered(TaskKind.DRAFT, inputs=acted(status="error", data=None, error=error))
    assert (found["hand_over"], found["reason"]) == (
        True,
        "find_order did not succeed: the shop is closed",
    )
    assert "A colleague will read" in found["text"]


async def test_a_failed_tool_that_was_optional_keeps_nothing_back() -> None:
    plans = {"order_status": DeclaredPlan(tell=())}
    desk = a_desk(hit(), plans=plans)
    found = await answered(
        TaskKind.DRAFT, desk=desk, inputs=acted(status="error", data=None, optional=True)
    )
    assert found["sources"][0]["article"] == "returns-1"
    assert "hand_over" not in found


async def test_with_nothing_to_tell_of_the_results_the_articles_answer() -> None:
    desk = a_desk(
        hit(),
        plans={"order_status": DeclaredPlan(tell=(), opening={"en": "Good to hear from you."})},
    )
    found = await answered(TaskKind.DRAFT, desk=desk, inputs=acted())
    assert "> You may send it back within 30 days." in found["text"]
    assert "on its way" not in found["text"]
    assert "Good to hear from you." in found["text"].splitlines()
    assert "Thank you for your message." not in found["text"]


async def test_what_a_colleague_answers_is_handed_over_with_what_articles_say() -> None:
    desk = a_desk(
        hit(), plans={"order_status": DeclaredPlan(hand_over=True, opening={"en": "We are sorry."})}
    )
    found = await answered(TaskKind.DRAFT, "May I send it back?", desk=desk, inputs=acted())
    assert (found["hand_over"], found["reason"]) == (
        True,
        "order_status is answered by a colleague",
    )
    assert "We are sorry.\n\n" in found["text"]
    assert "> You may send it back" in found["text"]


async def test_free_times_are_offered_a_line_each() -> None:
    words = "These are free:\n\n{results.check_calendar.offer}\n\nWhich one, {message.sender.name}?"
    desk = a_desk(plans={"order_status": DeclaredPlan(reply={"en": words})})
    slots = {
        "time_zone": "UTC",
        "slots": [{"start": "2026-11-16T09:30+00:00"}, {"start": "2026-11-17T09:30+00:00"}],
    }
    found = await answered(
        TaskKind.DRAFT, desk=desk, inputs=acted(tool="check_calendar", data=slots)
    )
    offered = "- Monday 16 November 2026, 9:30 (UTC)\n- Tuesday 17 November 2026, 9:30 (UTC)"
    assert f"These are free:\n\n{offered}\n\nWhich one, Ann?" in found["text"]
    full = await answered(
        TaskKind.DRAFT, desk=desk, inputs=acted(tool="check_calendar", data={"slots": []})
    )
    assert full["hand_over"] is True


async def test_what_was_quoted_is_not_what_the_customer_says() -> None:
    text = (
        "Could I send it back?\n\nOn Mon, 2 Mar 2026 at 10:00, Shop <shop@example.com> wrote:\n>"
        " Your parcel is here."
    )
    found = await answered(
        TaskKind.CLASSIFY, text + "\n> money", choices=("order_status", "refund", "other")
    )
    assert found["category"] == "other"
    passed_on = (
        "Please see below.\n\n---------- Forwarded message ---------\nFrom: Bob <bob@example.com>\n"
        "Date: Mon, 2 Mar 2026\nSubject: Hi\nTo: <shop@example.com>\n\nI want my money back."
    )
    found = await answered(
        TaskKind.CLASSIFY, passed_on, choices=("order_status", "refund", "other"), subject="Fwd: Hi"
    )
    assert found["category"] == "refund"


async def test_a_question_of_the_plan_is_asked_in_the_reply_if_no_route_asked_it() -> None:
    inputs = classified(plan={"ask": "Which parcel is it?", "steps": []})
    found = await answered(TaskKind.DRAFT, "Where is it?", hit(), inputs=inputs)
    assert "- Which parcel is it?" in found["text"]
    assert ">" not in found["text"]


async def test_a_reviewers_instruction_is_not_pretended_to_be_followed() -> None:
    found = await answered(
        TaskKind.DRAFT, "How to return?", hit(), inputs={"metadata": {"instruction": "offer 10%"}}
    )
    assert found["hand_over"] is True
    assert "10%" not in found["text"]


# --- match, summarise, judge, prompt

TICKETS = [
    {"id": "T1", "subject": "My walking boots P-1001 have not arrived yet"},
    {"id": "T2", "subject": "Invoice 2231 shows the wrong VAT number"},
    {"id": "T3", "subject": "The reading lamp flickers and I want a replacement"},
]


@pytest.mark.parametrize(
    ("text", "ticket"),
    [
        ("Any news about the boots? Still nothing here.", "T1"),
        ("Did you correct the VAT number on the invoice?", "T2"),
        ("Do you sell garden chairs?", None),
        ("😀", None),
    ],
)
async def test_a_message_is_matched_by_meaning_or_not_at_all(text: str, ticket: str | None) -> None:
    found = await answered(TaskKind.MATCH, text, inputs={"candidates": TICKETS})
    assert found["match"] == ticket


async def test_one_candidate_twice_is_no_match() -> None:
    both = [{**TICKETS[1], "id": "A"}, {**TICKETS[1], "id": "B"}]
    found = await answered(TaskKind.MATCH, "The VAT number again", inputs={"candidates": both})
    assert (found["match"], found["margin"]) == (None, 0.0)


async def test_a_summary_is_made_of_the_messages_own_sentences() -> None:
    text = (
        "Hello. I ordered a blue teapot two weeks ago. It arrived with a crack in the lid. The"
        " weather is nice today.\n> On Monday you wrote: hello\nI would like a new teapot or my"
        " money back. Thanks!"
    )
    found = await answered(TaskKind.SUMMARISE, text)
    assert found["extractive"] is True
    assert "teapot" in found["text"]
    assert "you wrote" not in found["text"]
    assert len(found["text"]) < len(text)
    rest = text
    for sentence in found["text"].replace(". ", ".|").split("|"):
        before, _, rest = rest.partition(sentence)
        assert before != rest


@pytest.mark.parametrize(
    ("criteria", "passed", "reason"),
    [
        ([{"contains": "parcel"}, {"language": "en"}], True, "all 2 criteria hold"),
        ([{"contains": ["parcel", "refund"]}], False, "does not contain 'refund'"),
        ([{"not_contains": "parcel"}], False, "it contains 'parcel'"),
        ({"language": "cs"}, False, "its language is en, not cs"),
        ([{"similar_to": "Where's my package?"}], True, "hold"),
        ([{"similar_to": {"text": "Cats sleep a lot.", "at_least": 0.95}}], False, "below 0.95"),
        ([{"max_words": 3}], False, "more than 3"),
        ([{"min_words": 3}], True, "hold"),
        (["is it polite?"], False, "without an LLM nobody can judge 'is it polite?'"),
        ([{"contains": 7}], False, "cannot be '7'"),
        (None, False, "there are no criteria"),
    ],
)
async def test_what_can_be_checked_is_judged_and_the_rest_is_not(
    criteria: Any, passed: bool, reason: str
) -> None:
    found = await answered(
        TaskKind.JUDGE, "Where is my parcel, please?", inputs={"criteria": criteria}
    )
    assert found["passed"] is passed
    assert reason in found["reason"]
    if reason.startswith(("without", "cannot", "there")):
        assert found["confidence"] == 0.0


async def test_a_stage_with_its_own_prompt_needs_an_llm() -> None:
    with pytest.raises(ModelAnswerInvalid, match="needs an LLM"):
        await answered(TaskKind.PROMPT, prompt="Tell me a joke.")


async def test_fields_it_does_not_know_are_not_made_up() -> None:
    with pytest.raises(ModelAnswerInvalid, match="'urgency' is missing"):
        await answered(TaskKind.CLASSIFY, choices=CHOICES, required=("category", "urgency"))
