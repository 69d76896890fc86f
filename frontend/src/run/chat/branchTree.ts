// A conversation as a tree: the way to a leaf, the alternatives beside a part, and where each of them leads.

export interface Part {
  key: string;
  /** The key of what it follows; null at a beginning. */
  parent: string | null;
  kind: "question" | "answer";
}

export type Parts<P extends Part> = ReadonlyMap<string, P>;

/** The parts from a beginning to this one; none where it is not there. A circle is cut. */
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

/** The parts of its kind that follow the same part, itself among them, in the order in which they came. */
export function alternativesOf<P extends Part>(parts: Parts<P>, part: P): readonly P[] {
  return [...parts.values()].filter(({ parent, kind }) => parent === part.parent && kind === part.kind);
}

/** The same for every part of a way at once: one look at the tree, however long it is. */
export function alternativesAlong<P extends Part>(parts: Parts<P>, path: readonly P[]): readonly (readonly P[])[] {
  const byParent = Map.groupBy(parts.values(), placeOf);
  return path.map((part) => byParent.get(placeOf(part)) ?? [part]);
}

const placeOf = ({ parent, kind }: Part): string => `${kind} ${parent ?? ""}`;

/** Where a way through this part ends: always on with what came last. */
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
