"""Logging in with a provider outside, beside names and passwords."""

from dataclasses import dataclass
from typing import Protocol

from deskhand.model.access import Admission, Identity


class IdentityProvider(Protocol):
    """An OpenID provider. ProviderAway where it does not answer; LoginRefused where what it says
    lets nobody in."""

    @property
    def name(self) -> str:
        """As the login page names it."""
        ...

    async def begin(self, secret: str) -> str:
        """Where the browser goes to log in."""
        ...

    def is_answer_to(self, secret: str, state: str) -> bool:
        """Whether an answer belongs to the login that this browser began."""
        ...

    async def finish(self, secret: str, code: str, issuer: str | None) -> Identity:
        """Who logged in."""
        ...

    async def logout_url(self) -> str | None:
        """Where somebody logs out of the provider too."""
        ...


class IdentityLogins(Protocol):
    """Accounts of people that a provider vouches for."""

    async def begin(self, to: str) -> str:
        """The secret of a login, which the browser keeps."""
        ...

    async def take(self, secret: str) -> str | None:
        """Where a login leads, once; None where there is none such any more."""
        ...

    async def log_in(self, identity: Identity, admission: Admission) -> tuple[str, str]:
        """The person's name and the secret of a new session."""
        ...


@dataclass(frozen=True, slots=True)
class SingleSignOn:
    """How people log in with a provider, and whether passwords count beside it."""

    provider: IdentityProvider
    logins: IdentityLogins
    admission: Admission
    passwords: bool = True
