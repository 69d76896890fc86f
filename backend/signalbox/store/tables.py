"""The tables; `migrations/` makes them and a test holds the two together."""

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    text,
)

from signalbox.store.engines.portable_sql import Words

METADATA = MetaData()


def _owner() -> "Column[str]":
    """Whose a row is: the id of an API token, empty where none is used."""
    return Column("owner", Words, nullable=False, server_default=text("''"))


CONVERSATIONS = Table(
    "conversations",
    METADATA,
    Column("id", Words, primary_key=True),
    Column("title", Words, nullable=False),
    Column("folded", Words, nullable=False, default=""),  # for search, as below
    Column("is_titled", Boolean, nullable=False),  # a person gave the title
    Column("created", Float, nullable=False),
    Column("updated", Float, nullable=False),
    Column("leaf_id", Words),  # the message or run that the next question follows
    _owner(),
    Index("conversations_by_time", "updated"),
    Index("conversations_by_owner", "owner", "updated"),
)

# What people said, and what a client brought along. What a model answered here is a row of `runs`: the two together
# are the tree, so an answer is kept once.
MESSAGES = Table(
    "messages",
    METADATA,
    Column("id", Words, primary_key=True),
    Column("conversation_id", Words, ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("parent_id", Words),
    Column("role", Words, nullable=False),
    Column("created", Float, nullable=False),
    Column("system", Words),  # instructions that came with it; they hold for what follows
    Column("body", LargeBinary, nullable=False),  # core messages as JSON
    Column("text", Words, nullable=False),
    Column("folded", Words, nullable=False),  # for search: case folded, which SQL cannot do beyond ASCII
    Column("digest", Words, nullable=False),  # what it says, to know it again in a history that a client sends
    Column("place", Integer, nullable=False, server_default="0"),  # among those of one moment
    Index("messages_by_conversation", "conversation_id"),
)

RUNS = Table(
    "runs",
    METADATA,
    Column("id", Words, primary_key=True),
    Column("conversation_id", Words, ForeignKey("conversations.id", ondelete="CASCADE")),
    Column("parent_id", Words),
    Column("key", Words),
    Column("digest", Words),
    Column("model", Words, nullable=False),
    Column("loop", Words, nullable=False),
    Column("flag", LargeBinary),
    Column("simulated", Boolean, nullable=False),
    Column("request", LargeBinary, nullable=False),
    Column("question", LargeBinary, nullable=False),
    Column("started", Float, nullable=False),
    Column("ended", Float),
    Column("status", Words),
    Column("code", Words),
    Column("steps", Integer, nullable=False),
    Column("attempts", LargeBinary, nullable=False),
    Column("usage", LargeBinary),
    Column("cost", Float),
    Column("cost_estimated", Boolean, nullable=False),
    Column("settled_at", Float),
    Column("seq", Integer, nullable=False),
    Column("reserved", Integer, nullable=False),
    Column("answer", Words),  # the text of a conversation's run, once it is over
    Column("folded", Words),
    _owner(),
    UniqueConstraint("key", name="runs_by_key"),
    Index("runs_by_conversation", "conversation_id"),
    Index("runs_by_time", "started"),
    Index("runs_by_status", "status"),
    Index("runs_by_owner", "owner", "started"),
)

# Which worker a run under way lives in, and until when that holds unless the worker says so again. Only where several
# workers share the database; a small table, since every beat writes all rows of a worker.
LEASES = Table(
    "leases",
    METADATA,
    Column("run_id", Words, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("worker", Words, nullable=False),
    Column("until", Float, nullable=False),  # epoch seconds of the database's clock
    Index("leases_by_worker", "worker"),
)

# Rows of many events: a row per event costs twice as much as one per flush, and that much more than one per run.
JOURNAL = Table(
    "journal",
    METADATA,
    Column("run_id", Words, ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("first_seq", Integer, nullable=False),
    Column("last_seq", Integer, nullable=False),
    Column("frames", LargeBinary, nullable=False),  # a JSON list of stamped events
    PrimaryKeyConstraint("run_id", "first_seq"),
)

# What runs under way have said since their last row above: one row per flush for all of them, see `latest.py`. It
# belongs to the one process that has the database; where several share it they look into the journal for news.
LATEST = Table(
    "latest",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("said", LargeBinary, nullable=False),  # a JSON list of run ids, each with its stamped events
)

# What a run said as its model must see it again: with opaque reasoning and the host's own ids, which no client gets.
TURNS = Table(
    "turns",
    METADATA,
    Column("run_id", Words, ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("place", Integer, nullable=False),
    Column("seq", Integer, nullable=False),  # all events up to here are told by the turns up to here
    Column("message", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "place"),
)

SAVES = Table(
    "saves",
    METADATA,
    Column("id", Words, primary_key=True),
    Column("title", Words, nullable=False),
    Column("created", Float, nullable=False),
    Column("run_id", Words, nullable=False),  # a save outlives its run
    Column("model", Words, nullable=False),
    Column("loop", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("seq", Integer, nullable=False),  # the run's last event
    Column("snapshot", LargeBinary, nullable=False),  # question, trace and the client's own data
    Column("frames", LargeBinary, nullable=False),  # a JSON list of stamped events
    _owner(),
    Index("saves_by_time", "created", "id"),
    Index("saves_by_owner", "owner", "created"),
)

# API tokens: of the secret only its hash is kept.
TOKENS = Table(
    "tokens",
    METADATA,
    Column("id", Words, primary_key=True),  # the owner of what is made with it
    Column("name", Words, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("revoked", Float),
)

# What all workers share beside runs: the lever of the loop's flag, secrets that must be the same in all of them.
SHARED = Table(
    "shared",
    METADATA,
    Column("name", Words, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)
