import {
  ActionBarPrimitive,
  ErrorPrimitive,
  type ImageMessagePartProps,
  MessagePrimitive,
  type ReasoningMessagePartProps,
  useAssistantTransportSendCommand,
  useAssistantTransportState,
  useAuiState,
} from "@assistant-ui/react";
import { BranchPicker } from "./BranchPicker";
import { Markdown } from "./Markdown";
import type { Facts, State } from "./signalbox";
import { ToolCall } from "./ToolCall";

/** Why an answer is not complete. Errors are shown by MessagePrimitive.Error. */
const REASONS: Record<string, string> = {
  cancelled: "Stopped.",
  length: "The answer reached its length limit.",
  "content-filter": "The provider withheld the rest of this answer.",
};

/** An answer, with its tool calls, sources and versions. */
export function AssistantMessage() {
  const isRunning = useAuiState(({ thread }) => thread.isRunning);
  return (
    <MessagePrimitive.Root className="message" role="article" aria-label="Assistant">
      <MessagePrimitive.Parts
        components={{ Text: Markdown, Reasoning, Image, Empty: Thinking, tools: { Override: ToolCall } }}
      />
      <MessagePrimitive.Error>
        <p role="alert" className="failure">
          <ErrorPrimitive.Message />
        </p>
      </MessagePrimitive.Error>
      <Ending />
      <Sources />
      <div className="actions">
        <BranchPicker />
        <ActionBarPrimitive.Copy>Copy</ActionBarPrimitive.Copy>
        {!isRunning && <Refresh />}
      </div>
    </MessagePrimitive.Root>
  );
}

/** Answers the question again, as another version. */
function Refresh() {
  const send = useAssistantTransportSendCommand();
  const parentId = useAuiState(({ message }) => message.parentId);
  if (!parentId) return null;
  return (
    <button type="button" onClick={() => send({ type: "reload", parentId })}>
      Refresh
    </button>
  );
}

/** Why the answer ended early, and the warnings of its run. */
function Ending() {
  const status = useAuiState(({ message }) => message.status);
  const { run } = useAuiState(({ message }) => message.metadata.custom as Facts);
  const state = useAssistantTransportState() as unknown as State;
  const warnings = run && state.run?.id === run.id ? (state.warnings ?? []) : [];
  const reason = status?.type === "incomplete" ? REASONS[status.reason] : undefined;
  const notes = [...warnings.map(({ message }) => message), ...(reason ? [reason] : [])];
  return [...new Set(notes)].map((note) => (
    <p key={note} role="note" className="note">
      {note}
    </p>
  ));
}

function Sources() {
  const { sources = [] } = useAuiState(({ message }) => message.metadata.custom as Facts);
  const numbered = [...new Map(sources.map((source) => [source.n, source])).values()];
  if (numbered.length === 0) return null;
  return (
    <ol className="sources" aria-label="Sources">
      {numbered.map(({ n, url, title }) => (
        <li key={n} value={n}>
          <a href={url} target="_blank" rel="noopener noreferrer">
            {title || url}
          </a>
        </li>
      ))}
    </ol>
  );
}

function Reasoning({ text }: ReasoningMessagePartProps) {
  return (
    <details className="fold">
      <summary>Reasoning</summary>
      <p>{text}</p>
    </details>
  );
}

function Thinking({ status }: { status: { type: string } }) {
  return status.type === "running" ? <p className="note">Thinking…</p> : null;
}

/** An image of the answer itself: the page loads nothing from other servers. */
function Image({ image }: ImageMessagePartProps) {
  if (image.startsWith("data:image/")) return <img src={image} alt="From the answer" />;
  return (
    <a href={image} target="_blank" rel="noopener noreferrer">
      Open image
    </a>
  );
}
