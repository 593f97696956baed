"""The checkpoints of active tickets in Redis.

Keys follow `{prefix}:{customer_id}:{ticket_id}:{desk}`, as `langgraph:checkpoint:CUST-001:TKT-...`;
whoever has no customer number stands there with his kind (`address%3Aann@example.com`). A set for
each customer names his tickets, so nothing is ever found by scanning all keys. Keys of other
programs are neither read nor deleted.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, unquote, urlsplit, urlunsplit

from deskhand.errors import ConfigError, ForeignKey, StoreUnavailable
from deskhand.model.ticket import customer_named, customer_written

if TYPE_CHECKING:
    from redis.asyncio import Redis

PREFIX = "langgraph:checkpoint"
_PLAIN = "@.-_"
"""Signs of an id that stand in a key as they are; `:` and `*` would be read as part of a
pattern."""
_SECONDS = 5.0
_PORTION = 500


def is_redis(url: str) -> bool:
    return urlsplit(url).scheme in ("redis", "rediss", "unix")


def open_redis_tickets(url: str, desk: str) -> "RedisActiveTickets":
    """The store behind `redis://host:6379/0?prefix=langgraph:checkpoint`.

    ConfigError where the library is missing or the address cannot be read.
    """
    try:
        from redis.asyncio import Redis
    except ImportError:
        raise ConfigError(
            "tickets in Redis need the redis library", fix="pip install 'deskhand[redis]'"
        ) from None
    parts = urlsplit(url)
    settings = parse_qs(parts.query)
    prefix = settings.pop("prefix", [PREFIX])[-1]
    unknown = sorted(settings)
    if unknown or not prefix or any(mark in prefix for mark in "*?[]\\ \n"):
        raise ConfigError(
            f"{parts.scheme}://{parts.hostname}{parts.path}?{parts.query} is no address of Redis",
            fix=f"write redis://host:6379/0 or redis://host:6379/0?prefix={PREFIX}",
        )
    try:
        client = Redis.from_url(
            urlunsplit(parts._replace(query="")),
            decode_responses=True,
            socket_timeout=_SECONDS,
            socket_connect_timeout=_SECONDS,
        )
    except ValueError as error:
        raise ConfigError(
            f"the address of Redis cannot be read: {error}", fix="write redis://host:6379/0"
        ) from None
    return RedisActiveTickets(client, desk, prefix)


class RedisActiveTickets:
    """One desk's part of a Redis database."""

    def __init__(self, client: "Redis", desk: str, prefix: str = PREFIX) -> None:
        self._client, self._prefix, self._desk = client, prefix, desk

    async def scan_activated_ticket_ids(self, customer_id: str) -> list[str]:
        key = self._set(customer_id)
        members = await _asked(self._client.smembers(key), key)
        return sorted(unquote(member) for member in members)

    async def get_raw_checkpoint_data(
        self, customer_id: str, ticket_id: str
    ) -> dict[str, Any] | None:
        key = self._key(customer_id, ticket_id)
        return _read(await _asked(self._client.get(key), key))

    async def checkpoints_of(self, customer_id: str) -> dict[str, dict[str, Any]]:
        ids = await self.scan_activated_ticket_ids(customer_id)
        if not ids:
            return {}
        keys = [self._key(customer_id, ticket_id) for ticket_id in ids]
        values = await _asked(self._client.mget(keys))
        read = {ticket_id: _read(raw) for ticket_id, raw in zip(ids, values, strict=True)}
        # what was lost is shown as empty: whoever reads tells it anew
        return {ticket_id: data or {} for ticket_id, data in read.items()}

    async def put_checkpoint(
        self, customer_id: str, ticket_id: str, data: Mapping[str, Any]
    ) -> None:
        written = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        names, key = self._set(customer_id), self._key(customer_id, ticket_id)
        async with self._client.pipeline(transaction=True) as together:
            together.sadd(names, quote(ticket_id, safe=_PLAIN))
            together.set(key, written)
            try:
                await _asked(together.execute(), names)
            except ForeignKey:
                await _asked(self._client.delete(key))  # nothing would lead to it
                raise

    async def delete_ticket_checkpoints(self, customer_id: str, ticket_id: str) -> int:
        async with self._client.pipeline(transaction=True) as together:
            together.delete(self._key(customer_id, ticket_id))
            names = self._set(customer_id)
            together.srem(names, quote(ticket_id, safe=_PLAIN))
            deleted, _ = await _asked(together.execute(), names)
        return int(deleted)

    async def all_checkpoints(self) -> AsyncIterator[tuple[str, str]]:
        """Goes through all keys: only to make everything again."""
        async for key in self._all_sets():
            customer = customer_named(unquote(key.removeprefix(self._sets)))
            try:
                if key != self._set(customer):
                    await self._clear_older(key, customer)
                    continue
                ticket_ids = await self.scan_activated_ticket_ids(customer)
            except ForeignKey:
                continue
            for ticket_id in ticket_ids:
                yield customer, ticket_id

    async def _clear_older(self, key: str, customer: str) -> None:
        """Clear what was kept when a customer number stood in keys with its kind."""
        older = quote(customer, safe=_PLAIN)
        desk = quote(self._desk, safe=_PLAIN)
        members = await _asked(self._client.smembers(key), key)
        keys = [f"{self._prefix}:{older}:{member}:{desk}" for member in members]
        await _asked(self._client.delete(key, *keys))

    async def foreign_keys(self) -> list[str]:
        kinds = {key: await _asked(self._client.type(key)) async for key in self._all_sets()}
        return sorted(key for key, kind in kinds.items() if kind not in ("set", "none"))

    async def _all_sets(self) -> AsyncIterator[str]:
        """The keys that should name a customer's tickets."""
        # no sign in it stands for others: ids are quoted, prefixes checked
        pattern = f"{self._sets}*"
        cursor = 0
        while True:
            cursor, keys = await _asked(self._client.scan(cursor, pattern, _PORTION))
            for key in keys:
                yield key
            if cursor == 0:
                return

    async def close(self) -> None:
        await self._client.aclose()

    def _key(self, customer_id: str, ticket_id: str) -> str:
        named = (quote(part, safe=_PLAIN) for part in (ticket_id, self._desk))
        return ":".join((self._prefix, _written(customer_id), *named))

    def _set(self, customer_id: str) -> str:
        return self._sets + _written(customer_id)

    @property
    def _sets(self) -> str:
        """What the keys of this desk's sets begin with."""
        return f"{self._prefix}.customers:{quote(self._desk, safe=_PLAIN)}:"


def _written(customer_id: str) -> str:
    """The customer as he stands in a key."""
    return quote(customer_written(customer_named(customer_id)), safe=_PLAIN)


async def _asked(answer: Awaitable[Any], key: str = "") -> Any:
    """What Redis answers; StoreUnavailable while it is away, ForeignKey where another program has
    something of another kind under the key."""
    from redis.exceptions import RedisError, ResponseError

    try:
        return await answer
    except ResponseError as error:
        if "WRONGTYPE" not in str(error):
            raise StoreUnavailable(f"Redis refused: {error}") from None
        fix = "delete it, or choose another prefix: redis://host:6379/0?prefix=deskhand"
        raise ForeignKey(key, fix=fix) from None
    except (RedisError, OSError) as error:
        raise StoreUnavailable(f"Redis, where active tickets lie, is away: {error}") from None


def _read(raw: Any) -> dict[str, Any] | None:
    """What we wrote under a key; None where nothing is there, or what another program wrote."""
    if raw is None:
        return None
    try:
        data = json.loads(raw)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
