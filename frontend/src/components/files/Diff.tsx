// A difference by lines: the changed ones with some lines around them.
import type { DiffLine, Hunk } from "../../logic/files/lineDiff.ts";

interface Props {
  hunks: readonly Hunk[];
  counts: { added: number; removed: number };
}

const LOOKS = {
  added: { sign: "+", spoken: "added: ", look: "bg-green-wash" },
  removed: { sign: "−", spoken: "removed: ", look: "bg-red-wash" },
  same: { sign: " ", spoken: "", look: "" },
} as const;
/** Each line is an element. */
const MOST_LINES = 3000;

export function Diff({ hunks, counts }: Props) {
  if (hunks.length === 0) return <p className="p-4 text-dim text-small">This version changes no line.</p>;
  const { added, removed } = counts;
  const total = hunks.reduce((sum, hunk) => sum + hunk.length, 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard.
    <section aria-label="Changed lines" tabIndex={0} className="min-h-0 flex-1 overflow-auto" dir="ltr">
      <p className="px-3 py-2 text-dim text-tiny tabular-nums">
        +{added} −{removed} lines
        {total > MOST_LINES && ", of which the first are shown"}
      </p>
      <div className="w-max min-w-full pb-4 font-mono text-small">
        {within(hunks).map((hunk, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a version do not change.
          <div key={at} className="border-edge not-first:border-t">
            {hunk.map((line) => (
              <Line key={`${line.old} ${line.now}`} line={line} />
            ))}
          </div>
        ))}
      </div>
    </section>
  );
}

function within(hunks: readonly Hunk[]): readonly Hunk[] {
  let left = MOST_LINES;
  return hunks.flatMap((hunk) => {
    const shown = hunk.slice(0, left);
    left -= shown.length;
    return shown.length > 0 ? [shown] : [];
  });
}

function Line({ line }: { line: DiffLine }) {
  const { sign, spoken, look } = LOOKS[line.kind];
  return (
    <div className={`flex whitespace-pre ${look}`}>
      <span aria-hidden="true" className="w-10 shrink-0 select-none pe-2 text-end text-dim tabular-nums">
        {line.now ?? line.old}
      </span>
      <span aria-hidden="true" className="w-4 shrink-0 select-none">
        {sign}
      </span>
      {spoken && <span className="sr-only">{spoken}</span>}
      <span className="pe-4">{line.text}</span>
    </div>
  );
}
