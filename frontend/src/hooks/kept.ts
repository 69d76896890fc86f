// The conversation as this tab keeps it over a reload: what was said, and which run was still under way.
import type { Effort, RunTrace } from "../types/models.ts";

export interface KeptTurn {
  /** Its Idempotency-Key; absent in what an older page kept. */
  key?: string;
  question: string;
  model: string;
  effort: Effort;
  /** As far as it had come; without an end it is taken up again from its first event. */
  trace: RunTrace;
  /** When it was asked, in epoch milliseconds. */
  asked: number;
}

const KEY = "signalbox.chat";
const VERSION = 1;

type Box = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Keep the conversation. Where it does not fit, what the tools gave back is left out; where nothing may be kept, nothing is. */
export function keep(turns: readonly KeptTurn[], box: Box): void {
  for (const shape of [turns, turns.map(withoutCalls)]) {
    try {
      if (shape.length === 0) box.removeItem(KEY);
      else box.setItem(KEY, JSON.stringify({ version: VERSION, turns: shape }));
      return;
    } catch {}
  }
}

const withoutCalls = (turn: KeptTurn): KeptTurn => ({
  ...turn,
  trace: { ...turn.trace, items: turn.trace.items.filter((item) => item.kind === "content") },
});

/** What was kept; nothing where it is of another version, or of nobody's making. */
export function kept(box: Box): readonly KeptTurn[] {
  try {
    const saved: unknown = JSON.parse(box.getItem(KEY) ?? "null");
    const { version, turns } = (saved ?? {}) as Record<string, unknown>;
    return version === VERSION && Array.isArray(turns) ? turns.filter(isTurn) : [];
  } catch {
    return [];
  }
}

function isTurn(value: unknown): value is KeptTurn {
  const turn = (value ?? {}) as Partial<KeptTurn>;
  return typeof turn.question === "string" && turn.trace?.schema === 1 && Array.isArray(turn.trace.items);
}
