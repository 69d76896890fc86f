"""The tables, as `migrations/` creates them; a test compares the two."""

from typing import Any

from sqlalchemy import (
    BigInteger,
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

from signalbox.store.engines.portable_sql import PortableText

METADATA = MetaData()


def _owner() -> "Column[str]":
    """Return the column for the owner of a row: the id of an API token, empty without tokens."""
    return Column("owner", PortableText, nullable=False, server_default=text("''"))


def group_column(**options: Any) -> "Column[str]":
    """Return the column for the group of an owner, empty for none."""
    return Column("group_name", PortableText, nullable=False, **options)


CONVERSATIONS = Table(
    "conversations",
    METADATA,
    Column("id", PortableText, primary_key=True),
    Column("title", PortableText, nullable=False),
    Column("folded", PortableText, nullable=False, default=""),  # for search, as below
    Column("is_titled", Boolean, nullable=False),  # set by the user
    Column("created", Float, nullable=False),
    Column("updated", Float, nullable=False),
    Column("leaf_id", PortableText),  # the message or run that the next question follows
    _owner(),
    Index("conversations_by_time", "updated"),
    Index("conversations_by_owner", "owner", "updated"),
)

# Filters and statistics read these columns of many runs. The index contains all of them, because each look into a
# row of SQLite may have to pass a question of megabytes. `tools` is not among them: PostgreSQL limits the size of an
# entry.
_FILTERED = (
    *("started", "id", "owner", "status", "code", "model", "loop", "protocol"),
    *("ended", "first_token_ms", "cost", "answered"),
)

# Messages that clients sent. Answers are rows of `runs`; both together form the tree, so an answer is stored once.
MESSAGES = Table(
    "messages",
    METADATA,
    Column("id", PortableText, primary_key=True),
    Column("conversation_id", PortableText, ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("parent_id", PortableText),
    Column("role", PortableText, nullable=False),
    Column("created", Float, nullable=False),
    Column("system", PortableText),  # instructions for this message and those that follow
    Column("body", LargeBinary, nullable=False),  # core messages as JSON
    Column("text", PortableText, nullable=False),
    Column("folded", PortableText, nullable=False),  # for search: case-folded, which SQL cannot do beyond ASCII
    Column("digest", PortableText, nullable=False),  # of the content, to recognise it in a client's history
    Column("place", Integer, nullable=False, server_default="0"),  # the order among messages of the same time
    Index("messages_by_conversation", "conversation_id"),
)

RUNS = Table(
    "runs",
    METADATA,
    Column("id", PortableText, primary_key=True),
    Column("conversation_id", PortableText, ForeignKey("conversations.id", ondelete="CASCADE")),
    Column("parent_id", PortableText),
    Column("key", PortableText),
    Column("digest", PortableText),
    Column("model", PortableText, nullable=False),
    Column("loop", PortableText, nullable=False),
    Column("flag", LargeBinary),
    Column("simulated", Boolean, nullable=False),
    Column("request", LargeBinary, nullable=False),
    Column("question", LargeBinary, nullable=False),
    Column("protocol", PortableText, nullable=False, server_default=text("'v1.1'")),
    Column("echo", LargeBinary),  # what the protocol's encoder needs of the request
    Column("started", Float, nullable=False),
    Column("ended", Float),
    Column("status", PortableText),
    Column("code", PortableText),
    Column("steps", Integer, nullable=False),
    Column("attempts", LargeBinary, nullable=False),
    Column("usage", LargeBinary),
    Column("cost", Float),
    Column("cost_estimated", Boolean, nullable=False),
    Column("settled_at", Float),
    Column("seq", Integer, nullable=False),
    Column("reserved", Integer, nullable=False),
    Column("answer", PortableText),  # the text of an ended run in a conversation
    Column("folded", PortableText),
    _owner(),
    Column("tools", PortableText),  # names of called tools, each between line feeds; null in older runs
    Column("first_token_ms", Integer),  # null in older runs, too
    group_column(server_default=text("''")),
    Column("charged", BigInteger),  # what of its cost is counted in `spend` and `budgets`, in 1e-9 USD
    Column("charge_estimated", Boolean, nullable=False, server_default=text("false")),
    Column("answered", PortableText),  # the fallback model that answered; null: `model` did
    UniqueConstraint("key", name="runs_by_key"),
    Index("runs_by_conversation", "conversation_id"),
    Index("runs_by_figures", *_FILTERED),
    Index("runs_by_status", "status"),
    Index("runs_by_owner", "owner", "started"),
    Index("runs_by_end", "ended"),
)

# Which worker owns an active run, and when that lease expires unless renewed. Used only with several workers; a narrow
# table, because every heartbeat writes all rows of a worker.
LEASES = Table(
    "leases",
    METADATA,
    Column("run_id", PortableText, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("worker", PortableText, nullable=False),
    Column("until", Float, nullable=False),  # epoch seconds of the database's clock
    Index("leases_by_worker", "worker"),
)

# One row per run and flush: a row per event would cost twice as much.
JOURNAL = Table(
    "journal",
    METADATA,
    Column("run_id", PortableText, ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("first_seq", Integer, nullable=False),
    Column("last_seq", Integer, nullable=False),
    Column("frames", LargeBinary, nullable=False),  # a JSON list of stamped events
    PrimaryKeyConstraint("run_id", "first_seq"),
)

# Events of active runs since their last row in `journal`: one row per flush for all runs, see `runs/write_buffer.py`.
# Not used with several workers, which read each other's new events from the journal.
LATEST = Table(
    "latest",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("said", LargeBinary, nullable=False),  # a JSON list of run ids, each with its stamped events
)

# A run's turns as the model must see them again: with opaque reasoning and the provider's ids, which no client gets.
TURNS = Table(
    "turns",
    METADATA,
    Column("run_id", PortableText, ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("place", Integer, nullable=False),
    Column("seq", Integer, nullable=False),  # the turns up to this one cover all events up to here
    Column("message", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "place"),
)

# The files of conversations: one row per version, also of a deletion. The content is the last column, so that SQLite
# reads the other columns without it.
FILE_VERSIONS = Table(
    "file_versions",
    METADATA,
    Column("conversation_id", PortableText, ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),  # counts the versions of all files of the conversation, from 1
    Column("node_id", PortableText, nullable=False),  # the message or run that the version belongs to
    Column("path", PortableText, nullable=False),
    Column("media_type", PortableText, nullable=False),
    Column("size", Integer, nullable=False),
    Column("author", PortableText, nullable=False),
    Column("created", Float, nullable=False),
    Column("is_deleted", Boolean, nullable=False),
    Column("content", LargeBinary, nullable=False),
    PrimaryKeyConstraint("conversation_id", "number"),
)

SAVES = Table(
    "saves",
    METADATA,
    Column("id", PortableText, primary_key=True),
    Column("title", PortableText, nullable=False),
    Column("created", Float, nullable=False),
    Column("run_id", PortableText, nullable=False),  # a save outlives its run
    Column("model", PortableText, nullable=False),
    Column("loop", PortableText, nullable=False),
    Column("status", PortableText, nullable=False),
    Column("seq", Integer, nullable=False),  # the run's last event
    Column("snapshot", LargeBinary, nullable=False),  # question, trace and the client's data
    Column("frames", LargeBinary, nullable=False),  # a JSON list of stamped events
    _owner(),
    Index("saves_by_time", "created", "id"),
    Index("saves_by_owner", "owner", "created"),
)

# API tokens; of a secret only the hash is stored.
TOKENS = Table(
    "tokens",
    METADATA,
    Column("id", PortableText, primary_key=True),  # the owner of everything created with it
    Column("name", PortableText, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("revoked", Float),
    Column("group_name", PortableText),
    Column("policy", LargeBinary),  # JSON
    Column("former_digest", LargeBinary),  # of the secret before the last rotation, accepted until `former_until`
    Column("former_until", Float),
    Column("last_used", Float),  # at most once a minute
)

# Named policies that several tokens share.
GROUPS = Table(
    "groups",
    METADATA,
    Column("name", PortableText, primary_key=True),
    Column("created", Float, nullable=False),
    Column("policy", LargeBinary, nullable=False),  # JSON
    Column("expires", Float),
)

# Sessions of people who have signed in. `digest` is the hash of the id in the cookie.
SESSIONS = Table(
    "sessions",
    METADATA,
    Column("digest", LargeBinary, primary_key=True),
    Column("owner", PortableText, nullable=False),
    Column("name", PortableText, nullable=False),
    Column("is_operator", Boolean, nullable=False),
    Column("groups", LargeBinary, nullable=False),  # a JSON list
    Column("created", Float, nullable=False),
    Column("used", Float, nullable=False),
    Index("sessions_by_time", "created", "digest"),
)

# Names of people who have signed in, also after their sessions have ended.
PEOPLE = Table(
    "people",
    METADATA,
    Column("owner", PortableText, primary_key=True),
    Column("label", PortableText, nullable=False),
    Column("signed_in", Float, nullable=False),  # the last sign-in
)

# Receivers of webhooks. Their secrets are stored as they are, because every request is signed with them.
WEBHOOKS = Table(
    "webhooks",
    METADATA,
    Column("id", PortableText, primary_key=True),
    Column("url", PortableText, nullable=False),
    Column("events", LargeBinary, nullable=False),  # a JSON list of kinds
    Column("secret", PortableText, nullable=False),
    Column("created", Float, nullable=False),
    Column("description", PortableText, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("disabled", PortableText),  # why Signalbox made it inactive
    Column("former_secret", PortableText),
    Column("former_until", Float),
)

# The queue of webhook deliveries and their log. A worker leases one by moving `next_at` into the future.
WEBHOOK_DELIVERIES = Table(
    "webhook_deliveries",
    METADATA,
    Column("id", PortableText, primary_key=True),
    Column("webhook_id", PortableText, ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False),
    Column("kind", PortableText, nullable=False),
    Column("created", Float, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("state", PortableText, nullable=False),
    Column("attempts", LargeBinary, nullable=False),  # JSON
    Column("next_at", Float),
    Column("ended", Float),
    Index("webhook_deliveries_by_due", "state", "next_at"),
    Index("webhook_deliveries_by_webhook", "webhook_id", "created", "id"),
    Index("webhook_deliveries_by_time", "created"),
)

# Runs of shadow mode; a row outlives the run that was made again.
SHADOW_RUNS = Table(
    "shadow_runs",
    METADATA,
    Column("run_id", PortableText, primary_key=True),
    Column("at", Float, nullable=False),
    Column("model", PortableText, nullable=False),
    Column("loop", PortableText, nullable=False),
    Column("outcome", PortableText, nullable=False),
    Column("cost", Float, nullable=False),
    Column("differences", LargeBinary, nullable=False),  # JSON, without content
    Index("shadow_runs_by_time", "at"),
)

# Values that all workers share: the feature flag's override, and secrets that must be the same everywhere.
SHARED = Table(
    "shared",
    METADATA,
    Column("name", PortableText, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)

# What operators and the rollout's guard have changed.
AUDIT = Table(
    "audit",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("actor", PortableText, nullable=False),
    Column("action", PortableText, nullable=False),
    Column("details", LargeBinary, nullable=False),  # JSON
)
