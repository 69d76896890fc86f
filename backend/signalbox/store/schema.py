"""All tables of the database, as `migrations/` creates them."""

from signalbox.store.spend.tables import SPEND

# Importing this table has added all others: those of `store/tables.py`, too.
METADATA = SPEND.metadata
