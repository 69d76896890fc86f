// Before the first message: one sentence, and three questions that show what the line is for.
import { Lamp } from "../ui/Lamp.tsx";

interface Example {
  shows: string;
  prompt: string;
}

// They work with the simulator as well, which reads questions by rules: one search, two with thinking between them,
// and three stages that wait for each other, with a sum and a clock.
const EXAMPLES: readonly Example[] = [
  { shows: "Search and sources", prompt: "How does Signalbox keep a stream alive when the connection drops?" },
  { shows: "Reasoning", prompt: "Explain in detail how a tool call becomes events." },
  {
    shows: "Many steps",
    prompt:
      "Compare TOOL_LOOP_V2 and the legacy loop, then explain what a journal is, then work out 365 * 24 * 60 and tell me the time in Tokyo.",
  },
];

export function EmptyPage({ onAsk }: { onAsk: (prompt: string) => void }) {
  return (
    <section
      className="mx-auto grid min-h-[60dvh] w-full max-w-3xl content-center gap-6 px-5 py-8 narrow:px-3"
      aria-labelledby="empty-title"
      data-part="empty"
    >
      <h2 id="empty-title" className="text-balance text-title">
        Ask something, and watch how the answer comes about.
      </h2>
      <ul className="relative grid gap-2 before:absolute before:inset-y-5 before:left-[5px] before:w-0.5 before:bg-[radial-gradient(circle,currentColor_1px,transparent_1.25px)] before:bg-[length:2px_8px] before:text-edge-strong">
        {EXAMPLES.map(({ shows, prompt }) => (
          <li key={shows} className="flex items-start gap-3">
            <span className="relative mt-3 flex bg-ground py-1">
              <Lamp lamp="waiting" />
            </span>
            <button
              type="button"
              className="grid flex-1 cursor-pointer gap-0.5 rounded-md border border-edge bg-raised px-4 py-2.5 text-left transition-colors hover:border-edge-strong"
              onClick={() => onAsk(prompt)}
            >
              <span className="text-dim text-small">{shows}</span>
              <span>{prompt}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
