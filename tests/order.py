"""The order of test files: the slowest first, so that no process runs one alone at the end."""

from collections.abc import Sequence

import pytest

# Durations grow with load, but their order hardly changes. Source: `pytest --junit-xml`. Add files that take over 10 s.
LONGEST_FIRST = (
    "project/docs/test_clients.py",
    "unit/app/openapi/test_schemathesis.py",
    "scenarios/workers/test_supervisor.py",
    "scenarios/crash/test_hand_over.py",
    "scenarios/conversations/test_endpoints.py",
    "scenarios/conversations/test_continuing.py",
    "scenarios/crash/test_crash.py",
    "scenarios/deploy/test_rolling.py",
    "scenarios/backup/test_backup.py",
    "scenarios/recordings/test_chains.py",
    "unit/app/routers/test_chat_requests.py",
    "scenarios/conversation_recovery/test_overflow.py",
    "scenarios/replay/test_replay.py",
    "unit/app/routers/test_flags.py",
    "live/test_models.py",
    "scenarios/plugins/test_hostile_plugins.py",
    "scenarios/conversation_recovery/test_after_cuts.py",
    "scenarios/conversation_recovery/test_switching.py",
    "unit/store/test_batches.py",
    "e2e/test_process.py",
    "unit/app/asgi/test_static_files.py",
    "scenarios/database_outage/test_silent_database.py",
    "project/docs/test_search.py",
    "scenarios/cut_streams/test_in_process.py",
    "unit/commands/doctor/test_doctor.py",
    "scenarios/quirks/test_c_requests.py",
    "unit/services/http/test_response.py",
    "scenarios/conversations/test_delete.py",
    "scenarios/cut_streams/test_over_http.py",
    "scenarios/resume/test_stop.py",
    "scenarios/conversation_recovery/test_any_history.py",
    "scenarios/workers/test_two_workers.py",
    "scenarios/crash/test_crash_storm.py",
)
_RANKS = {name: rank for rank, name in enumerate(LONGEST_FIRST)}


def longest_first(items: Sequence[pytest.Item], tests: str) -> list[pytest.Item]:
    """Sort tests by the rank of their file, in a stable order; `tests` is the folder of all tests, as in test ids."""

    def rank(item: pytest.Item) -> int:
        return _RANKS.get(item.nodeid.partition("::")[0].removeprefix(f"{tests}/"), len(_RANKS))

    return sorted(items, key=rank)
