"""How Alembic runs our migrations: on the connection that it is given, inside its transaction."""

from alembic import context
from signalbox.store.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA, render_as_batch=True)
context.run_migrations()
