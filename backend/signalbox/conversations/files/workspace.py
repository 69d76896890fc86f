"""The workspace of a run over the database: the port of `core/workspace.py`."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from signalbox.conversations.files.branch import Branch, BranchVersion, branch_at, with_contents
from signalbox.conversations.files.changes import FileChange, change_file
from signalbox.conversations.tree import Tree
from signalbox.core.codes import Code
from signalbox.core.conversations import Node
from signalbox.core.errors import RequestError, StoreError, ToolError
from signalbox.core.workspace import FileVersion, Option, WorkspaceFile
from signalbox.store.conversations import nodes_of
from signalbox.store.database import Database
from signalbox.store.files import files_of


async def _on_disk() -> None:
    """Return at once: the run is on disk."""


@dataclass(frozen=True, slots=True)
class RunWorkspace:
    """The files of the branch that ends at a run. `conversation_id` is the stored id.

    `flush` waits until the run is on disk: its first step may call a tool before it is.

    A person may change a file while a call changes it. So a call that holds the lock replaces only the version that it
    has found.
    """

    database: Database
    conversation_id: str
    run_id: str
    flush: Callable[[], Awaitable[None]] = _on_disk
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _found: dict[str, int] = field(default_factory=dict[str, int])

    @asynccontextmanager
    async def locked(self) -> AsyncGenerator[None, None]:
        """Hold the lock of a change, which all calls of the run share."""
        async with self._lock:
            try:
                yield
            finally:
                self._found.clear()

    async def files(self) -> Sequence[FileVersion]:
        """Return the newest version of each file that is not deleted, by path."""
        return [one.version for one in (await self._branch()).files()]

    async def find(self, path: str) -> WorkspaceFile | None:
        """Return the newest version of a file; None for an unknown or deleted one."""
        found = (await self._branch()).file(path)
        if self._lock.locked():
            self._found.setdefault(path, found.version.version if found is not None else 0)
        return next(iter(await self._read(found)), None) if found is not None else None

    async def write(self, path: str, content: bytes, media_type: str = "") -> FileVersion:
        """Store a new version by the model; raises ToolError."""
        with _tool_errors():
            change = FileChange(path, content, "model", media_type, self._found.pop(path, None))
            return await change_file(self.database, self.conversation_id, self.run_id, change)

    async def options(self) -> Sequence[Option]:
        """Return the variants of the newest question with several answers."""
        with _tool_errors():
            await self.flush()
            return options_of(await self.database.read(nodes_of, self.conversation_id), self.run_id)

    async def files_of_option(self, number: int) -> Sequence[WorkspaceFile]:
        """Return the files of a variant as they are now; raises ToolError with the numbers that exist."""
        options = await self.options()
        chosen = next((one for one in options if one.number == number), None)
        if chosen is None:
            raise ToolError(Code.INVALID_ARGUMENTS, _no_option(number, len(options)))
        return await self._read(*(await self._branch(chosen.run_id)).files())

    async def _branch(self, node_id: str | None = None) -> Branch:
        with _tool_errors():
            await self.flush()
            return branch_at(await self.database.read(files_of, self.conversation_id), node_id or self.run_id)

    async def _read(self, *versions: BranchVersion) -> list[WorkspaceFile]:
        with _tool_errors():
            return await with_contents(self.database, self.conversation_id, versions)


def _no_option(number: int, count: int) -> str:
    if not count:
        return "There are no options: no question of this conversation has several answers."
    return f"There is no option {number}. The options are 1 to {count}."


@contextmanager
def _tool_errors() -> Generator[None, None, None]:
    """Convert failures to the tool errors that the model receives."""
    try:
        yield
    except StoreError as error:
        raise ToolError(Code.TOOL_FAILED, "The files cannot be read or written right now.") from error
    except RequestError as error:
        if error.code in (Code.UNKNOWN_MESSAGE, Code.UNKNOWN_CONVERSATION):
            raise ToolError(Code.TOOL_FAILED, "The conversation was deleted, with all its files.") from error
        if error.code is Code.FILE_CHANGED:
            words = f"{error.message} The user has changed the file meanwhile: read it again, then repeat the change."
            raise ToolError(Code.INVALID_ARGUMENTS, words) from error
        if error.code is Code.FILE_LIMIT:
            raise ToolError(Code.FILE_LIMIT, error.message) from error
        raise ToolError(Code.INVALID_ARGUMENTS, error.message) from error


def options_of(nodes: Sequence[Node], run_id: str) -> list[Option]:
    """Return the variants of the newest question on the branch of a run that has several, in order of their start.

    The run's own question counts only if no earlier one has several: its variants are being written now.
    """
    tree = Tree(nodes)
    path = tree.path(run_id)
    answers = [node for node in path if node.run is not None]
    for answer in (*reversed(answers[:-1]), *answers[-1:]):
        if (variants := _variants(tree, answer)) and len(variants) > 1:
            on_branch = {node.id for node in path}
            return [
                Option(number, node_id, model, is_own=node_id in on_branch)
                for number, (node_id, model) in enumerate(variants, 1)
            ]
    return []


def _variants(tree: Tree, answer: Node) -> list[tuple[str, str]]:
    """Return the id and model of each run that answers the same message; an answer's continuation has no variants."""
    parent = tree.nodes.get(answer.parent_id) if answer.parent_id is not None else None
    if parent is None or parent.run is not None:
        return []
    return [(node.id, node.run.model) for node in tree.children(parent.id) if node.run is not None]
