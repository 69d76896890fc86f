"""The tree of a conversation: paths and children."""

from collections import defaultdict
from collections.abc import Iterable

from signalbox.core.conversations import Node


class Tree:
    """Nodes by id and by parent, children in order of creation."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes = {node.id: node for node in nodes}
        self._children: dict[str | None, list[Node]] = defaultdict(list)
        for node in self.nodes.values():
            self._children[node.parent_id].append(node)

    def children(self, node_id: str | None) -> list[Node]:
        """Return the children of a node; of None the roots."""
        return self._children.get(node_id, [])

    def path(self, node_id: str | None, *, after: str | None = None) -> list[Node]:
        """Return the nodes from a root, or from the child of `after`, to this one; empty for None and unknown nodes."""
        path: dict[str, Node] = {}
        while node_id not in (None, after) and node_id not in path and (node := self.nodes.get(node_id)) is not None:
            path[node.id] = node
            node_id = node.parent_id
        return [*reversed(path.values())]


def system_of(path: Iterable[Node]) -> str | None:
    """Return the system instructions in force at the end of a path: the last ones on it."""
    system: str | None = None
    for node in path:
        system = system if node.system is None else node.system
    return system
