"""Intent models: learned from a handful of examples, sure of what they are sure of, silent about
the rest."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deskhand import IntentModel
from deskhand.config.yaml import read_yaml
from deskhand.errors import ConfigError
from deskhand.language.calibrate import calibrate, needed, upper_bound
from deskhand.language.experts import Matrix
from deskhand.language.ngrams import Ngrams

DATA = read_yaml(Path(__file__).parents[2] / "data" / "crosslingual.yaml").data
EXAMPLES = [(text, label) for label, texts in DATA["examples"].items() for text in texts]


@pytest.fixture(scope="module")
def model() -> IntentModel:
    return IntentModel.fit(EXAMPLES)


def test_it_answers_what_its_examples_ask(model: IntentModel) -> None:
    asked = ["Where's my package?", "please cancel my order", "I forgot my password"]
    said = model.predict(asked)
    assert [one.label for one in said] == ["order_status", "cancel_order", "login_problem"]
    assert all(
        one.best == one.label and one.confidence > 0.7 and one.runner_up != one.best for one in said
    )


@pytest.mark.parametrize("language", ["cs", "de", "es", "fr", "pl"])
def test_english_examples_carry_over(model: IntentModel, language: str) -> None:
    asked = [
        (text, label) for label, texts in DATA["sentences"][language].items() for text in texts
    ]
    predictions = model.predict([text for text, _ in asked])
    answered = [
        (prediction.label, label)
        for prediction, (_, label) in zip(predictions, asked, strict=True)
        if prediction.label is not None
    ]
    assert len(answered) >= 0.4 * len(asked)
    assert sum(said == label for said, label in answered) >= 0.8 * len(answered)


@pytest.mark.parametrize(
    "text", ["", "  ", "\x00\x07\x1b", "😀🎉", "我的包裹在哪里？", "מה שעות הפתיחה", "\ud800"]
)
def test_what_cannot_be_read_is_not_answered(model: IntentModel, text: str) -> None:
    [said] = model.predict([text])
    assert said.label is None
    assert said.confidence == 0
    assert said.best in model.labels


@pytest.mark.parametrize(
    "text", ["What is the capital of France?", "x" * 1_000_000, "Quarks and gluons bind protons"]
)
def test_what_is_out_of_scope_is_not_answered(model: IntentModel, text: str) -> None:
    assert model.predict([text])[0].label is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Where is my order? Kde je moje objednávka? Где мой заказ?", "order_status"),
        ("我的包裹在哪里 أين الطرد מה שעות 주문은 어디 order?", None),
    ],
)
def test_of_mixed_scripts_it_answers_what_it_can_read(
    model: IntentModel, text: str, label: str | None
) -> None:
    assert model.predict([text])[0].label == label


def test_a_long_mail_is_answered_by_what_it_says_first(model: IntentModel) -> None:
    mail = (
        "Please cancel my order. I want to cancel it before it ships. "
        + "Thank you and kind regards. " * 2000
    )
    assert model.predict([mail])[0].best == "cancel_order"


def test_no_texts_no_predictions(model: IntentModel) -> None:
    assert model.predict([]) == []


def test_the_report_says_what_was_measured(model: IntentModel) -> None:
    report = model.report
    assert (report.examples, report.labels, report.measured) == (80, 10, 80)
    assert report.accuracy is not None
    assert report.accuracy > 0.75
    assert report.coverage is not None
    assert report.error is not None
    assert report.error <= report.error_budget
    assert report.keeps_budget
    assert report.languages["en"] > 70
    assert sum(model.out_of_fold.best == model.out_of_fold.label) == pytest.approx(
        report.accuracy * 80
    )


def test_a_model_is_the_same_after_saving(model: IntentModel, tmp_path: Path) -> None:
    asked = [text for text, _ in EXAMPLES[:5]] + ["Kde je můj balík?", ""]
    model.save(tmp_path / "m.npz")
    loaded = IntentModel.load(tmp_path / "m.npz")
    assert loaded.predict(asked) == model.predict(asked)
    assert loaded.report == model.report
    assert [path.name for path in tmp_path.iterdir()] == ["m.npz"]


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


def _no_archive(path: Path) -> None:
    path.write_bytes(b"\x80\x04\x95 looks like a pickle")


def _rewritten(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def rewrite(path: Path) -> None:
        with np.load(path) as archive:
            arrays = {name: archive[name] for name in archive.files}
        document = json.loads(arrays["document"].tobytes())
        change(document)
        arrays["document"] = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
        np.savez(path, allow_pickle=False, **arrays)

    return rewrite


def _with_objects(path: Path) -> None:
    array = np.array([{"a": 1}], dtype=object)
    np.savez(path, allow_pickle=True, document=array)


@pytest.mark.parametrize(
    "damage",
    [
        _truncated,
        _no_archive,
        _with_objects,
        _rewritten(lambda document: document.update(format=0)),
        _rewritten(lambda document: document.update(labels=["one"])),
        _rewritten(lambda document: document.pop("calibrations")),
    ],
)
def test_a_damaged_model_is_a_clear_error(
    model: IntentModel, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "m.npz"
    model.save(path)
    damage(path)
    with pytest.raises(ConfigError, match=r"this is no intent model"):
        IntentModel.load(path)


def test_a_missing_model_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such intent model"):
        IntentModel.load(tmp_path / "nowhere.npz")


def test_the_same_material_is_learned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = EXAMPLES[:16]
    told: list[str] = []
    first = IntentModel.fit_cached(
        some, tmp_path, progress=lambda what, done, total: told.append(what)
    )
    assert {"reading", "learning"} <= set(told)
    told.clear()
    predicted = first.predict(["Where is it?"])
    del first
    again = IntentModel.fit_cached(
        some, tmp_path, progress=lambda what, done, total: told.append(what)
    )
    assert not told
    assert again.predict(["Where is it?"]) == predicted
    IntentModel.fit_cached(
        some[:-1], tmp_path, progress=lambda what, done, total: told.append(what)
    )
    assert told


def test_models_in_use_share_what_the_same_material_taught(tmp_path: Path) -> None:
    first = IntentModel.fit_cached(EXAMPLES[:16], tmp_path)
    second = IntentModel.fit_cached(EXAMPLES[:16], tmp_path)
    other = IntentModel.fit_cached(EXAMPLES[:15], tmp_path)
    assert second.report is first.report
    assert other.report is not first.report


def test_a_damaged_cache_is_learned_anew(tmp_path: Path) -> None:
    IntentModel.fit_cached(EXAMPLES[:16], tmp_path)
    [path] = tmp_path.glob("*.npz")
    path.write_bytes(b"broken")
    assert IntentModel.fit_cached(EXAMPLES[:16], tmp_path).labels == ("order_status", "return_item")
    assert zipfile.is_zipfile(path)


def test_names_and_descriptions_alone_are_a_weak_start() -> None:
    model = IntentModel.fit(
        [],
        descriptions={
            "opening_hours": "When the shop is open",
            "cancel_order": "Stop an order that was placed",
        },
    )
    assert model.report.without_examples == ("cancel_order", "opening_hours")
    assert not model.report.keeps_budget
    said = model.predict(
        ["When are you open?", "Cancel the order", "Bitte stornieren Sie meine Bestellung"]
    )
    assert [one.best for one in said] == ["opening_hours", "cancel_order", "cancel_order"]


def test_one_example_a_class() -> None:
    first = {label: text for text, label in reversed(EXAMPLES)}
    model = IntentModel.fit([(text, label) for label, text in first.items()])
    assert model.report.measured == 0
    assert model.predict(["Where is my order?"])[0].best == "order_status"


STRANGERS = [
    "What's the weather like?",
    "Tell me a joke",
    "Who won the match?",
    "How tall is the Eiffel tower?",
]


def test_a_handful_of_examples_answers_its_own_questions_and_no_strangers() -> None:
    few = [one for label in ("order_status", "cancel_order", "refund") for one in _of(label)[:3]]
    model = IntentModel.fit(few, out_of_scope=STRANGERS)
    report = model.report
    assert (report.measured, report.keeps_budget) == (9, False)
    assert report.coverage is not None
    assert report.coverage > 0
    assert report.out_of_scope_recall == 1.0
    assert report.more_examples is not None
    assert report.more_examples > 40
    said = model.predict(
        ["Where is my order now?", "Please cancel my order", *STRANGERS, "Sing me a song"]
    )
    assert [one.label for one in said] == [
        "order_status",
        "cancel_order",
        None,
        None,
        None,
        None,
        None,
    ]


def _of(label: str) -> list[tuple[str, str]]:
    return [one for one in EXAMPLES if one[1] == label]


def test_one_label_only() -> None:
    model = IntentModel.fit(
        [("Where is my order?", "order_status"), ("Has my parcel been sent?", "order_status")]
    )
    [said] = model.predict(["Where is it?"])
    assert (said.best, said.runner_up) == ("order_status", None)


def test_one_text_under_two_labels_is_told() -> None:
    model = IntentModel.fit([*EXAMPLES[:24], ("Where is my ORDER?", "refund")])
    [conflict] = model.report.conflicts
    assert conflict.labels == ("order_status", "refund")


def test_repeated_and_empty_examples_are_skipped() -> None:
    model = IntentModel.fit(
        [*EXAMPLES[:16], EXAMPLES[0], ("", "refund"), ("😀", "refund"), ("Money back!", "refund")]
    )
    assert model.report.skipped == 3
    assert model.report.examples == 17


def test_a_mislabelled_example_is_suspected() -> None:
    wrong = ("Please cancel my order, cancel the order", "opening_hours")
    model = IntentModel.fit([*EXAMPLES, wrong])
    assert (wrong[0], "opening_hours", "cancel_order") in [one[:3] for one in model.report.suspects]
    assert any(
        one.label == "opening_hours" and one.taken_for == "cancel_order"
        for one in model.report.confusions
    )


def test_out_of_scope_examples_teach_what_not_to_answer() -> None:
    model = IntentModel.fit(EXAMPLES, out_of_scope=STRANGERS)
    assert model.report.out_of_scope == 4
    assert model.report.out_of_scope_recall is not None
    assert model.report.out_of_scope_recall >= 0.75
    assert model.predict(["Do you know a good joke?"])[0].label is None


def test_nothing_to_learn_is_a_clear_error() -> None:
    with pytest.raises(ConfigError, match="no intent to learn"):
        IntentModel.fit([])
    with pytest.raises(ValueError, match="error budget"):
        IntentModel.fit(EXAMPLES, error_budget=0)


def test_the_threshold_keeps_the_budget_with_room_for_chance() -> None:
    chance = np.random.default_rng(3)
    kept = 0
    for _ in range(50):
        scores = chance.normal(size=2000)
        right = chance.random(2000) < 1 / (1 + np.exp(-2 * (scores + 1)))
        found = calibrate(scores[:1000], right[:1000], 0.05)
        answered = scores[1000:] >= found.threshold
        assert answered.mean() > 0.2
        kept += (~right[1000:][answered]).mean() <= 0.05
    assert kept >= 46


def test_a_budget_that_cannot_be_kept_answers_nothing() -> None:
    scores = np.linspace(0, 1, 200)
    found = calibrate(scores, np.arange(200) % 2 == 0, 0.01)
    assert found.assurance is None
    assert not (scores >= found.threshold).any()


def test_what_a_few_examples_show_is_believed_but_not_called_proven() -> None:
    right = np.ones(20, dtype=bool)
    right[[9, 3]] = False
    scores = np.linspace(1, 2, 20)
    found = calibrate(scores, right, 0.05)
    assert found.assurance is None
    assert (scores >= found.threshold).tolist() == [False] * 10 + [True] * 10


def test_how_many_answers_would_prove_a_budget() -> None:
    assert needed(0, 10, 0.05) == 59
    assert needed(0, 0, 0.01) == 299
    assert needed(2, 100, 0.05) in range(150, 250)
    assert needed(1, 10, 0.05) is None


def test_bounds_are_those_of_clopper_and_pearson() -> None:
    found = upper_bound(np.array([0, 1, 5, 10]), np.array([10, 10, 100, 10]), 0.95)
    assert found == pytest.approx([0.2589, 0.3942, 0.1023, 1.0], abs=1e-3)


def test_ngrams_weigh_words_and_characters() -> None:
    grams = Ngrams.learn(["red shoes", "red hats", "blue hats"])
    places, values = grams.vector("Red hats!")
    assert {"\tred", "\tred hats", " re", "hats"} <= {
        piece for piece, place in grams.places.items() if place in places
    }
    assert np.sum(values**2) == pytest.approx(2, abs=1e-5)
    assert len(grams.vector("完全")[0]) == 0
    assert Matrix.of(grams, []).width == len(grams.places)


def test_one_stranger_who_looks_like_a_question_does_not_decide_alone() -> None:
    chance = np.random.default_rng(7)
    scores = chance.normal(4.0, 1.0, 5000)
    right = np.ones(5000, dtype=bool)
    strangers = chance.normal(0.0, 0.3, 120)
    odd = 1.3
    threshold = calibrate(scores, right, 0.05, np.append(strangers, odd)).threshold
    assert strangers.max() < threshold < odd
    assert calibrate(scores, right, 0.05, strangers).threshold < threshold
