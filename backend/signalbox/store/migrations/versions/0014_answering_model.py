"""The fallback model that answered a run, also in the index of the filters."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

_COLUMNS = (
    *("started", "id", "owner", "status", "code", "model", "loop", "protocol"),
    *("ended", "first_token_ms", "cost"),
)


def upgrade() -> None:
    """Add the column; earlier runs keep null, so they count for the requested model as before."""
    op.add_column("runs", sa.Column("answered", sa.Text(), nullable=True))
    op.drop_index("runs_by_figures", "runs")
    op.create_index("runs_by_figures", "runs", [*_COLUMNS, "answered"])


def downgrade() -> None:
    """Drop the column."""
    op.drop_index("runs_by_figures", "runs")
    op.create_index("runs_by_figures", "runs", list(_COLUMNS))
    op.drop_column("runs", "answered")
