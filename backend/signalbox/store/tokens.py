"""API tokens as rows: add, list, find, revoke."""

from sqlalchemy import Connection, RowMapping, insert, select, update

from signalbox.core.security.api_tokens import Token
from signalbox.store.tables import TOKENS


def add_token(connection: Connection, token: Token) -> None:
    """Keep a new token."""
    connection.execute(insert(TOKENS).values({name: getattr(token, name) for name in Token.__slots__}))


def list_tokens(connection: Connection) -> list[Token]:
    """Return all tokens, the oldest first, with those that hold no more."""
    asked = select(TOKENS).order_by(TOKENS.c.created, TOKENS.c.id)
    return [_token_of(row) for row in connection.execute(asked).mappings()]


def find_token(connection: Connection, token_id: str) -> Token | None:
    """Return a token, None for an unknown one."""
    row = connection.execute(select(TOKENS).where(TOKENS.c.id == token_id)).mappings().first()
    return _token_of(row) if row else None


def revoke_token(connection: Connection, token_id: str, now: float) -> Token | None:
    """Revoke a token and return it, None for an unknown one; what was revoked before keeps its time.

    Its row stays: what was made with it is still its own, and the operator sees whose.
    """
    asked = update(TOKENS).where(TOKENS.c.id == token_id, TOKENS.c.revoked.is_(None))
    connection.execute(asked.values(revoked=now))
    return find_token(connection, token_id)


def _token_of(row: RowMapping) -> Token:
    return Token(**row)
