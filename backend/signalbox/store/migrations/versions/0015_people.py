"""The names of people who have signed in, and an index to list their sessions."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Create the table with the people whose sessions are stored, and the index."""
    op.create_table(
        "people",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("signed_in", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("owner"),
    )
    op.execute(
        "INSERT INTO people (owner, label, signed_in) "
        "SELECT owner, MAX(name), MAX(created) FROM sessions GROUP BY owner"
    )
    op.create_index("sessions_by_time", "sessions", ["created", "digest"])


def downgrade() -> None:
    """Drop them."""
    op.drop_index("sessions_by_time", "sessions")
    op.drop_table("people")
