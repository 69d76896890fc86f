"""The files of conversations."""

from typing import Literal, TypedDict


class FileVersion(TypedDict):
    """A version of a file, without its content. `version` counts the versions of the path on the branch, from 1.

    `size` is in bytes. `created` is in epoch seconds. `node_id` is the id of the run that wrote the version, or the end
    of the branch when a person wrote it. If `is_deleted` is True, the version deletes the file.
    """

    path: str
    version: int
    media_type: str
    size: int
    author: Literal["model", "person"]
    created: float
    node_id: str
    is_deleted: bool


class File(FileVersion):
    """The newest version of a file. `versions` is the number of versions of the path on the branch."""

    versions: int
