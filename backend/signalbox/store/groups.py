"""Groups as rows: put, list, find, delete."""

from msgspec import json
from sqlalchemy import Connection, RowMapping, delete, func, select, update

from signalbox.core.security.policies import Group, Policy
from signalbox.store.engines.portable_sql import insert_into
from signalbox.store.tables import GROUPS, TOKENS


class UnknownGroup(Exception):
    """There is no group with this name."""


_POLICY = json.Decoder(Policy)


def put_group(connection: Connection, group: Group) -> tuple[Group | None, Group]:
    """Create or replace a group; return the former one, None for a new one, and the stored one.

    An existing group keeps its time of creation.
    """
    before = find_group(connection, group.name)
    changing = {"policy": json.encode(group.policy), "expires": group.expires}
    added = insert_into(connection, GROUPS).values(name=group.name, created=group.created, **changing)
    connection.execute(added.on_conflict_do_update(index_elements=["name"], set_=changing))
    stored = find_group(connection, group.name)
    assert stored is not None
    return before, stored


def list_groups(connection: Connection) -> list[Group]:
    """Return all groups by name."""
    return [_group_of(row) for row in connection.execute(select(GROUPS).order_by(GROUPS.c.name)).mappings()]


def find_group(connection: Connection, name: str) -> Group | None:
    """Return a group, None for an unknown one."""
    row = connection.execute(select(GROUPS).where(GROUPS.c.name == name)).mappings().first()
    return _group_of(row) if row else None


def check_group(connection: Connection, name: str | None) -> None:
    """Check that a group exists, and keep it until the end of this transaction; raises UnknownGroup."""
    if name is not None:
        asked = select(GROUPS.c.name).where(GROUPS.c.name == name).with_for_update()
        if connection.execute(asked).first() is None:
            raise UnknownGroup(name)


def delete_group(connection: Connection, name: str) -> int:
    """Delete a group without valid tokens; return how many valid tokens it has. Raises UnknownGroup."""
    check_group(connection, name)
    in_use = select(func.count()).where(TOKENS.c.group_name == name, TOKENS.c.revoked.is_(None))
    if count := connection.execute(in_use).scalar_one():
        return count
    connection.execute(update(TOKENS).where(TOKENS.c.group_name == name).values(group_name=None))
    connection.execute(delete(GROUPS).where(GROUPS.c.name == name))
    return 0


def _group_of(row: RowMapping) -> Group:
    return Group(row["name"], row["created"], _POLICY.decode(row["policy"]), row["expires"])
