"""The OpenAPI types of GET /v1/models."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta


class OpenAiModel(TypedDict):
    """A model as OpenAI lists it. The fields that are not always there are OpenRouter's, as the upstream lists them."""

    id: str
    object: Literal["model"]
    created: Annotated[int, Meta(description="Epoch seconds; 0 if unknown.")]
    owned_by: Annotated[str, Meta(description="As the upstream says, else the part of the id before the slash.")]
    name: NotRequired[str]
    description: NotRequired[str | None]
    context_length: NotRequired[Annotated[float | None, Meta(description="Tokens.")]]
    pricing: NotRequired[Annotated[dict[str, Any], Meta(description="US dollars per token, as decimal text.")]]
    architecture: NotRequired[Annotated[dict[str, Any], Meta(description="`input_modalities`, `output_modalities`, …")]]
    supported_parameters: NotRequired[list[str]]
    top_provider: NotRequired[dict[str, Any]]


class OpenAiModelList(TypedDict):
    """The models of the upstream on one page, as OpenAI and OpenRouter list them."""

    object: Literal["list"]
    data: list[OpenAiModel]
    total_count: int
    links: Annotated[dict[str, Any], Meta(description="`next` is null.")]
