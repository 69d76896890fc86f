// A conversation as a tree: the path to a leaf, the versions of a part, and the leaf of a branch.

export interface Part {
  key: string;
  /** The key of the part that it follows. Null at the root. */
  parent: string | null;
  kind: "question" | "answer";
}

export type Parts<P extends Part> = ReadonlyMap<string, P>;

/** The parts from the root to a leaf. Empty if the leaf does not exist. Cycles are cut. */
export function pathTo<P extends Part>(parts: Parts<P>, leaf: string | null): readonly P[] {
  const way = new Map<string, P>();
  for (let key = leaf; key !== null && !way.has(key); ) {
    const part = parts.get(key);
    if (!part) break;
    way.set(key, part);
    key = part.parent;
  }
  return [...way.values()].reverse();
}

/** All parts of the same kind with the same parent, including this one, in order of creation. */
export function alternativesOf<P extends Part>(parts: Parts<P>, part: P): readonly P[] {
  return [...parts.values()].filter(({ parent, kind }) => parent === part.parent && kind === part.kind);
}

/** The versions of every part of a path, in one pass over the tree. */
export function alternativesAlong<P extends Part>(parts: Parts<P>, path: readonly P[]): readonly (readonly P[])[] {
  const byParent = Map.groupBy(parts.values(), placeOf);
  return path.map((part) => byParent.get(placeOf(part)) ?? [part]);
}

const placeOf = ({ parent, kind }: Part): string => `${kind} ${parent ?? ""}`;

/** The leaf reached from a part by always following the newest child. */
export function newestLeaf<P extends Part>(parts: Parts<P>, from: string): string {
  const last = new Map<string | null, string>();
  for (const part of parts.values()) last.set(part.parent, part.key);
  let leaf = from;
  const seen = new Set<string>();
  for (let next: string | undefined = from; next !== undefined && !seen.has(next); next = last.get(next)) {
    seen.add(next);
    leaf = next;
  }
  return leaf;
}
