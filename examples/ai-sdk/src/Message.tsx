import { getToolName, isToolUIPart } from "ai";
import Markdown from "react-markdown";
import type { ChatMessage } from "./chat";

type Part = ChatMessage["parts"][number];

/** The page loads nothing from other servers, so an image of the text is a link. */
const COMPONENTS = {
  img: ({ src, alt }: { src?: string; alt?: string }) => <a href={src}>{alt || "Open image"}</a>,
};

/** One message with all its parts, and what an answer cost. */
export function Message({ message, onEdit }: { message: ChatMessage; onEdit?: (message: ChatMessage) => void }) {
  const sources = message.parts.filter((part) => part.type === "source-url");
  const runs = Object.values(message.metadata?.runs ?? {});
  const cost = runs.reduce((sum, run) => sum + (run.cost ?? 0), 0);
  return (
    <article className={message.role} aria-label={message.role === "user" ? "You" : "Assistant"}>
      {message.parts.map((part, place) => (
        // Parts are only appended, so their places are their keys.
        <MessagePart key={place} part={part} />
      ))}
      {sources.length > 0 && (
        <ol aria-label="Sources">
          {sources.map((source) => (
            <li key={source.sourceId} value={Number(source.sourceId)}>
              <a href={source.url} target="_blank" rel="noopener noreferrer">{source.title ?? source.url}</a>
            </li>
          ))}
        </ol>
      )}
      {runs.length > 0 && (
        <small>
          {runs.at(-1)?.status ?? "running"} · ${cost.toFixed(4)}
        </small>
      )}
      {message.role === "user" && onEdit && (
        <button type="button" onClick={() => onEdit(message)}>Edit</button>
      )}
    </article>
  );
}

function MessagePart({ part }: { part: Part }) {
  if (part.type === "text") return <div className="text"><Markdown components={COMPONENTS}>{part.text}</Markdown></div>;
  if (part.type === "reasoning") return part.text ? <details><summary>Reasoning</summary>{part.text}</details> : null;
  if (part.type === "data-warning") return <p role="note">{part.data.message}</p>;
  if (part.type === "file") return <img src={part.url} alt={part.filename ?? "An image of the answer"} />;
  if (!isToolUIPart(part)) return null;
  return (
    <details>
      <summary>
        {getToolName(part)} · {part.state}
      </summary>
      <pre>{JSON.stringify({ input: part.input, output: part.output, error: part.errorText }, null, 2)}</pre>
    </details>
  );
}
