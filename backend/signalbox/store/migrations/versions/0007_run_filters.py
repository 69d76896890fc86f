"""Columns and indexes for the filters and statistics of runs."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_COLUMNS = (
    *("started", "id", "owner", "status", "code", "model", "loop", "protocol"),
    *("ended", "first_token_ms", "cost"),
)


def upgrade() -> None:
    """Add the columns and the indexes. Earlier runs keep null: filling them would stop all workers for too long."""
    op.add_column("runs", sa.Column("tools", sa.Text(), nullable=True))
    op.add_column("runs", sa.Column("first_token_ms", sa.Integer(), nullable=True))
    op.create_index("runs_by_figures", "runs", list(_COLUMNS))
    op.drop_index("runs_by_time", "runs")


def downgrade() -> None:
    """Drop the columns and the indexes."""
    op.create_index("runs_by_time", "runs", ["started"])
    op.drop_index("runs_by_figures", "runs")
    op.drop_column("runs", "first_token_ms")
    op.drop_column("runs", "tools")
