// The difference of two texts, line by line (Myers' algorithm).

export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
  /** Line numbers from 1 in the old and the new text. */
  old: number | undefined;
  now: number | undefined;
}

/** Consecutive lines. Between two hunks are lines that did not change. */
export type Hunk = readonly DiffLine[];

/** More differing lines than this are shown as removed and added as a whole. */
const MOST_EDITS = 1500;
const CONTEXT = 3;

export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const kinds = [
    ...Array<"same">(start).fill("same"),
    ...edits(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...Array<"same">(end).fill("same"),
  ];
  return numbered(kinds, old, now);
}

/** A line break at the end starts no line. */
function linesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

type Kind = DiffLine["kind"];

/** The shortest list of edits. */
function edits(old: readonly string[], now: readonly string[]): readonly Kind[] {
  const trace: Map<number, number>[] = [];
  let ends = new Map([[1, 0]]);
  for (let depth = 0; depth <= Math.min(old.length + now.length, MOST_EDITS); depth++) {
    trace.push(ends);
    ends = new Map(ends);
    for (let diagonal = -depth; diagonal <= depth; diagonal += 2) {
      let x = isDown(ends, diagonal, depth) ? endOf(ends, diagonal + 1) : endOf(ends, diagonal - 1) + 1;
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x++;
      ends.set(diagonal, x);
      if (x >= old.length && x - diagonal >= now.length) return backtracked(trace, old.length, now.length);
    }
  }
  return [...old.map((): Kind => "removed"), ...now.map((): Kind => "added")];
}

const endOf = (ends: ReadonlyMap<number, number>, diagonal: number): number => ends.get(diagonal) ?? -1;

const isDown = (ends: ReadonlyMap<number, number>, diagonal: number, depth: number): boolean =>
  diagonal === -depth || (diagonal !== depth && endOf(ends, diagonal - 1) < endOf(ends, diagonal + 1));

function backtracked(trace: readonly ReadonlyMap<number, number>[], oldLength: number, newLength: number): Kind[] {
  const kinds: Kind[] = [];
  let [x, y] = [oldLength, newLength];
  for (let depth = trace.length - 1; depth >= 0; depth--) {
    const ends = trace[depth] ?? new Map();
    const down = isDown(ends, x - y, depth);
    const diagonal = down ? x - y + 1 : x - y - 1;
    const fromX = depth === 0 ? 0 : endOf(ends, diagonal);
    const fromY = depth === 0 ? 0 : fromX - diagonal;
    while (x > fromX && y > fromY) {
      kinds.push("same");
      x--;
      y--;
    }
    if (depth > 0) kinds.push(down ? "added" : "removed");
    [x, y] = [fromX, fromY];
  }
  return kinds.reverse();
}

function numbered(kinds: readonly Kind[], old: readonly string[], now: readonly string[]): readonly DiffLine[] {
  let [x, y] = [0, 0];
  return kinds.map((kind) => {
    const isOld = kind !== "added";
    const isNew = kind !== "removed";
    const text = (isNew ? now[y] : old[x]) ?? "";
    if (isOld) x++;
    if (isNew) y++;
    return { kind, text, old: isOld ? x : undefined, now: isNew ? y : undefined };
  });
}

/** The changed lines with a few lines around them. */
export function hunksOf(lines: readonly DiffLine[]): readonly Hunk[] {
  const hunks: DiffLine[][] = [];
  let last = Number.NEGATIVE_INFINITY;
  const near = new Set<number>();
  lines.forEach(({ kind }, at) => {
    if (kind === "same") return;
    for (let i = Math.max(0, at - CONTEXT); i <= Math.min(lines.length - 1, at + CONTEXT); i++) near.add(i);
  });
  for (const at of [...near].sort((a, b) => a - b)) {
    if (at !== last + 1) hunks.push([]);
    hunks.at(-1)?.push(lines[at] as DiffLine);
    last = at;
  }
  return hunks;
}

export const countsOf = (lines: readonly DiffLine[]): { added: number; removed: number } => ({
  added: lines.filter(({ kind }) => kind === "added").length,
  removed: lines.filter(({ kind }) => kind === "removed").length,
});
