"""The response of /key: one account without a limit, and its spending since the start."""

from typing import Any


def key_body(spent: float) -> dict[str, Any]:
    """Return the body of /key."""
    data: dict[str, Any] = {
        "label": "sk-or-simulated",
        "limit": None,
        "limit_remaining": None,
        "limit_reset": None,
        "usage": spent,
        "usage_daily": spent,
        "usage_weekly": spent,
        "usage_monthly": spent,
        "byok_usage": 0,
        "byok_usage_daily": 0,
        "byok_usage_weekly": 0,
        "byok_usage_monthly": 0,
        "include_byok_in_limit": False,
        "is_free_tier": False,
        "is_management_key": False,
        "is_provisioning_key": False,
        "allowed_data_regions": ["global"],
        "budgets": [],
        "effective_budget": None,
        "creator_user_id": None,
        "organization_id": None,
        "workspace_id": None,
        "expires_at": None,
        "free_model_daily_requests": {"limit": 1000, "remaining": 1000, "used": 0},
        "rate_limit": {"requests": -1, "interval": "10s", "note": "This field is deprecated and safe to ignore."},
    }
    return {"data": data}
