"""Sends webhooks: checks the address of every request as `read_url` does, and follows no redirect (quirk G1)."""

import asyncio
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

from signalbox.core.operation.webhooks import DeliveryError
from signalbox.services.addresses import Address, Allowance, ascii_host
from signalbox.services.fetch import LONGEST_URL, Resolve, Target, look_up
from signalbox.services.http.connect import connect
from signalbox.services.http.errors import ConnectFailed, ConnectTimeout, HttpError, HttpTimeout
from signalbox.services.http.parser import encode_head
from signalbox.services.http.request import Origin

_CONNECT_SECONDS = 5.0
_MOST_ADDRESSES = 4
_SAFE = "/%:@!$&'()*+,;=~"


@dataclass(frozen=True, slots=True)
class Posted:
    """How a request ended: the status of the response, if one came, and why it counts as failed, if it does."""

    status: int | None = None
    error: DeliveryError | None = None
    retry_after: str | None = None


class WebhookPost:
    """Posts to receivers on the public internet, each time over a new connection to a checked address.

    `allow` adds hosts and networks; only these may be reached by plain http and on any port. `seconds` limits a whole
    request. Of a response only the head is read, so its body costs nothing.
    """

    def __init__(
        self,
        allow: Allowance | None = None,
        *,
        resolve: Resolve = look_up,
        tls: ssl.SSLContext | None = None,
        seconds: float = 15.0,
    ) -> None:
        self._allow = allow or Allowance()
        self._resolve = resolve
        self._tls = tls
        self._seconds = seconds

    def target(self, url: str) -> Target:
        """Parse the URL of a receiver; raises ValueError, a clause that says why it cannot be used."""
        if len(url) > LONGEST_URL or re.search(r"[\x00-\x20\x7f\\]", url):
            raise ValueError("must be one web address without spaces")
        try:
            parts = urlsplit(url)
            host, port = ascii_host(parts.hostname or ""), parts.port
        except ValueError:
            raise ValueError("is not a web address") from None
        if parts.scheme not in ("https", "http") or host is None:
            raise ValueError("must begin with https:// and have the name or the address of a host")
        if "@" in parts.netloc:
            raise ValueError("must not contain a user name or a password")
        usual = {"https": 443, "http": 80}[parts.scheme]
        if not self._allow.names(host):
            self._check_public(parts.scheme, host, port)
        query = "?" + quote(parts.query, safe=_SAFE + "?") if parts.query else ""
        return Target(parts.scheme, host, port or usual, quote(parts.path or "/", safe=_SAFE) + query)

    def _check_public(self, scheme: str, host: str, port: int | None) -> None:
        """Raise ValueError for a URL that only hosts of SIGNALBOX_WEBHOOK_ALLOWED_HOSTS may have."""
        unless = "unless SIGNALBOX_WEBHOOK_ALLOWED_HOSTS names its host"
        if scheme != "https" or port not in (None, 443):
            raise ValueError(f"must begin with https:// and use the standard port, {unless}")
        try:
            address = ip_address(host)
        except ValueError:
            return  # a name; its addresses are checked at each request
        if not self._allow.permits(host, address):
            raise ValueError(f"must not have a private address, {unless}")

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Posted:
        """Post a JSON body; failures are in the result."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._post(self.target(url), headers, body)
        except (TimeoutError, HttpTimeout):
            return Posted(error="TIMEOUT")
        except ValueError:  # the setting has changed since the receiver was registered
            return Posted(error="ADDRESS_NOT_ALLOWED")
        except HttpError:
            return Posted(error="BROKEN_RESPONSE")

    async def _post(self, target: Target, headers: Mapping[str, str], body: bytes) -> Posted:
        try:
            addresses = [ip_address(one) for one in await self._resolve(target.host, target.port)]
        except OSError:
            return Posted(error="UNREACHABLE")
        except ValueError:  # an address with a zone (fe80::1%eth0), or not an address
            addresses = []
        if not addresses or not all(self._allow.permits(target.host, address) for address in addresses):
            return Posted(error="ADDRESS_NOT_ALLOWED")
        failure: Exception | None = None
        for address in addresses[:_MOST_ADDRESSES]:
            try:
                return await self._request(target, address, headers, body)
            except (ConnectFailed, ConnectTimeout) as error:
                failure = error
        is_tls = failure is not None and isinstance(failure.__cause__, ssl.SSLError)
        return Posted(error="TLS_FAILED" if is_tls else "UNREACHABLE")

    async def _request(self, target: Target, address: Address, headers: Mapping[str, str], body: bytes) -> Posted:
        """Send the request to exactly this address. TLS verifies the host name, which is not resolved again."""
        connection = await connect(
            Origin(target.scheme, str(address), target.port),
            time_limit=_CONNECT_SECONDS,
            tls=self._tls,
            server_hostname=target.host,
        )
        given = {
            "host": target.authority,
            "content-type": "application/json",
            "content-length": str(len(body)),
            "user-agent": "Signalbox-Webhooks",
            "accept-encoding": "identity",
            "connection": "close",
            **headers,
        }
        fields = [(name.encode("ascii"), value.encode("ascii")) for name, value in given.items()]
        try:
            message = encode_head(b"POST", target.path.encode("ascii"), fields) + body
            response = await connection.exchange("POST", message, self._seconds)
            found = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            return Posted(response.status, _error_of(response.status), found.get("retry-after"))
        finally:
            connection.abort()


def _error_of(status: int) -> DeliveryError | None:
    if 200 <= status < 300:
        return None
    if status == 410:
        return "GONE"
    return "REDIRECT" if 300 <= status < 400 else "HTTP_STATUS"
