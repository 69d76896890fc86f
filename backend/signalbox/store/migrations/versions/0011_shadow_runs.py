"""Runs of shadow mode."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "shadow_runs",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("loop", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=False),
        sa.Column("differences", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run_id"),
    )
    op.create_index("shadow_runs_by_time", "shadow_runs", ["at"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("shadow_runs")
