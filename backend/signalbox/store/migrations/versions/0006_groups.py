"""Groups, policies of tokens and groups, and the former secret of a rotated token."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the table and the columns; existing tokens have no limits."""
    op.create_table(
        "groups",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("policy", sa.LargeBinary(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("name"),
    )
    op.add_column("tokens", sa.Column("group_name", sa.Text(), nullable=True))
    op.add_column("tokens", sa.Column("policy", sa.LargeBinary(), nullable=True))
    op.add_column("tokens", sa.Column("former_digest", sa.LargeBinary(), nullable=True))
    op.add_column("tokens", sa.Column("former_until", sa.Float(), nullable=True))


def downgrade() -> None:
    """Drop them; tokens lose their limits."""
    for name in ("former_until", "former_digest", "policy", "group_name"):
        op.drop_column("tokens", name)
    op.drop_table("groups")
