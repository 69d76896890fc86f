"""The conversations that the server stores."""

import uuid
from collections.abc import Iterator

from signalbox_client import bodies
from signalbox_client._sync.files import Files
from signalbox_client._sync.server import Server
from signalbox_client.errors import foreign
from signalbox_client.paths import path_of


class Conversations:
    """The conversations of the token's owner. A question with a `conversation_id` is added to that conversation."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def list(self, search: str | None = None) -> Iterator[bodies.ConversationSummary]:
        """Iterate over conversations, the most recently used first. `search` is a text that they must contain."""
        return self._server.pages("/api/conversations", "conversations", {} if search is None else {"search": search})

    def get(self, conversation_id: str) -> bodies.Conversation:
        """Return a conversation with all its branches."""
        return self._server.json("GET", path_of("conversations", conversation_id))

    def create(self, title: str | None = None, conversation_id: str | None = None) -> bodies.ConversationInfo:
        """Create an empty conversation, or return the existing conversation with this id."""
        body = {"id": conversation_id or uuid.uuid4().hex, **({} if title is None else {"title": title})}
        return self._server.json("POST", "/api/conversations", body=body)

    def rename(self, conversation_id: str, title: str) -> bodies.ConversationHead:
        """Set the title of a conversation."""
        return self._server.json("PATCH", path_of("conversations", conversation_id), body={"title": title})

    def select(self, conversation_id: str, leaf_id: str) -> bodies.ConversationHead:
        """Select the branch that the next question continues. `leaf_id` is the id of its last node."""
        return self._server.json("PATCH", path_of("conversations", conversation_id), body={"leaf_id": leaf_id})

    def export(self, conversation_id: str) -> str:
        """Return the selected branch as Markdown."""
        response = self._server.send("GET", path_of("conversations", conversation_id, "export"))
        if not response.headers.get("content-type", "").startswith("text/markdown"):
            raise foreign(response)
        return response.text

    def files(self, conversation_id: str, node_id: str | None = None) -> Files:
        """Return the files of a branch. `node_id` is the id of its last node. Default: the selected branch."""
        return Files(self._server, conversation_id, node_id)

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation with its runs. Its active runs are stopped first. Its saves are kept."""
        self._server.json("DELETE", path_of("conversations", conversation_id))
