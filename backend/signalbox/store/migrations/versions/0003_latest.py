"""What runs under way have said last: one row per flush for all of them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make it."""
    op.create_table(
        "latest",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("said", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )


def downgrade() -> None:
    """Take it back; it is empty once a server has ended, or has started again."""
    op.drop_table("latest")
