// Before the first message: what this is, and questions that show what an answer can hold.
import { Brand } from "../ui/Brand.tsx";

interface Example {
  shows: string;
  prompt: string;
}

// They work with the simulator as well, which reads questions by rules.
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
      <header className="grid gap-1.5">
        <h2 id="empty-title" className="flex items-center gap-2 text-title">
          <Brand />
          Signalbox
        </h2>
        <p className="text-pretty text-dim">Chat with AI models and see how they find each answer.</p>
      </header>
      <ul className="grid grid-cols-2 gap-2 narrow:grid-cols-1" aria-label="Examples">
        {EXAMPLES.map(({ shows, prompt }) => (
          <li key={shows} className="grid">
            <button
              type="button"
              className="grid cursor-pointer content-start gap-0.5 rounded-md border border-edge bg-raised px-4 py-2.5 text-start transition-colors hover:border-edge-strong"
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
