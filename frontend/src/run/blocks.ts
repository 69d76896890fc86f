// Markdown to blocks that stand on their own, so that a growing answer is parsed only at its end (quirk H1).

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** A line that may belong to what stands before the blank line: a list, a quote, something indented. */
const GOES_ON = /^(\s|[-*+>|]|\d+[.)])/;
const DEFINITION = /^ {0,3}\[[^\]]+\]:/m;

/** Cut at blank lines where nothing before can reach over; joined with a blank line they are the text again. */
export function blocksOf(text: string): string[] {
  // A definition holds for the whole text.
  if (DEFINITION.test(text)) return [text];
  const blocks: string[] = [];
  let block: string[] = [];
  let fence = "";
  for (const line of text.split("\n")) {
    const blankBefore = block.at(-1)?.trim() === "";
    if (!fence && blankBefore && line.trim() && !GOES_ON.test(line)) {
      blocks.push(block.join("\n").trimEnd());
      block = [];
    }
    fence = nextFence(fence, line);
    block.push(line);
  }
  return [...blocks, block.join("\n")].filter((part) => part.trim() !== "");
}

function nextFence(fence: string, line: string): string {
  const mark = FENCE.exec(line)?.[1];
  if (!mark) return fence;
  if (!fence) return mark;
  const closes = mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark;
  return closes ? "" : fence;
}
