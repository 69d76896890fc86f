// assistant-ui's transport runtime on Signalbox.
import { type AssistantTransportCommand, unstable_createMessageConverter, useAssistantTransportRuntime } from "@assistant-ui/react";
import { convertLangChainMessages, type LangChainMessage } from "@assistant-ui/react-langgraph";
import { useEffect, useRef } from "react";
import { loadState, REQUEST, type State, sentenceOf, stopRun, THREAD } from "./signalbox";

/** Commands of Signalbox that assistant-ui does not have. */
declare module "@assistant-ui/react" {
  namespace Assistant {
    interface Commands {
      reload: { type: "reload"; parentId: string };
      switchBranch: { type: "switch-branch"; messageId: string };
    }
  }
}

const converter = unstable_createMessageConverter(convertLangChainMessages);

/** What is wrong with a request, and the text of a message that the server has not accepted. */
export interface Failure {
  sentence: string;
  draft?: string;
}

/** Return the runtime of the thread. `onFailure` gets undefined when a request is sent. */
export function useSignalbox(initial: State, onFailure: (failure: Failure | undefined) => void) {
  const running = useRef(initial.run?.status === "running" ? initial.run.id : undefined);
  const requests = useRef(0);
  const runtime = useAssistantTransportRuntime<State>({
    api: "/assistant",
    resumeApi: `/assistant/resume?${THREAD}`,
    resumeStateApi: `/assistant/resume-state?${THREAD}`,
    initialState: initial,
    headers: {},
    body: REQUEST,
    capabilities: { edit: true },
    // Signalbox has the history, so the state need not be sent.
    prepareSendCommandsRequest: ({ state: _, ...body }) => {
      requests.current++;
      running.current = undefined;
      onFailure(undefined);
      return body;
    },
    onResponse: (response) => {
      running.current = response.headers.get("x-run-id") ?? undefined;
    },
    onCancel: ({ error, updateState }) => {
      if (error) return; // onError has handled it
      const request = requests.current;
      void stopRun(running.current)
        .then(loadState)
        .then((state) => request === requests.current && updateState(() => state))
        .catch((failure: Error) => onFailure({ sentence: failure.message }));
    },
    onError: (error, { commands }) => {
      const rejection = /^Status \d+: (.*)/s.exec(error.message);
      // Of a run that has failed, the message itself shows why.
      if (rejection) onFailure({ sentence: sentenceOf(rejection[1] ?? ""), draft: commands.map(textOf).join("\n") });
      else if (error instanceof TypeError) onFailure({ sentence: "The connection was lost. Reload the page to continue." });
    },
    converter: (state, { pendingCommands, isSending }) => ({
      messages: converter.toThreadMessages(withPending(state.messages, pendingCommands), isSending),
      isRunning: isSending,
    }),
  });
  useEffect(() => {
    if (running.current) runtime.thread.resumeRun({ parentId: null });
  }, [runtime]);
  return runtime;
}

/** The messages while commands are on their way: with the new message, without those that it replaces. */
function withPending(stored: LangChainMessage[], commands: readonly AssistantTransportCommand[]): LangChainMessage[] {
  let shown = stored;
  for (const command of commands) {
    if (command.type === "add-message") {
      shown = [...upTo(shown, command.parentId), { type: "human", content: textOf(command) }];
    } else if (command.type === "reload") {
      shown = upTo(shown, command.parentId);
    }
  }
  return shown;
}

/** The messages up to the end of one; an answer consists of several. A message that is not stored yet is the last one. */
function upTo(messages: LangChainMessage[], id: string | null): LangChainMessage[] {
  if (id === null) return [];
  const at = messages.findIndex((message) => message.id === id);
  const next = messages.findIndex((message, place) => place > at && message.type === "human");
  if (at < 0) return messages;
  if (messages[at]?.type === "human") return messages.slice(0, at + 1);
  return next < 0 ? messages : messages.slice(0, next);
}

function textOf(command: AssistantTransportCommand): string {
  if (command.type !== "add-message") return "";
  return command.message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
