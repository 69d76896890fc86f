// Cuts a text into pieces, so that only the last one of a growing text is rendered again.
const LINES = 64;

/** Each piece but the last has a fixed number of lines, and ends with a line break. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let [from, lines] = [0, 0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    lines++;
    if (lines % LINES !== 0) continue;
    pieces.push(text.slice(from, at + 1));
    from = at + 1;
  }
  return [...pieces, text.slice(from)];
}
