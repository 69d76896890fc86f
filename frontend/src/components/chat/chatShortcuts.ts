// Connects the page's shortcuts to the chat.
import type { RefObject } from "react";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { BASE_URL } from "../../logic/baseUrl.ts";
import type { Answer } from "../../state/answer/answer.ts";
import type { Chat } from "../../state/chat/chat.ts";
import { copyText } from "../ui/Copy.tsx";
import type { ChatHandle } from "./ChatScreen.tsx";

interface Props {
  chat: Chat;
  /** The chat is shown, not a single run. */
  isShown: boolean;
  handle: RefObject<ChatHandle | null>;
  sidebar: { isOpen: boolean; toggle: () => void };
  onNew: () => void;
  /** Open or close the inspector. */
  onInspect: (answer: Answer | undefined, title: string) => void;
  onNotice: (words: string) => void;
  onShortcuts: () => void;
}

export function useChatShortcuts(props: Props): void {
  const { chat, isShown, handle, sidebar, onNew, onInspect, onNotice, onShortcuts } = props;
  const lastAnswer = (): Answer | undefined => {
    const last = chat.state.entries.at(-1);
    return isShown && last?.kind === "answer" ? last.part.answer : undefined;
  };
  useShortcuts({
    search: () => {
      if (!sidebar.isOpen) sidebar.toggle();
      requestAnimationFrame(() => document.getElementById("search-conversations")?.focus());
    },
    new: onNew,
    models: () => handle.current?.pickModel(),
    sidebar: sidebar.toggle,
    inspect: () => {
      const question = chat.state.entries.findLast((entry) => entry.kind === "question");
      onInspect(lastAnswer(), question?.part.text ?? "");
    },
    copy: () => {
      const answer = lastAnswer();
      if (answer)
        void copyAnswer(answer).then(
          (result) => onNotice(`${result}.`),
          () => onNotice("Could not copy."),
        );
    },
    focus: () => handle.current?.focus(),
    stop: chat.state.running ? () => void chat.stop() : undefined,
    shortcuts: onShortcuts,
  });
}

/** Copy an answer. A shown answer has loaded the module already, so the first script does not contain it. */
async function copyAnswer(answer: Answer): Promise<string> {
  const { copiedText } = await import("../../logic/answer/copiedText.ts");
  return copyText(copiedText(answer.whole, "answer", `${location.origin}${BASE_URL}`));
}
