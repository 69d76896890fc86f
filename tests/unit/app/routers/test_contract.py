"""The contract's JSON Schema over HTTP: cacheable, public, and valid for a real stream."""

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from signalbox.encoders.contract_schema import schema_bytes, table_schema_bytes

from tests.support.running_app import RunningApp, settings_for

PATH = "/api/contract/v1.1.json"
TABLE_PATH = "/api/contract/data-table-v1.json"
ORIGIN = "https://chat.example"


@pytest.mark.parametrize(("path", "schema"), [(PATH, schema_bytes()), (TABLE_PATH, table_schema_bytes())])
def test_it_is_the_contracts_own(app: RunningApp, path: str, schema: bytes) -> None:
    """The body is the file that `just contract` wrote, as application/schema+json; HEAD has the same headers."""
    response, head = app.client.get(path), app.client.head(path)
    assert (response.status_code, response.content) == (200, schema)
    assert response.headers["content-type"] == "application/schema+json"
    assert (head.status_code, head.content) == (200, b"")
    for name in ("content-type", "content-length", "etag", "cache-control"):
        assert head.headers[name] == response.headers[name]


def test_every_event_of_a_stream_is_valid_against_it(app: RunningApp) -> None:
    """A client can validate every event against the schema that it has fetched."""
    schema = app.client.get(PATH).json()
    validator = Draft202012Validator(schema)
    heard = app.ask("What is 17 * 23? Then search for the tool loop", tools=["calculate", "search_web"])
    assert {event["type"] for event in heard.events} >= {"tool_calls", "tool_executing", "tool_result", "done"}
    for event in heard.events:
        assert validator.is_valid(event), event


@pytest.mark.parametrize("path", [PATH, TABLE_PATH])
@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', "*"])
def test_a_cache_asks_again(app: RunningApp, path: str, form: str) -> None:
    """A request with the current ETag is a 304."""
    fresh = app.client.get(path)
    assert fresh.headers["cache-control"] == "no-cache"
    again = app.client.get(path, headers={"if-none-match": form.format(fresh.headers["etag"].removeprefix("W/"))})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", fresh.headers["etag"])
    assert app.client.get(path, headers={"if-none-match": '"other"'}).status_code == 200


def test_no_token_is_asked_for(tmp_path: Path) -> None:
    """Like /openapi.json it needs no token, and pages of allowed origins may read it."""
    settings = settings_for(tmp_path / "data", signalbox_access_token="secret", signalbox_allowed_origins=[ORIGIN])
    with RunningApp(settings) as app:
        for path in (PATH, TABLE_PATH):
            response = app.client.get(path, headers={"origin": ORIGIN})
            assert response.status_code == 200
            assert response.headers["access-control-allow-origin"] == ORIGIN
        assert app.client.get(PATH + "/more").status_code == 401
        assert app.client.get("/api/contract/v9.json").status_code == 401
        described = app.client.get("/openapi.json").json()
    assert "security" not in described["paths"][PATH]["get"]
    stream = described["paths"]["/api/chat/stream"]["post"]["responses"]["200"]
    assert PATH in stream["description"]
