// Before the first message: one sentence, and three questions that show what the line is for.
import { Lamp } from "./Lamp.tsx";

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
