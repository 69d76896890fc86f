"""Types of bodies that several page protocols have in common."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

MOST_TOOLS = 128
# Made by the client: of a message, a run or a call.
ClientId = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class CamelModel(BaseModel):
    """A part of a body whose fields are in camel case. Fields that later versions of a client add are accepted."""

    model_config = ConfigDict(
        extra="ignore", strict=True, allow_inf_nan=False, alias_generator=to_camel, validate_by_name=False
    )
