// Tells a screen reader where the run is, at its boundaries and not per token.
import type { Turn } from "../hooks/chat.ts";
import { stopsOf } from "../run/view.ts";
import { endingOf } from "../run/words.ts";

export function Announcer({ turn }: { turn: Turn | undefined }) {
  return (
    <p className="sr-only" role="status" aria-live="polite">
      {turn ? sentenceOf(turn) : ""}
    </p>
  );
}

function sentenceOf(turn: Turn): string {
  const { end } = turn.trace;
  if (end) return end.status === "complete" ? "The answer is complete." : `${endingOf(end).label}.`;
  if (turn.stopping) return "Stopping.";
  if (turn.resuming) return "The connection dropped. Taking the answer up again.";
  const last = stopsOf(turn.trace).at(-1);
  switch (last?.kind) {
    case "reasoning":
      return "Thinking.";
    case "search":
      return "Searching.";
    case "tools":
      return "Using tools.";
    case "answer":
      return "Answering.";
    default:
      return "Waiting for the model.";
  }
}
