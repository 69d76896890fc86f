"""The model list: one `<family>/sim` for each family, and a few well-known ids."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from .families import FAMILIES

CREATED = 1763683200
COMMON = ("max_tokens", "temperature", "top_p", "stop", "seed", "tools", "tool_choice", "response_format")
REASONING = ("reasoning", "include_reasoning")
LOGPROBS = ("logprobs", "top_logprobs")
SAMPLING = ("temperature", "top_p")
TOOLS = ("tools", "tool_choice")
LONGEST_ANSWER = 16_384
_CONTEXT = re.compile(r"sim-context-(\d+)")


@dataclass(frozen=True, slots=True)
class Price:
    """Price of one token in USD."""

    prompt: Decimal
    completion: Decimal


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the catalogue; prices in USD per million tokens."""

    id: str
    name: str
    prompt: str
    completion: str
    context: int = 200_000
    tokenizer: str = "Other"
    reasons: bool = True
    images: bool = False
    draws: bool = False
    hidden: bool = False
    unsupported: tuple[str, ...] = ()
    """Parameters that other models support and this one does not."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the supported parameters."""
        parallel = ("parallel_tool_calls",) if self.id.startswith("openai/") else ()
        logprobs = LOGPROBS if self.id.partition("/")[0] in ("openai", "deepseek", "qwen") else ()
        every = (*COMMON, *(REASONING if self.reasons else ()), *parallel, *logprobs)
        return tuple(name for name in every if name not in self.unsupported)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the output modalities."""
        return ("image", "text") if self.draws else ("text",)

    @property
    def price(self) -> Price:
        """Return the price per token."""
        million = Decimal(1_000_000)
        return Price(Decimal(self.prompt) / million, Decimal(self.completion) / million)


ROWS = (
    Model("openai/sim", "OpenAI: Simulated", "1.25", "10", 400_000, "GPT", images=True),
    Model("openai/gpt-4o", "OpenAI: GPT-4o", "2.5", "10", 128_000, "GPT", reasons=False, images=True),
    Model("openai/gpt-4o-mini", "OpenAI: GPT-4o-mini", "0.15", "0.6", 128_000, "GPT", reasons=False, images=True),
    Model("openai/gpt-5-mini", "OpenAI: GPT-5 Mini", "0.25", "2", 400_000, "GPT", images=True),
    Model(
        "openai/o4-mini",
        "OpenAI: o4 Mini",
        "1.1",
        "4.4",
        tokenizer="GPT",
        images=True,
        unsupported=("parallel_tool_calls", *SAMPLING),
    ),
    Model("anthropic/sim", "Anthropic: Simulated", "3", "15", 200_000, "Claude", images=True),
    Model("anthropic/claude-sonnet-4", "Anthropic: Claude Sonnet 4", "3", "15", 1_000_000, "Claude", images=True),
    Model("anthropic/claude-haiku-4.5", "Anthropic: Claude Haiku 4.5", "1", "5", 200_000, "Claude", images=True),
    Model("anthropic/claude-opus-4.7", "Anthropic: Claude Opus 4.7", "5", "25", images=True, unsupported=SAMPLING),
    Model("anthropic/claude-opus-4.8", "Anthropic: Claude Opus 4.8", "5", "25", images=True, unsupported=SAMPLING),
    Model("google/sim", "Google: Simulated", "0.5", "3", 1_048_576, "Gemini", images=True),
    Model("google/gemini-2.0-flash-001", "Google: Gemini 2.0 Flash", "0.1", "0.4", 1_048_576, "Gemini", images=True),
    Model("google/gemini-2.5-flash", "Google: Gemini 2.5 Flash", "0.3", "2.5", 1_048_576, "Gemini", images=True),
    Model(
        "google/gemini-2.5-flash-image",
        "Google: Gemini 2.5 Flash Image",
        "0.3",
        "2.5",
        32_768,
        "Gemini",
        reasons=False,
        images=True,
        draws=True,
        unsupported=TOOLS,
    ),
    Model("google/gemini-3-flash-preview", "Google: Gemini 3 Flash", "0.5", "3", 1_048_576, "Gemini", images=True),
    Model("x-ai/sim", "xAI: Simulated", "0.2", "0.5", 2_000_000, "Grok", images=True),
    Model("x-ai/grok-4", "xAI: Grok 4", "3", "15", 256_000, "Grok", images=True),
    Model("x-ai/grok-4.1-fast", "xAI: Grok 4.1 Fast", "0.2", "0.5", 2_000_000, "Grok", images=True),
    Model("deepseek/sim", "DeepSeek: Simulated", "0.28", "0.42", 128_000, "DeepSeek"),
    Model("deepseek/deepseek-chat", "DeepSeek: DeepSeek Chat", "0.28", "0.42", 128_000, "DeepSeek", reasons=False),
    Model("mistralai/sim", "Mistral: Simulated", "0.4", "2", 131_072, "Mistral"),
    Model("mistralai/mistral-medium-3.1", "Mistral: Medium 3.1", "0.4", "2", 131_072, "Mistral", reasons=False),
    Model("moonshotai/sim", "MoonshotAI: Simulated", "0.6", "2.5", 262_144),
    Model("moonshotai/kimi-k2.5", "MoonshotAI: Kimi K2.5", "0.6", "2.5", 262_144),
    Model("qwen/sim", "Qwen: Simulated", "0.11", "0.6", 262_144, "Qwen"),
    Model("qwen/qwen3-235b-a22b-thinking-2507", "Qwen: Qwen3 235B Thinking", "0.11", "0.6", 262_144, "Qwen3"),
    Model("qwen/chat-only", "Qwen: without tools", "0.11", "0.6", 32_768, "Qwen", hidden=True, unsupported=TOOLS),
)
# Listed together with the faults. Their ids look like faults', but a rule or `generations.py` implements them.
SCRIPTED = (
    Model("openai/sim-context-2000", "Small context", "1.25", "10", 2000, "GPT", images=True, hidden=True),
    Model("openai/sim-afford-500", "Credit for 500 tokens", "1.25", "10", 400_000, "GPT", images=True, hidden=True),
    Model("openai/sim-late-bill", "Late bill", "1.25", "10", 400_000, "GPT", images=True, hidden=True),
)
BY_ID = {row.id: row for row in ROWS}


def row_of(model: str) -> Model:
    """Return a model; an unlisted id is its family's `sim`, and `sim-context-N` has a context window of N tokens."""
    family, _, name = model.partition(":")[0].partition("/")
    row = BY_ID.get(f"{family}/{name}") or BY_ID.get(f"{family}/sim") or Model(model, model, "0", "0")
    context = _CONTEXT.fullmatch(name)
    return replace(row, context=int(context[1])) if context else row


def price_of(model: str) -> Price:
    """Return the price of a model."""
    return row_of(model).price


def is_known(model: str) -> bool:
    """Return whether an id names a model of a simulated family."""
    family, slash, name = model.partition("/")
    return bool(slash and name) and family in FAMILIES


def entry(row: Model) -> dict[str, Any]:
    """Return one model in the format of OpenRouter's /models."""
    inputs = ["text", "image"] if row.images else ["text"]
    return {
        **({"hidden": True} if row.hidden else {}),
        "id": row.id,
        "canonical_slug": row.id,
        "hugging_face_id": None,
        "name": row.name,
        "created": CREATED,
        "description": "Answered by Signalbox's simulator: a small rule-based model that imitates this model family.",
        "context_length": row.context,
        "architecture": {
            "modality": f"{'+'.join(inputs)}->{'+'.join(reversed(row.outputs))}",
            "input_modalities": inputs,
            "output_modalities": list(row.outputs),
            "tokenizer": row.tokenizer,
            "instruct_type": None,
        },
        "pricing": {
            "prompt": format(row.price.prompt.normalize(), "f"),
            "completion": format(row.price.completion.normalize(), "f"),
        },
        "top_provider": {
            "context_length": row.context,
            "max_completion_tokens": LONGEST_ANSWER,
            "is_moderated": False,
        },
        "per_request_limits": None,
        "supported_parameters": list(row.parameters),
        "supported_voices": None,
        "default_parameters": None,
        "links": {"details": f"/api/v1/models/{row.id}/endpoints"},
    }


def listing(rows: Sequence[Model] = ROWS) -> dict[str, Any]:
    """Return the body of /models."""
    data = [entry(row) for row in rows]
    return {"data": data, "total_count": len(data), "links": {"next": None}}
