"""The order of test files: those that take longest first, so that no process is left alone with one at the end."""

from collections.abc import Sequence
from pathlib import Path

import pytest

# Seconds grow with load, but hardly change their order. From `pytest --junit-xml`; add a file that takes over 10 s.
LONGEST_FIRST = (
    "workers/test_supervisor.py",
    "docs/test_clients.py",
    "backup/test_backup.py",
    "e2e/test_process.py",
    "services/test_http.py",
    "conversations/test_endpoints.py",
    "app/test_flags.py",
    "workers/test_two_workers.py",
    "flags/test_rollout.py",
    "deploy/test_rolling.py",
    "replay/test_replay.py",
    "going_on/test_overflow.py",
    "access/test_command.py",
    "crash/test_crash.py",
    "replay/test_parity.py",
    "conversations/test_tree.py",
    "truth/test_chains.py",
    "app/test_requests.py",
    "going_on/test_after_cuts.py",
    "endings/test_inside.py",
    "app/test_silent_database.py",
    "plugins/test_hostile_plugins.py",
    "app/test_doctor.py",
    "resume/test_stop.py",
    "going_on/test_any_history.py",
    "endings/test_outside.py",
    "simulator/test_quirks.py",
    "going_on/test_switching.py",
    "crash/test_drain.py",
    "crash/test_crash_storm.py",
)
_RANKS = {name: rank for rank, name in enumerate(LONGEST_FIRST)}


def longest_first(items: Sequence[pytest.Item], tests: Path) -> list[pytest.Item]:
    """Return the tests by the rank of their file; within a file, and among all other files, the order stays."""
    return sorted(items, key=lambda item: _RANKS.get(item.path.relative_to(tests).as_posix(), len(_RANKS)))
