"""`deskhand users`: who may log in."""

from pathlib import Path

from tests.cli_kit import Cli


def test_people_are_added_listed_and_shut_out(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a long enough one\n")
    made = cli("users", "add", "ida", "--desk", "shop", "--password-file", "secret", "--json")
    assert (made.json["name"], made.json["desks"]) == ("ida", ["shop"])
    assert "password" not in made.json
    assert (
        len(cli("users", "add", "otto", "--desk", "*", "--generate", "--json").json["password"])
        >= 16
    )
    assert "ida" in cli("users", "list").out
    again = cli("users", "add", "ida", "--desk", "shop", "--generate")
    assert (again.code, "already" in again.err) == (1, True)
    (tmp_path / "secret").write_text("short")
    short = cli("users", "password", "ida", "--password-file", "secret")
    assert (short.code, "10 to 200 characters" in short.err) == (2, True)
    assert "new password" in cli("users", "password", "ida", "--generate").out
    assert cli("users", "remove", "ida", "--json").json["removed_at"] is not None
    assert "removed" in cli("users", "list").out
    assert cli("users", "remove", "eve").code == 1


def test_where_a_password_cannot_be_asked_for_the_ways_out_are_told(cli: Cli) -> None:
    nowhere, missing = (
        cli("users", "add", "ida", "--desk", "shop", *more)
        for more in ((), ("--password-file", "gone"))
    )
    assert (nowhere.code, missing.code) == (2, 2)
    assert "--password-file, or have one made up with --generate" in nowhere.err
    assert "gone: cannot be read: No such file or directory" in missing.err
