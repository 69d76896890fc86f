"""Sets up the limits of users, from the settings."""

import asyncio
from contextlib import AsyncExitStack

from signalbox.app.config import Settings
from signalbox.app.limits.admission import Admission
from signalbox.app.limits.quota import Quota
from signalbox.app.limits.rate_windows import Rate, Rates, read_rates
from signalbox.store.database import Database
from signalbox.store.runs.journal import JournalStore


def quota_of(settings: Settings, database: Database) -> Quota:
    """Return the limits of one worker, and those of runs per user."""
    return Quota(database, Rates(_rates_of(settings)), settings.signalbox_max_runs_per_user)


def open_admission(settings: Settings, database: Database, store: JournalStore, stack: AsyncExitStack) -> Admission:
    """Return the limits that all workers share, and begin to release what killed processes have left."""
    admission = Admission(database, store.flush, _rates_of(settings) if database.is_shared else ())
    stack.callback(asyncio.create_task(admission.work(), name="reservations").cancel)
    return admission


def _rates_of(settings: Settings) -> tuple[Rate, ...]:
    return read_rates(settings.signalbox_rate_limit) if settings.signalbox_rate_limit else ()
