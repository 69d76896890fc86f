"""The last use of API tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add the column; until a token is used, its last use is unknown."""
    op.add_column("tokens", sa.Column("last_used", sa.Float(), nullable=True))


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("tokens", "last_used")
