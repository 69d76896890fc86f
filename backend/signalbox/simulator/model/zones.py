"""Finds IANA time zones in a sentence: by name, city or country."""

import re
from functools import cache
from zoneinfo import available_timezones

CITIES = {
    "tokyo": "Asia/Tokyo",
    "japan": "Asia/Tokyo",
    "london": "Europe/London",
    "paris": "Europe/Paris",
    "berlin": "Europe/Berlin",
    "germany": "Europe/Berlin",
    "vienna": "Europe/Vienna",
    "zurich": "Europe/Zurich",
    "zürich": "Europe/Zurich",
    "madrid": "Europe/Madrid",
    "rome": "Europe/Rome",
    "florence": "Europe/Rome",
    "amsterdam": "Europe/Amsterdam",
    "lisbon": "Europe/Lisbon",
    "stockholm": "Europe/Stockholm",
    "moscow": "Europe/Moscow",
    "istanbul": "Europe/Istanbul",
    "cairo": "Africa/Cairo",
    "nairobi": "Africa/Nairobi",
    "lagos": "Africa/Lagos",
    "johannesburg": "Africa/Johannesburg",
    "dubai": "Asia/Dubai",
    "mumbai": "Asia/Kolkata",
    "delhi": "Asia/Kolkata",
    "india": "Asia/Kolkata",
    "kathmandu": "Asia/Kathmandu",
    "bangkok": "Asia/Bangkok",
    "singapore": "Asia/Singapore",
    "hong kong": "Asia/Hong_Kong",
    "shanghai": "Asia/Shanghai",
    "beijing": "Asia/Shanghai",
    "china": "Asia/Shanghai",
    "seoul": "Asia/Seoul",
    "sydney": "Australia/Sydney",
    "melbourne": "Australia/Melbourne",
    "auckland": "Pacific/Auckland",
    "honolulu": "Pacific/Honolulu",
    "los angeles": "America/Los_Angeles",
    "san francisco": "America/Los_Angeles",
    "seattle": "America/Los_Angeles",
    "denver": "America/Denver",
    "chicago": "America/Chicago",
    "new york": "America/New_York",
    "boston": "America/New_York",
    "toronto": "America/Toronto",
    "mexico city": "America/Mexico_City",
    "são paulo": "America/Sao_Paulo",
    "sao paulo": "America/Sao_Paulo",
    "buenos aires": "America/Argentina/Buenos_Aires",
    "utc": "UTC",
    "gmt": "UTC",
}
# Last parts of zone names that are ordinary words, or rarely mean the place.
_NO_PLACES = frozenset(
    [
        *("act", "canary", "center", "christmas", "cocos", "easter", "knox", "lhi", "midway", "nome", "north", "nsw"),
        *("oral", "regina", "resolute", "reunion", "south", "stanley", "truk", "virgin", "wake", "west", "yap"),
    ]
)
_AREAS = ("Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")
_NAMED = re.compile(r"\b(?:[A-Z][A-Za-z]+/)+[A-Z][A-Za-z_]+\b")


def zones(text: str) -> list[str]:
    """Return the zones of a text in order, each once."""
    named = [match.group() for match in _NAMED.finditer(text)]
    by_city = [_cities()[match.group().lower()] for match in _city().finditer(_NAMED.sub(" ", text))]
    return list(dict.fromkeys([*named, *by_city]))


def without_places(text: str) -> str:
    """Return a text without its places."""
    return _city().sub(" ", _NAMED.sub(" ", text))


@cache
def _cities() -> dict[str, str]:
    """Return the zones by city: CITIES and the city in each zone's name."""
    found: dict[str, str] = {}
    for zone in sorted(available_timezones()):
        city = zone.rpartition("/")[2].replace("_", " ").lower()
        if zone.startswith(_AREAS) and "/" in zone and city not in _NO_PLACES:
            found.setdefault(city, zone)
    return found | CITIES


@cache
def _city() -> re.Pattern[str]:
    longest_first = sorted(_cities(), key=len, reverse=True)
    return re.compile(r"\b(?:" + "|".join(map(re.escape, longest_first)) + r")\b", re.IGNORECASE)
