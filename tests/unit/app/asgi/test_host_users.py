"""The function of a host that says who owns a request: what it may return and raise."""

from typing import Any

import pytest
from fastapi import Request
from signalbox.app.access import Caller
from signalbox.app.asgi.host_users import HOST_APP, HostUsers
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from starlette.exceptions import HTTPException
from structlog.testing import capture_logs

SCOPE = {"type": "http", "headers": [(b"cookie", b"session=ada")], "app": "signalbox", HOST_APP: "the host"}
pytestmark = pytest.mark.anyio


def _of_cookie(request: Request) -> str | None:
    return request.cookies.get("session")


async def _later(request: Request) -> str | None:
    return _of_cookie(request)


@pytest.mark.parametrize("owner_of", [_of_cookie, _later])
async def test_the_owner_is_the_hosts_user(owner_of: Any) -> None:
    """The function may be async; no id of an API token equals such an owner."""
    assert await HostUsers(owner_of).caller_of(SCOPE) == Caller("user:ada", name="ada")
    with pytest.raises(RequestError, match="Log in") as rejected:
        await HostUsers(owner_of).caller_of({**SCOPE, "headers": []})
    assert rejected.value.status == 401


async def test_the_request_belongs_to_the_host() -> None:
    """`request.app` is the host's app, which may hold its database."""
    assert (await HostUsers(lambda request: str(request.app)).caller_of(SCOPE)).name == "the host"


@pytest.mark.parametrize(("status", "kind"), [(401, RequestError), (403, RequestError), (429, HTTPException)])
async def test_a_dependency_of_the_host_may_raise(status: int, kind: type[Exception]) -> None:
    """Functions that routes of the host depend on reject a request by an exception."""

    def rejects(_request: Request) -> str:
        raise HTTPException(status)

    with pytest.raises(kind):
        await HostUsers(rejects).caller_of(SCOPE)


@pytest.mark.parametrize(
    ("owner", "got"),
    [
        (5, "int"),
        ("", "text of 0 characters"),
        ("a\nb", "text of 3 characters"),
        ("a" * 201, "text of 201 characters"),
        (b"ada", "bytes"),
        (False, "bool"),
    ],
)
async def test_another_value_is_an_error_of_the_host(owner: Any, got: str) -> None:
    """It must not become an owner that other users share. The log says what is expected."""
    with capture_logs() as logs, pytest.raises(RequestError) as raised:
        await HostUsers(lambda _: owner).caller_of(SCOPE)
    assert raised.value.code is Code.INTERNAL
    assert [(line["event"], line["got"]) for line in logs] == [("owner.invalid", got)]
