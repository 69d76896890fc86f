"""Which IANA zones a sentence names, by city or country or by name."""

import re

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
_NAMED = re.compile(r"\b(?:[A-Z][A-Za-z]+/)+[A-Z][A-Za-z_]+\b")
_CITY = re.compile(r"\b(?:" + "|".join(map(re.escape, CITIES)) + r")\b", re.IGNORECASE)


def zones(text: str) -> list[str]:
    """Give the zones in the order they are named, each once."""
    named = [match.group() for match in _NAMED.finditer(text)]
    by_city = [CITIES[match.group().lower()] for match in _CITY.finditer(_NAMED.sub(" ", text))]
    return list(dict.fromkeys([*named, *by_city]))
