"""A chat on the web, as written in desk.yaml: who may talk how much, when people are there, and how
the widget looks on other pages."""

from typing import Annotated, Literal

from pydantic import Field

from deskhand.config.sections.section import DeskFile, Items, Section, Variable

Origin = Annotated[str, Field(pattern=r"^https?://[a-z0-9.-]+(:[0-9]{1,5})?$", max_length=300)]
Colour = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
Language = Annotated[str, Field(pattern=r"^[a-z]{2}$")]
ShortText = Annotated[str, Field(min_length=1, max_length=300)]
WidgetWord = Literal[
    "launch",
    "title",
    "subtitle",
    "greeting",
    "placeholder",
    "assistant",
    "person",
    "privacy",
]
"""What a desk may say in its own words; all else the widget says alike everywhere."""


class ChatSection(Section):
    """A chat on the web: `{login_secret_env: CHAT_LOGIN_SECRET}`."""

    login_secret_file: DeskFile | None = None
    """The file that holds the secret with which your site signs login tokens (HS256), relative to
    the desk's folder."""
    login_secret_env: Variable | None = None
    """The environment variable that holds it. Without a secret every visitor is anonymous."""
    audience: str | None = Field(default=None, min_length=1, max_length=200)
    """What login tokens say under `aud`; the desk's name if absent."""
    longest_message: int = Field(default=2000, ge=50, le=20_000)
    """Characters of one message."""
    turns_per_hour: int = Field(default=60, ge=1, le=10_000)
    """Messages of one chat within an hour."""
    turns_per_network: int = Field(default=300, ge=1, le=100_000)
    """Messages from one network address within an hour."""
    turns_per_desk: int = Field(default=20_000, ge=1, le=10_000_000)
    """Messages to the desk's chat within an hour."""
    chats_per_network: int = Field(default=20, ge=1, le=10_000)
    """Chats from one network address within an hour."""
    chats_per_desk: int = Field(default=5_000, ge=1, le=1_000_000)
    """Chats with the desk within an hour."""
    spend_per_chat: float | None = Field(default=None, ge=0)
    """What models may cost for one chat within an hour, in the money of their prices; any amount if
    absent."""
    spend_per_network: float | None = Field(default=None, ge=0)
    """The same for all chats from one network address."""
    spend_per_desk: float | None = Field(default=None, ge=0)
    """The same for all chats of the desk. `caps` limits a day's spending, mail included."""
    replies_per_hour: int = Field(default=120, ge=1, le=10_000)
    """Replies that leave by themselves in one chat within an hour."""
    hours: dict[str, str] | None = Field(default=None, min_length=1)
    """When people answer in the chat, in the desk's time zone: `{mon-fri: "9:00-17:00"}`; always if
    absent."""
    proves: str | None = Field(default=None, min_length=1, max_length=100)
    """The slot whose value a visitor may prove to be his by a code, as `order`: the code is mailed
    to the `contact` that your resolver gives. Nobody may if absent."""
    mail_by: str | None = Field(default=None, min_length=1, max_length=60)
    """The channel by which mails of the chat leave (answers, transcripts, codes); the first that
    sends mail if absent, else the outbox folder."""
    origins: Items[Origin] = ()
    """The pages that may embed the widget: `[https://shop.example]`. None may if absent."""
    colour: Colour = "#1f5b4b"
    """The colour of the widget's head and buttons."""
    words: dict[Language, dict[WidgetWord, ShortText]] = Field(default_factory=dict)
    """The widget's own words by language: `{en: {title: Acme, greeting: Hello!}}`."""

    @property
    def limits_spending(self) -> bool:
        limits = (self.spend_per_chat, self.spend_per_network, self.spend_per_desk)
        return any(limit is not None for limit in limits)
