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

    def versions_of(self, node_ids: Iterable[str], until: float) -> dict[str, list[str]]:
        """Return the ids of the nodes in the place of each node, itself included, if there are several.

        Nodes that were created after `until` are left out.
        """
        out: dict[str, list[str]] = {}
        for node in (self.nodes[node_id] for node_id in node_ids if node_id in self.nodes):
            same = [one for one in self.children(node.parent_id) if _kind(one) == _kind(node)]
            ids = [one.id for one in same if one is node or one.created <= until]
            if len(ids) > 1:
                out[node.id] = ids
        return out

    def newest_leaf(self, node_id: str) -> str:
        """Return the end of the newest branch that contains a node."""
        seen: set[str] = set()
        while node_id not in seen and (children := self.children(node_id)):
            seen.add(node_id)
            node_id = children[-1].id
        return node_id

    def path(self, node_id: str | None, *, after: str | None = None) -> list[Node]:
        """Return the nodes from a root, or from the child of `after`, to this one; empty for None and unknown nodes."""
        path: dict[str, Node] = {}
        while node_id not in (None, after) and node_id not in path and (node := self.nodes.get(node_id)) is not None:
            path[node.id] = node
            node_id = node.parent_id
        return [*reversed(path.values())]


def _kind(node: Node) -> tuple[str, bool]:
    return node.role, node.run is not None


def system_of(path: Iterable[Node]) -> str | None:
    """Return the system instructions in force at the end of a path: the last ones on it."""
    system: str | None = None
    for node in path:
        system = system if node.system is None else node.system
    return system
