"""Requests of an operator, which get every kind of response about tokens, groups, webhooks and the rollout."""

import httpx

from tests.support.running_app import WAIT
from tests.support.workers import within


def manage_tokens(operator: httpx.Client) -> None:
    """Create, change, rotate and revoke a token; create and delete a group."""
    for body in ({"budget_month": 5, "models": ["openai/*"]}, {"rate_limit": "often"}):
        operator.put("/api/groups/team", json=body)
    for body in ({"name": "Ada", "group": "team", "budget_day": 1}, {"name": "Bob", "group": "no-such"}):
        made = operator.post("/api/tokens", json=body)
    token_id = operator.get("/api/tokens").json()["tokens"][-1]["id"]
    assert made.status_code == 422
    for path in (f"/api/tokens/{token_id}", "/api/tokens/none", "/api/groups/team", "/api/groups/none", "/api/groups"):
        operator.get(path)
    for path in (f"/api/tokens/{token_id}", "/api/tokens/none"):
        operator.patch(path, json={"tools": ["calculate"], "expires": 4e9})
        operator.post(f"{path}/rotate", json={"grace_seconds": 5})
        operator.delete(path)
    for name in ("team", "none"):
        operator.delete(f"/api/groups/{name}")


def manage_webhooks(operator: httpx.Client) -> None:
    """Create, change, rotate, test and delete a receiver that cannot be reached."""
    operator.get("/api/rollout/shadow")
    for url in ("https://[2001:db8::1]/", "https://receiver.invalid/hook"):
        operator.post("/api/webhooks", json={"url": url, "events": ["run.ended"]})
    (made,) = operator.get("/api/webhooks").json()["webhooks"]
    for path in (f"/api/webhooks/{made['id']}", "/api/webhooks/none"):
        operator.patch(path, json={"active": False})
        operator.post(f"{path}/rotate", json={"grace_seconds": 5})
        operator.post(f"{path}/test")
        operator.get(f"{path}/deliveries")
        operator.delete(path)


def roll_out(operator: httpx.Client) -> None:
    """Start, read and end a rollout, before and after the guard has looked; page through the audit log."""
    operator.get("/api/rollout")
    for body in ({"stages": [{"percent": 50}], "mode": "guard"}, {"stages": []}):
        operator.put("/api/rollout", json=body)
    within(WAIT, lambda: operator.get("/api/rollout").json()["report"] is not None)
    operator.delete("/api/rollout")
    for query in ("", "?limit=1", "?before=0"):
        operator.get(f"/api/rollout/audit{query}")
        operator.get(f"/api/audit{query}")
