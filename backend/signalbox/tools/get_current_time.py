"""The tool that returns the current time in an IANA time zone."""

from datetime import datetime
from difflib import get_close_matches
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolSpec

_LONGEST_NAME = 64

SPEC = ToolSpec(
    name="get_current_time",
    title="Clock",
    summary="Tells the date and time anywhere in the world.",
    description="Tell the current date, weekday and time in a time zone, with its offset from UTC.",
    parameters={
        "type": "object",
        "properties": {
            "timezone": {
                "type": "string",
                "description": "IANA time zone name such as Europe/Berlin or America/New_York. Default: UTC.",
            }
        },
        "required": [],
    },
    category="utility",
    visibility="hidden",
    eager=True,
    timeout=5.0,
    untrusted=False,
)


def get_current_time() -> Tool:
    """Return the tool."""
    return Tool(SPEC, _run)


async def _run(arguments: JsonObject, context: ToolContext) -> JsonValue:
    name = str(arguments.get("timezone") or "UTC").strip()
    return _describe(context.now().astimezone(_zone(name)))


def _describe(now: datetime) -> JsonObject:
    offset = f"{now:%z}"
    return {
        "timestamp": now.isoformat(timespec="seconds"),
        "timezone": str(now.tzinfo),
        "abbreviation": now.tzname() or "",
        "utc_offset": f"{offset[:3]}:{offset[3:5]}",
        "weekday": _WEEKDAYS[now.weekday()],
        "date": now.date().isoformat(),
        "time": f"{now:%H:%M:%S}",
        "unix_timestamp": int(now.timestamp()),
    }


# Not strftime, which depends on the machine's locale.
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _zone(name: str) -> ZoneInfo:
    """Return the zone; names are case-insensitive, because models write utc and europe/berlin."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        # Folders ("America") and paths ("../x") raise other things than an unknown name does.
        known = _by_lower_case().get(name.lower().replace(" ", "_"))
    if known is None:
        raise ToolError(Code.INVALID_ARGUMENTS, _unknown(name))
    return ZoneInfo(known)


def _unknown(name: str) -> str:
    near = _near(name[:_LONGEST_NAME])
    hint = f"did you mean {', '.join(near)}?" if near else "use a name such as UTC, Europe/Berlin or America/New_York."
    return f'timezone: there is no IANA time zone "{name[:_LONGEST_NAME]}"; {hint}'


def _near(name: str) -> list[str]:
    """Return up to three similar zone names, compared by the whole name and by the city."""
    asked = name.lower().replace(" ", "_")
    zones = _by_lower_case()
    by_city = {zone.rpartition("/")[2]: zone for zone in sorted(zones, reverse=True)}
    alike = [by_city[city] for city in get_close_matches(asked.rpartition("/")[2], by_city, n=3, cutoff=0.75)]
    alike += get_close_matches(asked, zones, n=3, cutoff=0.7)
    return [zones[zone] for zone in dict.fromkeys(alike)][:3]


@cache
def _by_lower_case() -> dict[str, str]:
    return {zone.lower(): zone for zone in available_timezones()}
