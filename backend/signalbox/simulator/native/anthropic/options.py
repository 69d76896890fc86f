"""The options of a request: thinking, sampling, the choice of tools, stop sequences, the format of the output."""

from typing import Any

from ...json_values import as_list, as_object, as_objects
from .errors import invalid, unknown_tag
from .fields import check_closed
from .versions import Version, version_of

_BUDGET = "`max_tokens` must be greater than `thinking.budget_tokens`."
_ADAPTIVE_ONLY = (
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
    '"output_config.effort" to control thinking behavior.'
)


def check_options(body: dict[str, Any], model: str) -> None:
    """Check the options against each other and against the model."""
    version = version_of(model)
    thinking = as_object(body.get("thinking"))
    _check_thinking(body, thinking, version)
    _check_sampling(body, version, thinks=thinking.get("type") in ("enabled", "adaptive"))
    _check_choice(body, thinks=thinking.get("type") in ("enabled", "adaptive"))
    _check_stops(body.get("stop_sequences"))
    _check_output(as_object(body.get("output_config")), version)


def _check_thinking(body: dict[str, Any], thinking: dict[str, Any], version: Version) -> None:
    if body.get("thinking") is None:
        return
    kind = thinking.get("type")
    if kind not in ("enabled", "disabled", "adaptive", "between_tools"):
        tags = "'adaptive', 'between_tools', 'disabled', 'enabled'"
        raise invalid(
            f"thinking: Input tag '{kind}' found using 'type' does not match any of the expected tags: {tags}"
        )
    fields = {"enabled": {"type", "budget_tokens", "display"}, "adaptive": {"type", "display"}}.get(kind, {"type"})
    unknown = sorted(set(thinking) - fields)
    if unknown:
        raise invalid(f"thinking.{kind}.{unknown[0]}: Extra inputs are not permitted")
    if thinking.get("display", "summarized") not in ("summarized", "omitted"):
        raise invalid(f"thinking.{kind}.display: Input should be 'summarized' or 'omitted'")
    if kind == "adaptive" and not version.may_think_adaptively:
        raise invalid("adaptive thinking is not supported on this model")
    if kind == "between_tools" and not version.is_adaptive_only:
        raise invalid('"thinking.type.between_tools" is not supported for this model.')
    if kind == "enabled":
        _check_budget(body, thinking.get("budget_tokens"), version)


def _check_budget(body: dict[str, Any], budget: object, version: Version) -> None:
    if version.is_adaptive_only:
        raise invalid(_ADAPTIVE_ONLY)
    if budget is None:
        raise invalid("thinking.enabled.budget_tokens: Field required")
    if not isinstance(budget, int) or budget < 1024:
        raise invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    if budget >= body["max_tokens"]:
        raise invalid(_BUDGET)


def _check_sampling(body: dict[str, Any], version: Version, *, thinks: bool) -> None:
    given = [name for name in ("temperature", "top_p", "top_k") if body.get(name) is not None]
    if given and version.is_adaptive_only:
        raise invalid(f"`{given[0]}` is deprecated for this model.")
    for name in ("temperature", "top_p"):
        value = body.get(name)
        if value is not None and (not isinstance(value, (int, float)) or not 0 <= value <= 1):
            raise invalid(f"{name}: range: 0..1")
    if {"temperature", "top_p"} <= set(given) and version.has_one_sampling_parameter:
        raise invalid("`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
    if not thinks:
        return
    if body.get("temperature") not in (None, 1):
        raise invalid("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.")
    if body.get("top_k") is not None:
        raise invalid("`top_k` must be unset when thinking is enabled or in adaptive mode.")
    if body.get("top_p") is not None and body["top_p"] < 0.95:
        raise invalid("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.")


def _check_choice(body: dict[str, Any], *, thinks: bool) -> None:
    if body.get("tool_choice") is None:
        return
    choice = as_object(body["tool_choice"])
    kind = choice.get("type")
    if kind not in ("auto", "any", "tool", "none"):
        tags = "'auto', 'any', 'tool', 'none'"
        raise invalid(f"tool_choice: {unknown_tag(kind, tags)}")
    fields = {"tool": {"type", "name", "disable_parallel_tool_use"}, "none": {"type"}}
    unknown = sorted(set(choice) - fields.get(kind, {"type", "disable_parallel_tool_use"}))
    if unknown:
        raise invalid(f"tool_choice.{kind}.{unknown[0]}: Extra inputs are not permitted")
    names = [tool.get("name") for tool in as_objects(body.get("tools"))]
    if not names:
        raise invalid(f"tool_choice.{kind} may only be specified while providing tools")
    if kind == "tool" and choice.get("name") not in names:
        raise invalid(f"Tool '{choice.get('name')}' not found in provided tools")
    if kind in ("any", "tool") and thinks:
        raise invalid("Thinking may not be enabled when tool_choice forces tool use.")


def _check_stops(stops: Any) -> None:
    if stops is None:
        return
    texts: list[Any] = as_list(stops)
    if not isinstance(stops, list) or not all(isinstance(stop, str) for stop in texts):
        raise invalid("stop_sequences: Input should be a valid array of strings")
    if any(not stop.strip() for stop in texts):
        raise invalid("stop_sequences: each stop sequence must contain non-whitespace")


def _check_output(config: dict[str, Any], version: Version) -> None:
    effort = config.get("effort")
    if effort is not None and not version.efforts:
        raise invalid("This model does not support the effort parameter.")
    if effort is not None and effort not in version.efforts:
        levels = ", ".join(version.efforts)
        raise invalid(f"This model does not support effort level '{effort}'. Supported levels: {levels}.")
    wanted = config.get("format")
    if wanted is None:
        return
    if as_object(wanted).get("type") != "json_schema":
        raise invalid("output_config.format.type: Input should be 'json_schema'")
    if "schema" not in as_object(wanted):
        raise invalid("output_config.format.schema: Field required")
    check_closed(as_object(wanted)["schema"], "output_config.format.schema")
