import { AuiIf, ComposerPrimitive, ThreadPrimitive, useAui, useAuiState } from "@assistant-ui/react";
import { useEffect } from "react";
import { AssistantMessage } from "./AssistantMessage";
import { EditComposer, UserMessage } from "./UserMessage";
import type { Failure } from "./useSignalbox";

const SUGGESTIONS = [
  "Find a red mug under 30 dollars",
  "Show me the 5 cheapest headphones",
  "Find a used bicycle to buy",
  "What is 3 * 24.90?",
];

/** The messages, and the composer below them. */
export function Thread({ failure }: { failure: Failure | undefined }) {
  return (
    <ThreadPrimitive.Root className="thread" role="main">
      <ThreadPrimitive.Viewport className="viewport" tabIndex={0} aria-label="Messages" role="region">
        <AuiIf condition={({ thread }) => thread.isEmpty}>
          <Welcome />
        </AuiIf>
        <ThreadPrimitive.Messages components={{ UserMessage, EditComposer, AssistantMessage }} />
        <ThreadPrimitive.ScrollToBottom className="to-bottom" aria-label="Scroll to bottom">
          ↓
        </ThreadPrimitive.ScrollToBottom>
      </ThreadPrimitive.Viewport>
      {failure && (
        <p role="alert" className="failure">
          {failure.sentence}
        </p>
      )}
      <Composer draft={failure?.draft} />
      <Status />
    </ThreadPrimitive.Root>
  );
}

function Welcome() {
  return (
    <section className="welcome">
      <h2>What are you looking for?</h2>
      <p>I search the shop and compare prices.</p>
      <ul>
        {SUGGESTIONS.map((prompt) => (
          <li key={prompt}>
            <ThreadPrimitive.Suggestion prompt={prompt} send>
              {prompt}
            </ThreadPrimitive.Suggestion>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** `draft` is the text of a message that was rejected: it is not lost. */
function Composer({ draft }: { draft: string | undefined }) {
  const aui = useAui();
  const isRunning = useAuiState(({ thread }) => thread.isRunning);
  useEffect(() => {
    if (draft && !isRunning) aui.composer.setText(draft);
  }, [aui, draft, isRunning]);
  return (
    <ComposerPrimitive.Root className="composer">
      <ComposerPrimitive.Input aria-label="Message" placeholder="Ask for a product" rows={1} autoFocus />
      <AuiIf condition={({ thread }) => !thread.isRunning}>
        <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
      </AuiIf>
      <AuiIf condition={({ thread }) => thread.isRunning}>
        <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
      </AuiIf>
    </ComposerPrimitive.Root>
  );
}

/** Tells screen readers that an answer begins and ends. */
function Status() {
  const isRunning = useAuiState(({ thread }) => thread.isRunning);
  const isEmpty = useAuiState(({ thread }) => thread.isEmpty);
  return (
    <p role="status" className="hidden">
      {isRunning ? "Answering…" : isEmpty ? "" : "The answer has ended."}
    </p>
  );
}
