// Counts Markdown parses for tests and for the browser benchmark (quirk H1).

interface Counts {
  parses: number;
  characters: number;
}

export const parseCounts: Counts = { parses: 0, characters: 0 };

/** A remark plugin that counts each parse. */
export const countParses = () => (_: unknown, file: { value?: unknown }) => {
  const length = typeof file.value === "string" ? file.value.length : 0;
  for (const each of [parseCounts, asked()]) {
    if (!each) continue;
    each.parses = (each.parses ?? 0) + 1;
    each.characters = (each.characters ?? 0) + length;
  }
};

const asked = (): Partial<Counts> | undefined =>
  (globalThis as { __signalboxCounts?: Partial<Counts> }).__signalboxCounts;
