"""`reviews:` in desk.yaml: what waits how long, and replies at hand."""

from pathlib import Path

import pytest

from deskhand.config.desk import load_desk
from deskhand.config.sections.expiry import ExpirySpec
from deskhand.config.sections.reviews import ReviewsSpec
from deskhand.errors import ConfigErrors

DESK = """
desk: shop
slots: {order: {type: order_number}}
flows:
  main:
    stages:
      review: {service: review}
"""


def load(folder: Path, more: str) -> ReviewsSpec:
    (folder / "desk.yaml").write_text(DESK + more, encoding="utf-8")
    return load_desk(folder, services={"review"}).reviews


def test_without_it_things_wait_for_ever(tmp_path: Path) -> None:
    spec = load(tmp_path, "")
    assert (spec.expiry, spec.canned) == (None, {})


def test_lengths_and_texts_are_read(tmp_path: Path) -> None:
    spec = load(
        tmp_path,
        "reviews: {expire_after: 2 days, canned: {one: 'About {slots.order}', two: {en: 'Hi"
        " {name}', cs: Dobrý den}}}",
    )
    assert spec.expiry == ExpirySpec(after=2 * 86400)
    assert spec.canned == {
        "one": {"": "About {slots.order}"},
        "two": {"en": "Hi {name}", "cs": "Dobrý den"},
    }


def test_what_happens_to_things_that_nobody_decides_is_chosen_by_desk_and_stage(
    tmp_path: Path,
) -> None:
    spec = load(tmp_path, "reviews: {expire: {after: 4 hours, then: assign, to: lead}}")
    assert spec.expiry == ExpirySpec(after=4 * 3600, then="assign", to="lead")
    (tmp_path / "desk.yaml").write_text(
        DESK.replace(
            "{service: review}", "{service: review, expire: {after: 1 day, then: hand_over}}"
        )
    )
    desk = load_desk(tmp_path, services={"review"})
    assert desk.flows["main"].stages["review"].settings["expire"] == {
        "after": 86400,
        "then": "hand_over",
        "to": None,
    }
    assert desk.reviews.expiry is None


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("reviews: {canned: {one: 'Dear {nmae}'}}", "did you mean `name`"),
        ("reviews: {canned: {one: {cs: 'O {slots.ordr}'}}}", "slots.order"),
        ("reviews: {expire_after: soon}", "expire_after"),
        ("reviews: {expire: {after: 1 day, then: send}}", "then"),
        ("reviews: {expire: {after: 1 day, then: assign}}", "add `to: NAME`"),
        ("reviews: {expire: {after: 1 day, to: lead}}", "write `then: assign`"),
        ("reviews: {expire: {after: 1 day}, expire_after: 1 day}", "say the same thing twice"),
        ("reviews: {canned: {one: ''}}", "one"),
        (
            (
                "reviews: {notify: {digest: {channel: suport, to: [a@acme.example], at:"
                " ['08:30']}}}\nchannels: {support: {files: mail}}"
            ),
            "did you mean `support`",
        ),
        (
            "reviews: {notify: {digest: {channel: support, to: [a@acme.example], at: ['8:30']}}}",
            "at",
        ),
        ("reviews: {notify: {webhook: {url: 'https://a.example/'}}}", "secret_file"),
        ("reviews: {notify: {webhook: {url: 'http://a.example/', secret_env: HOOK}}}", "https://"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_write(tmp_path: Path, more: str, words: str) -> None:
    with pytest.raises(ConfigErrors) as caught:
        load(tmp_path, more)
    assert words in str(caught.value)
    assert "desk.yaml:" in str(caught.value)


def test_how_reviewers_are_told_is_read(tmp_path: Path) -> None:
    spec = load(
        tmp_path,
        "channels: {support: {files: mail}}\nreviews: {notify: {digest: {channel: support, to:"
        " [a@acme.example], at: ['13:00', '08:30']}, webhook: {url: 'http://127.0.0.1:9/',"
        " secret_file: secrets/hook}}}",
    ).notify
    assert spec.digest is not None
    assert spec.webhook is not None
    assert spec.digest.at == ((8, 30), (13, 0))
    assert (spec.webhook.secret_file, spec.webhook.content) == (
        tmp_path / "secrets" / "hook",
        False,
    )
