// The page before the first message: a title and four example messages.
import { Brand } from "../ui/Brand.tsx";

interface Example {
  shows: string;
  prompt: string;
}

// The simulator answers them by rules that also match other messages (backend/signalbox/simulator).
const EXAMPLES: readonly Example[] = [
  { shows: "Table with sources", prompt: "Compare Lisbon and Porto for a weekend trip, in a table." },
  {
    shows: "Formula and calculator",
    prompt: "What is the monthly payment on a loan of $250,000 at 4% over 25 years?",
  },
  { shows: "Code", prompt: "Write a Python script that renames my photos by date." },
  { shows: "Clock and search", prompt: "What time is it in Tokyo, and what are good tips against jet lag?" },
];

export function EmptyPage({ onAsk }: { onAsk: (prompt: string) => void }) {
  return (
    <section
      className="mx-auto grid min-h-[60dvh] w-full max-w-3xl content-center gap-6 px-5 py-8 narrow:gap-4 narrow:px-3 narrow:py-5"
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
