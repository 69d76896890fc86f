"""What runs cost: daily totals, budgets with their reservations, rate windows; filled from the stored runs."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_DAY = {
    "sqlite": "strftime('%Y-%m-%d', started, 'unixepoch')",
    "postgresql": "to_char(to_timestamp(started) AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
}


def upgrade() -> None:
    """Create the tables and columns, and add up the costs of all ended runs."""
    op.add_column("runs", sa.Column("group_name", sa.Text(), nullable=False, server_default=sa.text("''")))
    op.add_column("runs", sa.Column("charged", sa.BigInteger(), nullable=True))
    op.add_column("runs", sa.Column("charge_estimated", sa.Boolean(), nullable=False, server_default=sa.text("false")))
    op.create_table(
        "spend",
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("group_name", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.Column("cost", sa.BigInteger(), nullable=False),
        sa.Column("estimated", sa.BigInteger(), nullable=False),
        sa.Column("estimated_runs", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("day", "owner", "group_name", "model"),
    )
    op.create_table(
        "budgets",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("period", sa.Text(), nullable=False),
        sa.Column("spent", sa.BigInteger(), nullable=False),
        sa.Column("reserved", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account", "period"),
    )
    op.create_table(
        "reservations",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("group_name", sa.Text(), nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_table(
        "rate_counts",
        sa.Column("client", sa.Text(), nullable=False),
        sa.Column("questions", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("client"),
    )
    op.create_table(
        "rate_times",
        sa.Column("client", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("client", "place"),
    )
    _add_up()


def _add_up() -> None:
    day = _DAY[op.get_bind().dialect.name]
    charged = "CAST(round(coalesce(cost, 0) * 1000000000) AS BIGINT)"
    op.execute(
        f"INSERT INTO spend SELECT {day}, owner, '', model, count(*), sum({charged}), "  # noqa: S608 - no user's value
        f"sum(CASE WHEN cost_estimated THEN {charged} ELSE 0 END), sum(CASE WHEN cost_estimated THEN 1 ELSE 0 END) "
        f"FROM runs WHERE status IS NOT NULL GROUP BY {day}, owner, model"
    )
    # Only runs whose bill may still arrive have to know what is counted; the others would take too long to update.
    op.execute(
        f"UPDATE runs SET charged = {charged}, charge_estimated = cost_estimated "  # noqa: S608 - the same
        "WHERE status IS NOT NULL AND cost_estimated"
    )
    for length in (10, 7):  # days and months
        op.execute(
            f"INSERT INTO budgets SELECT owner, substr(day, 1, {length}), sum(cost), 0 "  # noqa: S608 - the same
            f"FROM spend WHERE owner <> '' GROUP BY owner, substr(day, 1, {length})"
        )


def downgrade() -> None:
    """Drop them; what runs have cost is then known only as long as the runs are stored."""
    for table in ("rate_times", "rate_counts", "reservations", "budgets", "spend"):
        op.drop_table(table)
    for column in ("charge_estimated", "charged", "group_name"):
        op.drop_column("runs", column)
