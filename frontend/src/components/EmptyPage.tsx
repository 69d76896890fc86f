// Before the first message: one sentence, and three questions that show what the line is for.
import { Lamp } from "./Lamp.tsx";

interface Example {
  shows: string;
  prompt: string;
}

const EXAMPLES: readonly Example[] = [
  { shows: "Search and sources", prompt: "How does Signalbox keep a stream alive when the connection drops?" },
  { shows: "Reasoning", prompt: "Think it through: is 3,599 a prime number, and how can you tell?" },
  {
    shows: "Many steps",
    prompt: "Find out what a run is, then what a journal is, work out 365 * 24 * 60, and tell me the time in Kyoto.",
  },
];

export function EmptyPage({ onAsk }: { onAsk: (prompt: string) => void }) {
  return (
    <section className="empty" aria-labelledby="empty-title">
      <h2 id="empty-title">Ask something, and watch how the answer comes about.</h2>
      <ul>
        {EXAMPLES.map(({ shows, prompt }) => (
          <li key={shows} className="stop">
            <Lamp lamp="waiting" />
            <button type="button" className="example" onClick={() => onAsk(prompt)}>
              <span className="example-shows">{shows}</span>
              <span>{prompt}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
