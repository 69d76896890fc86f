"""The time tool at a fixed instant."""

from datetime import UTC, datetime

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import ToolContext, ToolReturn
from signalbox.tools.get_current_time import get_current_time

pytestmark = pytest.mark.anyio

SUMMER = datetime(2025, 7, 1, 12, 30, 45, 999_000, UTC)
WINTER = datetime(2025, 1, 31, 23, 30, tzinfo=UTC)


async def ask(arguments: JsonObject, now: datetime = SUMMER) -> JsonValue | ToolReturn:
    """Call the tool at a fixed instant."""
    return await get_current_time().run(arguments, ToolContext(now=lambda: now))


async def test_without_a_zone_it_is_utc():
    """The default zone is UTC, and every field is set."""
    assert await ask({}) == {
        "timestamp": "2025-07-01T12:30:45+00:00",
        "timezone": "UTC",
        "abbreviation": "UTC",
        "utc_offset": "+00:00",
        "weekday": "Tuesday",
        "date": "2025-07-01",
        "time": "12:30:45",
        "unix_timestamp": 1751373045,
    }


@pytest.mark.parametrize(
    ("zone", "now", "timestamp", "weekday"),
    [
        ("America/New_York", SUMMER, "2025-07-01T08:30:45-04:00", "Tuesday"),
        ("America/New_York", WINTER, "2025-01-31T18:30:00-05:00", "Friday"),
        ("Asia/Kolkata", WINTER, "2025-02-01T05:00:00+05:30", "Saturday"),
        ("Asia/Kathmandu", SUMMER, "2025-07-01T18:15:45+05:45", "Tuesday"),
        ("europe/berlin", SUMMER, "2025-07-01T14:30:45+02:00", "Tuesday"),
        (" utc ", SUMMER, "2025-07-01T12:30:45+00:00", "Tuesday"),
    ],
)
async def test_ps22_a_zone_gives_its_own_time(zone: str, now: datetime, timestamp: str, weekday: str):
    """The zone determines time, offset (summer and winter) and date."""
    answer = await ask({"timezone": zone}, now)
    assert isinstance(answer, dict)
    assert (answer["timestamp"], answer["weekday"]) == (timestamp, weekday)
    assert answer["utc_offset"] == timestamp[-6:]
    assert answer["unix_timestamp"] == int(now.timestamp())


@pytest.mark.parametrize(
    ("zone", "hint"),
    [
        ("Berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("Europe/Berln", "Europe/Berlin"),
        ("America", "did you mean"),
        ("../../etc/passwd", "use a name such as"),
        ("zz\0zz", "use a name such as"),
        ("x" * 10_000, "use a name such as"),
    ],
)
async def test_ps22_an_unknown_zone_is_an_error_that_helps(zone: str, hint: str):
    """The error names the field and similar zones."""
    with pytest.raises(ToolError, match=r"^timezone: there is no IANA time zone") as raised:
        await ask({"timezone": zone})
    assert raised.value.code is Code.INVALID_ARGUMENTS
    assert hint in raised.value.message
    assert len(raised.value.message) < 300
