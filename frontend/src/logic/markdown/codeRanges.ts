// Finds the code in a Markdown text: fenced blocks and inline code.

type Range = readonly [start: number, end: number];

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/** The ranges in order. Runs in linear time, because the text is searched on every key press. */
export function codeRanges(text: string): readonly Range[] {
  const ranges: Range[] = [];
  let fence: { mark: string; start: number } | undefined;
  let at = 0;
  for (const line of text.split("\n")) {
    const end = at + line.length;
    const mark = FENCE.exec(line);
    if (!fence && mark && !mark[2]?.includes("`")) fence = { mark: mark[1] ?? "", start: at };
    else if (fence && mark && closes(mark, fence.mark)) {
      ranges.push([fence.start, end]);
      fence = undefined;
    } else if (!fence) ranges.push(...spansIn(line, at));
    at = end + 1;
  }
  // An unclosed code fence extends to the end.
  return fence ? [...ranges, [fence.start, text.length]] : ranges;
}

const closes = ([, mark = "", rest = ""]: RegExpExecArray, opened: string): boolean =>
  mark[0] === opened[0] && mark.length >= opened.length && rest.trim() === "";

/** Inline code ends at the next run of as many backticks. A run without a counterpart is text. */
function spansIn(line: string, offset: number): readonly Range[] {
  const runs = [...line.matchAll(/`+/g)].map(({ 0: run, index }) => ({ start: index, length: run.length }));
  const ends: (number | undefined)[] = [];
  const seen = new Map<number, number>();
  for (let index = runs.length - 1; index >= 0; index--) {
    const { length } = runs[index] as (typeof runs)[number];
    ends[index] = seen.get(length);
    seen.set(length, index);
  }
  const spans: Range[] = [];
  for (let index = 0; index < runs.length; index++) {
    const last = runs[ends[index] ?? -1];
    if (!last) continue;
    spans.push([offset + (runs[index]?.start ?? 0), offset + last.start + last.length]);
    index = ends[index] ?? index;
  }
  return spans;
}
