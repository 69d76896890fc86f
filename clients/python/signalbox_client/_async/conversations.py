"""The conversations that the server stores."""

import uuid
from collections.abc import AsyncIterator

from signalbox_client import bodies
from signalbox_client._async.files import AsyncFiles
from signalbox_client._async.server import AsyncServer
from signalbox_client.errors import foreign
from signalbox_client.paths import path_of


class AsyncConversations:
    """The conversations of the token's owner. A question with a `conversation_id` is added to that conversation."""

    def __init__(self, server: AsyncServer) -> None:
        self._server = server

    def list(self, search: str | None = None) -> AsyncIterator[bodies.ConversationSummary]:
        """Iterate over conversations, the most recently used first. `search` is a text that they must contain."""
        return self._server.pages("/api/conversations", "conversations", {} if search is None else {"search": search})

    async def get(self, conversation_id: str) -> bodies.Conversation:
        """Return a conversation with all its branches."""
        return await self._server.json("GET", path_of("conversations", conversation_id))

    async def create(self, title: str | None = None, conversation_id: str | None = None) -> bodies.ConversationInfo:
        """Create an empty conversation, or return the existing conversation with this id."""
        body = {"id": conversation_id or uuid.uuid4().hex, **({} if title is None else {"title": title})}
        return await self._server.json("POST", "/api/conversations", body=body)

    async def rename(self, conversation_id: str, title: str) -> bodies.ConversationHead:
        """Set the title of a conversation."""
        return await self._server.json("PATCH", path_of("conversations", conversation_id), body={"title": title})

    async def select(self, conversation_id: str, leaf_id: str) -> bodies.ConversationHead:
        """Select the branch that the next question continues. `leaf_id` is the id of its last node."""
        return await self._server.json("PATCH", path_of("conversations", conversation_id), body={"leaf_id": leaf_id})

    async def export(self, conversation_id: str) -> str:
        """Return the selected branch as Markdown."""
        response = await self._server.send("GET", path_of("conversations", conversation_id, "export"))
        if not response.headers.get("content-type", "").startswith("text/markdown"):
            raise foreign(response)
        return response.text

    def files(self, conversation_id: str, node_id: str | None = None) -> AsyncFiles:
        """Return the files of a branch. `node_id` is the id of its last node. Default: the selected branch."""
        return AsyncFiles(self._server, conversation_id, node_id)

    async def delete(self, conversation_id: str) -> None:
        """Delete a conversation with its runs. Its active runs are stopped first. Its saves are kept."""
        await self._server.json("DELETE", path_of("conversations", conversation_id))
