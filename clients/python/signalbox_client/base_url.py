"""Checks of the base URL, so that a mistake in it is found before the first request."""

from urllib.parse import urlsplit

import httpx

from signalbox_client.errors import InvalidBaseUrl


def base_url(url: str) -> str:
    """Return the URL without a slash at its end, or raise `InvalidBaseUrl`."""
    if not str(url).lower().startswith(("http://", "https://")):
        raise InvalidBaseUrl(url, "it must begin with http:// or https://")
    if "?" in url or "#" in url:
        raise InvalidBaseUrl(url, "it must have no query (?) and no fragment (#)")
    if not _has_host(url):
        raise InvalidBaseUrl(url, "its host is missing or invalid, or its port is not a number from 1 to 65535")
    return url.rstrip("/")


def _has_host(url: str) -> bool:
    try:
        parts, _ = urlsplit(url), httpx.URL(url)
        host, port = (parts.hostname or "").encode("idna"), parts.port
    except (ValueError, httpx.InvalidURL):
        return False
    return bool(host) and port != 0 and not any(letter.isspace() for letter in url)
