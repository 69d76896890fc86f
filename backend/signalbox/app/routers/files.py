"""/api/conversations/{id}/files: read, write, delete, restore and download the files of a branch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, cast

import msgspec
from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response

from signalbox.app.access import CallerDep
from signalbox.app.asgi.conditional import etag_of, is_current
from signalbox.app.asgi.content_policy import replace_policy
from signalbox.app.deps import Services, ServicesDep
from signalbox.app.openapi.conversation_types import File, FileList, FileVersion, FileVersionList
from signalbox.app.openapi.document import BODY_ERRORS, api_errors, binary_body, json_body, json_response
from signalbox.app.openapi.request_bodies import RestoreVersion
from signalbox.app.request.body import read_body, read_model
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.conversations.export import file_name
from signalbox.conversations.files.archive import zipped
from signalbox.conversations.files.branch import Branch, BranchVersion, branch_at, with_contents
from signalbox.conversations.files.changes import FileChange, change_file
from signalbox.core import workspace
from signalbox.core.codes import Code
from signalbox.core.conversations import Conversation, key_of
from signalbox.core.errors import RequestError
from signalbox.core.workspace import WorkspaceFile, is_image
from signalbox.offload import offloaded
from signalbox.store.conversations import find_conversation
from signalbox.store.files import files_of

router = APIRouter(prefix="/api/conversations", tags=["files"], route_class=KnownParameters)

# A model may write anything into a file, so its content never acts as a page of this server.
_POLICY = b"sandbox; default-src 'none'; frame-ancestors 'none'"
_IMAGE_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")

FilePath = Annotated[str, Path(description="A relative path with / between its parts, such as css/style.css.")]
NodeId = Annotated[
    str | None,
    Query(max_length=256, description="The end of the branch, also an active run. Default: the conversation's leaf."),
]
Version = Annotated[int | None, Query(ge=1, description="A version on the branch. Default: the newest one.")]
BaseVersion = Annotated[
    int | None,
    Query(ge=0, description="The version that is replaced; 0 if the file must not exist. Default: any version."),
]
_ERRORS = (Code.UNKNOWN_CONVERSATION, Code.UNKNOWN_MESSAGE)
_CHANGE_ERRORS = (*_ERRORS, Code.FILE_CHANGED, Code.FILE_LIMIT)


@dataclass(frozen=True, slots=True)
class BranchEnd:
    """The end of the branch that a request is about; None for the end of a conversation without messages."""

    services: Services
    conversation: Conversation
    node_id: str | None

    @property
    def body_limit(self) -> int:
        """The largest body in bytes."""
        return int(self.services.settings.signalbox_max_body_mb * 1024 * 1024)

    async def branch(self) -> Branch:
        """Return the versions on the branch; raises RequestError for an unknown node, or none."""
        return branch_at(await self.services.database.read(files_of, self.conversation.id), self._end)

    async def contents(self, versions: Sequence[BranchVersion]) -> list[WorkspaceFile]:
        """Return versions with their contents."""
        return await with_contents(self.services.database, self.conversation.id, versions)

    async def file(self, path: str, version: int | None) -> WorkspaceFile:
        """Return a file with its content; raises RequestError for an unknown version and for a deletion."""
        branch = await self.branch()
        found = branch.file(path) if version is None else branch.version(path, version)
        files = [] if found is None else await self.contents([found])
        if not files:
            raise RequestError(Code.UNKNOWN_FILE, field="path" if version is None else "version")
        if files[0].version.is_deleted:
            words = f"Version {version} deletes the file, so it has no content. Choose another version."
            raise RequestError(Code.UNKNOWN_FILE, words, "version")
        return files[0]

    async def change(self, change: FileChange) -> FileVersion:
        """Add a version to the branch; raises RequestError."""
        return _shown(await change_file(self.services.database, self.conversation.id, self._end, change))

    @property
    def _end(self) -> str:
        if self.node_id is None:
            words = (
                "The conversation has no message yet, and files belong to messages and answers. Send a message first."
            )
            raise RequestError(Code.UNKNOWN_MESSAGE, words, "node_id")
        return self.node_id


async def _branch_end(
    conversation_id: str, services: ServicesDep, caller: CallerDep, node_id: NodeId = None
) -> BranchEnd:
    found = await services.database.read(find_conversation, key_of(caller.owner, conversation_id))
    if found is None:
        raise RequestError(Code.UNKNOWN_CONVERSATION)
    return BranchEnd(services, found, node_id or found.leaf_id)


BranchEndDep = Annotated[BranchEnd, Depends(_branch_end)]


@router.get(
    "/{conversation_id}/files",
    response_model=None,
    responses={200: json_response(FileList), **api_errors(*_ERRORS)},
)
async def list_files(branch_end: BranchEndDep) -> FileList:
    """List the files of a branch, without their contents."""
    if branch_end.node_id is None:
        return {"node_id": None, "files": []}
    branch = await branch_end.branch()
    counts = branch.counts()
    files = [cast(File, {**_shown(one.version), "versions": counts[one.version.path]}) for one in branch.files()]
    return {"node_id": branch_end.node_id, "files": files}


@router.get(
    "/{conversation_id}/files.zip",
    response_class=Response,
    responses={
        200: {
            "description": "The files of the branch.",
            "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
        },
        **api_errors(*_ERRORS),
    },
)
async def download_files(branch_end: BranchEndDep) -> Response:
    """Return the files of a branch as a zip archive."""
    found = [] if branch_end.node_id is None else (await branch_end.branch()).files()
    files = await branch_end.contents(found)
    body = await offloaded(lambda: zipped(files), size=sum(len(one.content) for one in files))
    name = file_name(branch_end.conversation.title or "files", "zip")
    return Response(
        body, media_type="application/zip", headers={"content-disposition": f'attachment; filename="{name}"'}
    )


@router.get(
    "/{conversation_id}/files/{path:path}",
    response_class=Response,
    responses={
        200: {
            "description": "The content. Text of any kind is sent as plain text, an image as its own type.",
            "headers": {"x-file-version": {"description": "The version.", "schema": {"type": "integer"}}},
            "content": {
                "text/plain": {"schema": {"type": "string"}},
                **{kind: {"schema": {"type": "string", "format": "binary"}} for kind in _IMAGE_TYPES},
            },
        },
        304: {"description": "The content is the one that If-None-Match names."},
        **api_errors(*_ERRORS, Code.UNKNOWN_FILE),
    },
)
async def get_file(
    path: FilePath,
    request: Request,
    branch_end: BranchEndDep,
    version: Version = None,
    if_none_match: Annotated[str, Header()] = "",
) -> Response:
    """Return the content of a file: of its newest version, or of the one in `version`."""
    file = await branch_end.file(path, version)
    kind = file.version.media_type
    headers = {
        "etag": etag_of(file.content),
        "cache-control": "private, no-cache",
        "x-file-version": str(file.version.version),
    }
    replace_policy(request.scope, _POLICY)
    if is_current(if_none_match, headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=kind if is_image(kind) else "text/plain; charset=utf-8", headers=headers)


@router.put(
    "/{conversation_id}/files/{path:path}",
    response_model=None,
    responses={
        200: json_response(FileVersion, "The new version."),
        **api_errors(*_CHANGE_ERRORS, Code.BODY_TOO_LARGE, Code.TOO_MUCH_AT_ONCE),
    },
    openapi_extra=binary_body("The content: UTF-8 text, or an image."),
)
async def write_file(
    path: FilePath, request: Request, branch_end: BranchEndDep, base_version: BaseVersion = None
) -> FileVersion:
    """Write a new version of a file. The body is the content; its type follows from the ending of the path."""
    content = await read_body(request, branch_end.body_limit)
    return await branch_end.change(FileChange(path, content, "person", base_version=base_version))


@router.delete(
    "/{conversation_id}/files/{path:path}",
    response_model=None,
    responses={
        200: json_response(FileVersion, "The version that deletes the file."),
        **api_errors(*_CHANGE_ERRORS, Code.UNKNOWN_FILE),
    },
)
async def delete_file(path: FilePath, branch_end: BranchEndDep, base_version: BaseVersion = None) -> FileVersion:
    """Delete a file from a branch. Its versions remain, so that it can be restored."""
    return await branch_end.change(FileChange(path, None, "person", base_version=base_version))


@router.get(
    "/{conversation_id}/file-versions/{path:path}",
    response_model=None,
    responses={200: json_response(FileVersionList), **api_errors(*_ERRORS, Code.UNKNOWN_FILE)},
)
async def list_file_versions(path: FilePath, branch_end: BranchEndDep) -> FileVersionList:
    """List the versions of a file on a branch, deletions included."""
    branch = await branch_end.branch()
    versions = [_shown(one.version) for one in reversed(branch.history(path))]
    if not versions:
        raise RequestError(Code.UNKNOWN_FILE, field="path")
    return {"versions": versions}


@router.post(
    "/{conversation_id}/file-versions/{path:path}",
    response_model=None,
    responses={
        200: json_response(FileVersion, "The new version."),
        **api_errors(*BODY_ERRORS, *_CHANGE_ERRORS, Code.UNKNOWN_FILE),
    },
    openapi_extra=json_body(RestoreVersion),
)
async def restore_file(path: FilePath, request: Request, branch_end: BranchEndDep) -> FileVersion:
    """Restore a version of a file: its content becomes a new version."""
    wanted = await read_model(request, RestoreVersion, branch_end.body_limit)
    old = await branch_end.file(path, wanted.version)
    return await branch_end.change(FileChange(path, old.content, "person", old.version.media_type))


def _shown(version: workspace.FileVersion) -> FileVersion:
    return cast(FileVersion, msgspec.to_builtins(version))
