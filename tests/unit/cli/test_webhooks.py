"""`deskhand webhooks`: which addresses are told what happens."""

import socket

import pytest

from tests.cli_kit import Cli


@pytest.fixture(autouse=True)
def _environment(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKHAND_SECRET_KEY", "a key of at least thirty-two characters")
    monkeypatch.setenv("DESKHAND_WEBHOOK_NETWORKS", "127.0.0.0/8")


def test_addresses_are_added_tried_switched_and_removed(cli: Cli) -> None:
    cli("keys", "add", "x", "--scope", "kb:read", "--desk", "*")
    assert "nobody is told" in cli("webhooks", "list").out
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        made = cli("webhooks", "add", url, "--event", "run.ended", "--desk", "sample", "--json")
        webhook = made.json["id"]
        assert made.json["secret"].startswith("whsec_")
        assert made.json["events"] == ["run.ended"]
        tried = cli("webhooks", "test", webhook)
        assert (tried.code, "could not be reached" in tried.out) == (1, True)
    [delivery] = cli("webhooks", "deliveries", webhook, "--json").json["deliveries"]
    assert (delivery["type"], delivery["state"], delivery["attempts"]) == ("webhook.test", "due", 1)
    assert cli("webhooks", "retry", webhook, delivery["id"], "--json").json["attempts"] == 0
    assert "failing" in cli("webhooks", "list").out
    assert cli("webhooks", "rotate", webhook, "--json").json["generation"] == 2
    assert cli("webhooks", "disable", webhook, "--json").json["disabled_at"] is not None
    assert "works" in cli("webhooks", "enable", webhook).out
    assert "is removed" in cli("webhooks", "remove", webhook).out
    gone = cli("webhooks", "deliveries", webhook)
    assert (gone.code, "there is no webhook" in gone.err) == (1, True)


def test_what_cannot_be_is_refused_with_what_to_write(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("keys", "add", "x", "--scope", "kb:read", "--desk", "*")
    inside = cli("webhooks", "add", "https://10.0.0.1/")
    assert (inside.code, "DESKHAND_WEBHOOK_NETWORKS" in inside.err) == (2, True)
    unknown = cli("webhooks", "add", "https://hooks.example.com/", "--event", "everything")
    assert (unknown.code, "run.ended" in unknown.err) == (2, True)
    monkeypatch.delenv("DESKHAND_SECRET_KEY")
    keyless = cli("webhooks", "add", "https://hooks.example.com/")
    assert (keyless.code, "DESKHAND_SECRET_KEY" in keyless.err) == (2, True)
