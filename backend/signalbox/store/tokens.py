"""API tokens as rows: add, list, find, change, revoke."""

from collections.abc import Callable
from typing import Any

from msgspec import json
from sqlalchemy import Connection, RowMapping, insert, or_, select, update

from signalbox.core.security.api_tokens import Token
from signalbox.core.security.policies import NO_POLICY, Policy
from signalbox.store.groups import check_group
from signalbox.store.tables import TOKENS

_POLICY = json.Decoder(Policy)


def add_token(connection: Connection, token: Token) -> None:
    """Insert a new token; raises UnknownGroup."""
    check_group(connection, token.group)
    connection.execute(insert(TOKENS).values(_row_of(token)))


def list_tokens(connection: Connection) -> list[Token]:
    """Return all tokens, oldest first, including expired and revoked ones."""
    asked = select(TOKENS).order_by(TOKENS.c.created, TOKENS.c.id)
    return [_token_of(row) for row in connection.execute(asked).mappings()]


def find_token(connection: Connection, token_id: str) -> Token | None:
    """Return a token, None for an unknown one."""
    row = connection.execute(select(TOKENS).where(TOKENS.c.id == token_id)).mappings().first()
    return _token_of(row) if row else None


def change_token(connection: Connection, token_id: str, change: Callable[[Token], Token]) -> Token | None:
    """Replace a token by `change(token)` and return the result, None for an unknown token; raises UnknownGroup."""
    asked = select(TOKENS).where(TOKENS.c.id == token_id).with_for_update()
    row = connection.execute(asked).mappings().first()
    if row is None:
        return None
    before = _token_of(row)
    after = change(before)
    if after.group != before.group:
        check_group(connection, after.group)
    connection.execute(update(TOKENS).where(TOKENS.c.id == token_id).values(_row_of(after)))
    return after


def revoke_token(connection: Connection, token_id: str, now: float) -> Token | None:
    """Revoke a token and return it, None for an unknown one; an earlier revocation keeps its time.

    The row stays, because runs and conversations still refer to their owner.
    """
    asked = update(TOKENS).where(TOKENS.c.id == token_id, TOKENS.c.revoked.is_(None))
    connection.execute(asked.values(revoked=now))
    return find_token(connection, token_id)


def mark_used(connection: Connection, token_id: str, now: float, interval: float) -> bool:
    """Store that a token is used now, unless a use within `interval` seconds is stored; return whether it was stored.

    Of several workers, only one stores a use per interval.
    """
    is_due = or_(TOKENS.c.last_used.is_(None), TOKENS.c.last_used <= now - interval)
    asked = update(TOKENS).where(TOKENS.c.id == token_id, is_due).values(last_used=now)
    return connection.execute(asked).rowcount > 0


def _row_of(token: Token) -> dict[str, Any]:
    row = {name: getattr(token, name) for name in Token.__slots__}
    del row["group"]
    policy = None if token.policy == NO_POLICY else json.encode(token.policy)
    return {**row, "group_name": token.group, "policy": policy}


def _token_of(row: RowMapping) -> Token:
    values = {**row}
    policy, group = values.pop("policy"), values.pop("group_name")
    return Token(**values, group=group, policy=_POLICY.decode(policy) if policy else NO_POLICY)
