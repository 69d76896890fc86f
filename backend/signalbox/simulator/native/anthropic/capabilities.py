"""What the list of models says about a model: its stage of life, and the capabilities that it has."""

from typing import Any

from .versions import Version

_SUPPORTED = ("batch", "citations", "code_execution", "image_input", "pdf_input", "structured_outputs")
_LINES = ("haiku", "sonnet", "opus", "fable", "mythos")
_ALL_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_SERVER_TOOLS = ("code_execution", "web_search")
_EDITS = ("clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112")


def lifecycle_of(version: Version) -> dict[str, Any]:
    """Return the fields about the line of a model and its retirement."""
    line = version.kind if version.kind in _LINES else None
    return {"lifecycle": "active", "line": line, "deprecated_at": None, "retires_at": None}


def capabilities_of(version: Version) -> dict[str, Any]:
    """Return the capabilities of a model; the keys are always the same."""
    types = {
        "adaptive": version.may_think_adaptively,
        "between_tools": version.is_adaptive_only,
        "disabled": True,
        "enabled": not version.is_adaptive_only,
    }
    return {
        **{name: _supported() for name in _SUPPORTED},
        "context_management": {"supported": True, **{name: _supported() for name in _EDITS}},
        "effort": {
            "supported": bool(version.efforts),
            **{name: _supported(name in version.efforts) for name in _ALL_EFFORTS},
        },
        "server_tools": {"supported": True, **{name: _supported() for name in _SERVER_TOOLS}},
        "thinking": {"supported": True, "types": {name: _supported(value) for name, value in types.items()}},
    }


def _supported(value: bool = True) -> dict[str, bool]:
    return {"supported": value}
