"""Webhooks and their deliveries."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("events", sa.LargeBinary(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("disabled", sa.Text(), nullable=True),
        sa.Column("former_secret", sa.Text(), nullable=True),
        sa.Column("former_until", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("webhook_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.LargeBinary(), nullable=False),
        sa.Column("next_at", sa.Float(), nullable=True),
        sa.Column("ended", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhooks.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("webhook_deliveries_by_due", "webhook_deliveries", ["state", "next_at"])
    op.create_index("webhook_deliveries_by_webhook", "webhook_deliveries", ["webhook_id", "created", "id"])
    op.create_index("webhook_deliveries_by_time", "webhook_deliveries", ["created"])


def downgrade() -> None:
    """Drop them; pending deliveries are lost."""
    op.drop_table("webhook_deliveries")
    op.drop_table("webhooks")
