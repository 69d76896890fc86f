"""API tokens as rows: add, list, find, revoke."""

from sqlalchemy import Connection, RowMapping, insert, select, update

from signalbox.core.security.api_tokens import Token
from signalbox.store.tables import TOKENS


def add_token(connection: Connection, token: Token) -> None:
    """Insert a new token."""
    connection.execute(insert(TOKENS).values({name: getattr(token, name) for name in Token.__slots__}))


def list_tokens(connection: Connection) -> list[Token]:
    """Return all tokens, oldest first, including expired and revoked ones."""
    asked = select(TOKENS).order_by(TOKENS.c.created, TOKENS.c.id)
    return [_token_of(row) for row in connection.execute(asked).mappings()]


def find_token(connection: Connection, token_id: str) -> Token | None:
    """Return a token, None for an unknown one."""
    row = connection.execute(select(TOKENS).where(TOKENS.c.id == token_id)).mappings().first()
    return _token_of(row) if row else None


def revoke_token(connection: Connection, token_id: str, now: float) -> Token | None:
    """Revoke a token and return it, None for an unknown one; an earlier revocation keeps its time.

    The row stays, because runs and conversations still refer to their owner.
    """
    asked = update(TOKENS).where(TOKENS.c.id == token_id, TOKENS.c.revoked.is_(None))
    connection.execute(asked.values(revoked=now))
    return find_token(connection, token_id)


def _token_of(row: RowMapping) -> Token:
    return Token(**row)
