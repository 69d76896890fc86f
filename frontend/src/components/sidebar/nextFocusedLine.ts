// Which line takes the focus when one is gone.

/** The one behind it, or before it at the end. */
export function neighbourOf(lines: readonly { id: string }[], id: string): string | undefined {
  const at = lines.findIndex((line) => line.id === id);
  return (lines[at + 1] ?? lines[at - 1])?.id;
}
