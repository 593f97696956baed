"""`routing` of desk.yaml: rules that choose a message's route, the first that matches wins."""

from typing import Annotated, Literal

from pydantic import Field

from deskhand.config.sections.section import Section

Words = Annotated[str, Field(min_length=1, max_length=1000)]


class MatchSection(Section):
    """What a message must be like: all that is written here must hold; nothing written never
    matches."""

    all: bool | None = None
    """`true` matches every message."""
    sender_email: Words | None = None
    """The sender's address, exactly."""
    sender_domain: Words | None = None
    """What stands after the @ of the sender's address, exactly."""
    subject_contains: Words | None = None
    """A piece of the subject, in any case."""
    header_match: dict[Words, str] | None = Field(default=None, min_length=1)
    """Headers by name with the pattern (RE2) that a value of each must contain a match of."""
    forwarded_from: Words | None = None
    """An address: the sender's, or one in X-Forwarded-From, in Reply-To or in the body."""
    any: "list[MatchSection] | None" = None
    """At least one of these must match."""
    not_: "MatchSection | None" = Field(default=None, alias="not")
    """This must not match."""
    language: Words | None = None
    """The language of the message, as `cs`."""
    channel: Words | None = None
    """The channel the message came on, by name."""
    attachment: bool | Words | None = None
    """Whether there is one; or its type (`application/pdf`, `image/*`) or ending (`.pdf`)."""
    intent: Words | None = None
    """What the message wants, as the desk's intents say."""


class RoutingRuleSection(Section):
    """A routing rule: which messages go which way."""

    name: Words
    """What the rule is called in the run."""
    match: MatchSection
    """Which messages it is about."""
    route: Literal["pipeline", "agent"] = "pipeline"
    """`pipeline` is a flow, `agent` an agent with a profile."""
    profile: Words | None = None
    """The agent's profile; needed with `route: agent`."""
    flow: Words | None = None
    """The flow; the desk's default flow if absent."""
    preprocess: Words | None = None
    """What reads the message first: `crisp` takes the customer's words out of a mail that Crisp
    passed on."""


class RoutingSection(Section):
    """Where messages go."""

    rules: list[RoutingRuleSection] = Field(default_factory=list[RoutingRuleSection])
    """The rules; the first that matches wins, and without any a message takes the default flow."""


class MailSection(Section):
    """Whom the desk believes about its mail."""

    trusted_servers: list[Words] = Field(default_factory=list[Words])
    """Names under which the desk's own mail server writes Authentication-Results, as
    `mx.example.com`."""
    forwarders: list[Words] = Field(default_factory=list[Words])
    """Addresses of helpdesks that pass customers' mail on; the customer they name is answered."""
