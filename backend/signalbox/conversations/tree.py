"""The tree of a conversation: ways from its roots to a node, and what follows a node."""

from collections import defaultdict
from collections.abc import Iterable

from signalbox.core.conversations import Node


class Tree:
    """Nodes by id and by parent; each parent's children in the order in which they came."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes = {node.id: node for node in nodes}
        self._children: dict[str | None, list[Node]] = defaultdict(list)
        for node in self.nodes.values():
            self._children[node.parent_id].append(node)

    def children(self, node_id: str | None) -> list[Node]:
        """Return what follows a node; of None: the roots."""
        return self._children.get(node_id, [])

    def path(self, node_id: str | None, *, behind: str | None = None) -> list[Node]:
        """Return the nodes from a root, or from behind a node, to this one; of None and unknown nodes: none."""
        way: dict[str, Node] = {}
        while node_id not in (None, behind) and node_id not in way and (node := self.nodes.get(node_id)) is not None:
            way[node.id] = node
            node_id = node.parent_id
        return [*reversed(way.values())]


def system_of(path: Iterable[Node]) -> str | None:
    """Return the instructions that hold at the end of a way: the newest on it."""
    held: str | None = None
    for node in path:
        held = held if node.system is None else node.system
    return held
