// Chooses the line that gets the focus when a line is deleted.

/** Return the next line, or the previous one at the end. */
export function nextFocusedLine(lines: readonly { id: string }[], id: string): string | undefined {
  const at = lines.findIndex((line) => line.id === id);
  return (lines[at + 1] ?? lines[at - 1])?.id;
}
