"""What all workers of one database share beside runs: small values by name."""

from sqlalchemy import Connection, select

from signalbox.store.engines.portable_sql import insert_into
from signalbox.store.runs.leases import notify
from signalbox.store.tables import SHARED

LEVER = "tool_loop_v2"
FENCE = "fence_secret"
LEVER_NOTICE = "lever"


def get_shared(connection: Connection, name: str) -> bytes | None:
    """Return a value, None where it is not set."""
    return connection.execute(select(SHARED.c.value).where(SHARED.c.name == name)).scalar()


def put_shared(connection: Connection, name: str, value: bytes) -> None:
    """Set a value."""
    added = insert_into(connection, SHARED).values(name=name, value=value)
    connection.execute(added.on_conflict_do_update(index_elements=["name"], set_={"value": value}))


def pull_shared_lever(connection: Connection, value: bytes) -> None:
    """Set the lever, and tell the other workers once it is kept."""
    put_shared(connection, LEVER, value)
    if connection.dialect.name == "postgresql":
        notify(connection, LEVER_NOTICE)


def shared_once(connection: Connection, name: str, value: bytes) -> bytes:
    """Set a value unless there is one, and return the one that stands: of those who come at once, one is first."""
    connection.execute(insert_into(connection, SHARED).values(name=name, value=value).on_conflict_do_nothing())
    return connection.execute(select(SHARED.c.value).where(SHARED.c.name == name)).scalar_one()
