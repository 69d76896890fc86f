"""Several workers and several users: leases, owners, API tokens, what workers share."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

OWNED = {"conversations": "updated", "runs": "started", "saves": "created"}


def upgrade() -> None:
    """Make it."""
    for table, time in OWNED.items():
        op.add_column(table, sa.Column("owner", sa.Text(), nullable=False, server_default=sa.text("''")))
        op.create_index(f"{table}_by_owner", table, ["owner", time])
    op.add_column("messages", sa.Column("place", sa.Integer(), nullable=False, server_default="0"))
    if op.get_bind().dialect.name == "sqlite":  # version 0001 knew no other database, and counted rows
        op.execute("UPDATE messages SET place = rowid")
    _make_leases()
    _make_tokens()
    op.create_table(
        "shared",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )


def _make_leases() -> None:
    op.create_table(
        "leases",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("until", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_index("leases_by_worker", "leases", ["worker"])


def _make_tokens() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=True),
        sa.Column("revoked", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )


def downgrade() -> None:
    """Take it back."""
    for table in ("shared", "tokens", "leases"):
        op.drop_table(table)
    op.drop_column("messages", "place")
    for table in OWNED:
        op.drop_index(f"{table}_by_owner", table)
        op.drop_column(table, "owner")
