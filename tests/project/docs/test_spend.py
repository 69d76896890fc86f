"""docs/spend.md quotes what the server says."""

from datetime import UTC, datetime

import orjson
from signalbox.app.limits.refusals import budget_refusal
from signalbox.encoders.v1_error import error_of
from signalbox.store.spend.reservations import Refused

from tests.project.docs.pages import page


def test_the_quoted_refusal_is_the_servers() -> None:
    """With the amounts and the day of the page."""
    refused = Refused(("ada", "2026-11-28"), limit=5 * 10**9, spent=4_983_200_000, reserved=10**7, need=25_600_000)
    status, body = error_of(budget_refusal(refused, datetime(2026, 11, 28, 12, tzinfo=UTC).timestamp()))
    assert status == 402
    quoted = [block for block in page("spend.md").blocks("json") if "BUDGET_EXHAUSTED" in block]
    assert [orjson.loads(block) for block in quoted] == [orjson.loads(body)]
