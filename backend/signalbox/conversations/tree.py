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

    def path(self, node_id: str | None, *, behind: str | None = None) -> list[Node]:
        """Return the nodes from a root, or from after `behind`, to this one; empty for None and unknown nodes."""
        way: dict[str, Node] = {}
        while node_id not in (None, behind) and node_id not in way and (node := self.nodes.get(node_id)) is not None:
            way[node.id] = node
            node_id = node.parent_id
        return [*reversed(way.values())]


def system_of(path: Iterable[Node]) -> str | None:
    """Return the system instructions in force at the end of a path: the last ones on it."""
    held: str | None = None
    for node in path:
        held = held if node.system is None else node.system
    return held
