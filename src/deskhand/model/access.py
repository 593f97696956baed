"""Who may call the API: keys, what they may do and which desks they may touch."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deskhand.model.money import Money

ANY_DESK = "*"

DEVICE_SECONDS = 90 * 86400.0
"""How long a browser that somebody has logged in with is known."""


class Scope(StrEnum):
    MESSAGES_WRITE = "messages:write"
    RUNS_READ = "runs:read"
    RUNS_WRITE = "runs:write"
    REVIEWS_READ = "reviews:read"
    REVIEWS_WRITE = "reviews:write"
    TICKETS_READ = "tickets:read"
    TICKETS_WRITE = "tickets:write"
    KB_READ = "kb:read"
    DESKS_WRITE = "desks:write"
    """May stop and resume a desk."""
    USERS_WRITE = "users:write"
    """May let people log in and say what they may do."""
    WEBHOOKS_WRITE = "webhooks:write"
    """May say which addresses are told what happens."""
    CUSTOMERS_ASSERT = "customers:assert"
    """May say which customer a message is from; what others say about that is ignored."""


class Role(StrEnum):
    """What a person may do in the console; each may do what those before it may."""

    VIEWER = "viewer"
    """Looks at everything on the person's desks."""
    AGENT = "agent"
    """Works tickets, assigns, notes, drafts."""
    APPROVER = "approver"
    """Decides reviews, and lets runs go on."""
    ADMIN = "admin"
    """Keeps users and keys, and stops a desk."""

    def covers(self, needed: "Role") -> bool:
        order = list(Role)
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True, slots=True)
class User:
    """A person who logs in to the console; decisions are signed with the name."""

    name: str
    desks: tuple[str, ...]
    """Names of desks, or `*` for all."""
    created_at: float
    removed_at: float | None = None
    role: Role = Role.APPROVER
    limit: "Money | None" = None
    """The largest amount that the person may let move; None for any."""
    mail: str | None = None
    """The person's own address: nobody decides about what that address asked for."""

    def touches(self, desk: str) -> bool:
        return ANY_DESK in self.desks or desk in self.desks

    @property
    def addresses(self) -> frozenset[str]:
        """The person's own ones; a name may be one, too."""
        own = (self.mail or "", self.name)
        return frozenset(address.casefold() for address in own if "@" in address)


@dataclass(frozen=True, slots=True)
class ConsoleAction:
    """Something that somebody did in the console, or tried to."""

    number: int
    at: float
    who: str
    client: str
    """The address that the request came from."""
    method: str
    path: str
    status: int
    """What it was answered with: 403 and 404 say that it was refused."""


@dataclass(frozen=True, slots=True)
class Session:
    """A login in use; the secret that proves it is known to the browser alone."""

    user: User
    csrf: str
    """Every form of this session carries it: another site cannot know it."""
    expires_at: float


@dataclass(frozen=True, slots=True)
class Identity:
    """Who somebody is, as an OpenID provider says it."""

    issuer: str
    subject: str
    """The provider's own name for the person, which never changes."""
    address: str | None
    """The person's address; None where the provider does not vouch for it."""
    groups: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.issuer}|{self.subject}"


@dataclass(frozen=True, slots=True)
class Admission:
    """Whom a provider's word lets in, and as what."""

    roles: Mapping[str, Role]
    """Roles by group. Where there are any, they decide at every login."""
    unknown: Role | None
    """What people become that nothing else says a role for; None lets them not in."""
    desks: tuple[str, ...]
    """The desks of people who come for the first time."""

    def role_of(self, identity: Identity) -> Role | None:
        """The highest role of the person's groups; None where no group has one."""
        roles = [self.roles[group] for group in identity.groups if group in self.roles]
        return max(roles, key=list(Role).index, default=None)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is stored: without its secret, which is shown once."""

    id: str
    name: str
    """Unique among the keys in use: it is what decisions and cancellations are signed with."""
    scopes: frozenset[Scope]
    desks: tuple[str, ...]
    """Names of desks, or `*` for all."""
    created_at: float
    revoked_at: float | None = None

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes

    def touches(self, desk: str) -> bool:
        return ANY_DESK in self.desks or desk in self.desks
