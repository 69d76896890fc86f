"""The tables of costs, budgets and rates."""

from sqlalchemy import BigInteger, Column, Float, Integer, PrimaryKeyConstraint, Table

from signalbox.store.engines.portable_sql import PortableText
from signalbox.store.tables import METADATA, group_column

# What runs have cost, by UTC day of their start. It outlives the runs. Amounts are integers in 1e-9 USD, so that sums
# are exact. `estimated` is the part of `cost` whose bill is missing.
SPEND = Table(
    "spend",
    METADATA,
    Column("day", PortableText, nullable=False),
    Column("owner", PortableText, nullable=False),
    group_column(),
    Column("model", PortableText, nullable=False),
    Column("runs", Integer, nullable=False),
    Column("cost", BigInteger, nullable=False),
    Column("estimated", BigInteger, nullable=False),
    Column("estimated_runs", Integer, nullable=False),
    PrimaryKeyConstraint("day", "owner", "group_name", "model"),
)

# What an owner or a group has spent and reserved in a period: a UTC day, a UTC month, or `active`, which counts the
# active runs in `reserved`. A start of a run locks the rows that it changes, so no two starts see the same remainder.
BUDGETS = Table(
    "budgets",
    METADATA,
    Column("account", PortableText, nullable=False),
    Column("period", PortableText, nullable=False),
    Column("spent", BigInteger, nullable=False),
    Column("reserved", BigInteger, nullable=False),
    PrimaryKeyConstraint("account", "period"),
)

# What each active run has reserved. Without a foreign key, because a reservation precedes its run.
RESERVATIONS = Table(
    "reservations",
    METADATA,
    Column("run_id", PortableText, primary_key=True),
    Column("owner", PortableText, nullable=False),
    group_column(),
    Column("day", PortableText, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("created", Float, nullable=False),
)

# Rate limits that all workers share: how many questions a client has asked, and a ring of their times for each rate.
RATE_COUNTS = Table(
    "rate_counts",
    METADATA,
    Column("client", PortableText, primary_key=True),
    Column("questions", BigInteger, nullable=False),
    Column("expires", Float, nullable=False),
)
RATE_TIMES = Table(
    "rate_times",
    METADATA,
    Column("client", PortableText, nullable=False),
    Column("place", Integer, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("client", "place"),
)
