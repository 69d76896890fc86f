import { useChat } from "@ai-sdk/react";
import { lastAssistantMessageIsCompleteWithToolCalls } from "ai";
import { type FormEvent, useEffect, useState } from "react";
import { type ChatMessage, stopAnswer, storedMessages, storeMessages, transport } from "./chat";
import { Message } from "./Message";

/** One chat: its messages, and a form for the next one. */
export function App({ id }: { id: string }) {
  const [draft, setDraft] = useState("");
  const [edited, setEdited] = useState<string>();
  const chat = useChat<ChatMessage>({
    id,
    transport,
    messages: storedMessages(id),
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    onToolCall({ toolCall }) {
      const { theme } = toolCall.input as { theme?: string };
      document.documentElement.dataset.theme = theme ?? "light";
      void chat.addToolOutput({ tool: toolCall.toolName, toolCallId: toolCall.toolCallId, output: "done" } as never);
    },
  });
  const { messages, status, error } = chat;
  const isBusy = status === "submitted" || status === "streaming";

  useEffect(() => storeMessages(id, messages), [id, messages]);

  function send(event: FormEvent) {
    event.preventDefault();
    if (!draft.trim() || isBusy) return;
    void chat.sendMessage({ text: draft, messageId: edited });
    setDraft("");
    setEdited(undefined);
  }

  function edit(message: ChatMessage) {
    setEdited(message.id);
    setDraft(message.parts.map((part) => (part.type === "text" ? part.text : "")).join(""));
  }

  return (
    <main>
      <header>
        <h1>AI SDK on Signalbox</h1>
        <a href={location.pathname + location.search}>New chat</a>
      </header>
      {messages.map((message) => (
        <Message key={message.id} message={message} onEdit={isBusy ? undefined : edit} />
      ))}
      {status === "submitted" && <p role="status">Thinking…</p>}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input aria-label="Message" value={draft} onChange={(event) => setDraft(event.target.value)} />
        {isBusy ? (
          <button type="button" onClick={() => void stopAnswer(id)}>Stop</button>
        ) : (
          <button type="submit">{edited ? "Save" : "Send"}</button>
        )}
        {!isBusy && messages.length > 0 && (
          <button type="button" onClick={() => void chat.regenerate()}>Regenerate</button>
        )}
      </form>
    </main>
  );
}
