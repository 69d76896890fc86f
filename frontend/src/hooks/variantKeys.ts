// Alt+1 to Alt+4 show a variant of the last question.
import { useEffect, useRef } from "react";
import type { Chat } from "../state/chat/chat.ts";
import { isCovered } from "./shortcuts.ts";

/** `question` is the key of the variants' question. Other questions have no keys. */
export function useVariantKeys(chat: Chat, question: string | null, show: (index: number) => void): void {
  const current = useRef(show);
  useEffect(() => {
    current.current = show;
  });
  useEffect(() => {
    const act = (event: KeyboardEvent) => {
      const index = indexOf(event);
      const last = chat.state.entries.findLast(({ kind }) => kind === "answer");
      if (index === undefined || event.defaultPrevented || last?.part.parent !== question || isCovered()) return;
      event.preventDefault();
      current.current(index);
    };
    window.addEventListener("keydown", act);
    return () => window.removeEventListener("keydown", act);
  }, [chat, question]);
}

/** The physical key counts: with Alt, a Mac types other characters, and AltGr (Ctrl+Alt) types letters. */
function indexOf({ code, altKey, ctrlKey, metaKey, shiftKey, repeat }: KeyboardEvent): number | undefined {
  const digit = /^Digit([1-4])$/.exec(code)?.[1];
  return digit && altKey && !ctrlKey && !metaKey && !shiftKey && !repeat ? Number(digit) - 1 : undefined;
}
