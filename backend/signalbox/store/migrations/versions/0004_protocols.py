"""The protocol of a run's client, and what its encoder needs of the request."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the columns; all earlier runs are of contract v1.1."""
    op.add_column("runs", sa.Column("protocol", sa.Text(), nullable=False, server_default=sa.text("'v1.1'")))
    op.add_column("runs", sa.Column("echo", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    """Drop the columns."""
    op.drop_column("runs", "echo")
    op.drop_column("runs", "protocol")
