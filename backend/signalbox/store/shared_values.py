"""Small named values that all workers of one database share."""

from sqlalchemy import Connection, select

from signalbox.store.engines.portable_sql import insert_into
from signalbox.store.runs.leases import notify
from signalbox.store.tables import SHARED

OVERRIDE = "tool_loop_v2"
DELIMITER_KEY = "fence_secret"
IMAGE_KEY = "image_secret"
SIGN_IN_KEY = "sign_in_secret"
OVERRIDE_NOTICE = "lever"


def get_shared(connection: Connection, name: str) -> bytes | None:
    """Return a value, None where it is not set."""
    return connection.execute(select(SHARED.c.value).where(SHARED.c.name == name)).scalar()


def put_shared(connection: Connection, name: str, value: bytes) -> None:
    """Set a value."""
    added = insert_into(connection, SHARED).values(name=name, value=value)
    connection.execute(added.on_conflict_do_update(index_elements=["name"], set_={"value": value}))


def set_shared_override(connection: Connection, value: bytes) -> None:
    """Set the flag override and notify the other workers when it is committed."""
    put_shared(connection, OVERRIDE, value)
    if connection.dialect.name == "postgresql":
        notify(connection, OVERRIDE_NOTICE)


def shared_once(connection: Connection, name: str, value: bytes) -> bytes:
    """Set a value unless one exists, and return the stored one; of concurrent callers, one wins."""
    connection.execute(insert_into(connection, SHARED).values(name=name, value=value).on_conflict_do_nothing())
    return connection.execute(select(SHARED.c.value).where(SHARED.c.name == name)).scalar_one()
