"""docs/spend.md quotes what the server says."""

from datetime import UTC, datetime

import orjson
import pytest
from signalbox.app.limits.refusals import budget_refusal
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.encoders.chat_completions_error import error_of as openai_error_of
from signalbox.encoders.v1_error import error_of
from signalbox.store.spend.reservations import Refused

from tests.project.docs.pages import page


@pytest.mark.parametrize("name", ["api.md", "clients/chat-completions.md"])
@pytest.mark.parametrize("code", [Code.BUDGET_EXHAUSTED, Code.MODEL_NOT_ALLOWED, Code.TOOL_NOT_ALLOWED])
def test_clients_of_openai_find_the_codes_of_limits(name: str, code: Code) -> None:
    """Both tables of `/v1` codes list them, with their status."""
    status, body = openai_error_of(RequestError(code))
    rows = [line for line in page(name).text.splitlines() if line.startswith(f"| {status} | `")]
    assert any(f"`{orjson.loads(body)['error']['code']}`" in row.split(" | ")[1] for row in rows)


def test_the_quoted_refusal_is_the_servers() -> None:
    """With the amounts and the day of the page."""
    refused = Refused(("ada", "2026-11-28"), limit=5 * 10**9, spent=4_983_200_000, reserved=10**7, need=25_600_000)
    status, body = error_of(budget_refusal(refused, datetime(2026, 11, 28, 12, tzinfo=UTC).timestamp()))
    assert status == 402
    quoted = [block for block in page("spend.md").blocks("json") if "BUDGET_EXHAUSTED" in block]
    assert [orjson.loads(block) for block in quoted] == [orjson.loads(body)]
