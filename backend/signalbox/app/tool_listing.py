"""The shape of GET /api/tools, for the OpenAPI description."""

from typing import Any

from pydantic import BaseModel, Field

from signalbox.core.tools import Category, Visibility


class ListedTool(BaseModel):
    """One tool: what a model is told, what a person reads, and whether it can be used here."""

    name: str = Field(description="The technical name: requests, runs and events use it.")
    title: str = Field(description="A name for people; made from `name` where the tool gives none.")
    summary: str = Field(description="One sentence for people; the start of `description` where the tool gives none.")
    description: str = Field(description="What models read.")
    parameters: dict[str, Any] = Field(description="The JSON Schema of the arguments.")
    category: Category
    visibility: Visibility
    eager: bool = Field(description="Whether it may start while the model still streams.")
    timeout: float = Field(description="Seconds.")
    available: bool
    unavailable: str | None = Field(description="Why it cannot be used here.")


class DefaultLimits(BaseModel):
    """How far a run may go whose request sets no limit."""

    max_steps: int = Field(description="Requests to the model.")
    max_searches: int = Field(description="Distinct searches.")


class ToolList(BaseModel):
    """Every tool, in the order in which they are offered, and the limits of a run with tools."""

    tools: list[ListedTool]
    limits: DefaultLimits
