// The field of a message: Enter or Ctrl+Enter sends or queues, Shift+Enter makes a new line, Escape stops.
import type { ClipboardEvent, KeyboardEvent, RefObject } from "react";
import { drafts } from "../../state/drafts.ts";
import { pastedFiles } from "../../state/pictures.ts";
import { GrowingText } from "./AutoGrowTextarea.tsx";

interface KeyActions {
  send: () => void;
  /** Undefined: nothing is running. */
  stop: (() => void) | undefined;
  /** Undefined: the box is not empty, or there is no question to edit. */
  editLast: (() => void) | undefined;
}

interface Props extends KeyActions {
  box: RefObject<HTMLTextAreaElement | null>;
  draftKey: string;
  text: string;
  running: boolean;
  /** Files that are pasted. */
  onFiles: (files: readonly File[]) => void;
}

export function MessageField({ box, draftKey, text, running, onFiles, ...actions }: Props) {
  const onKeyDown = (event: KeyboardEvent) => {
    const act = actionOf(event, actions);
    if (!act) return;
    event.preventDefault();
    act();
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = pastedFiles(event.clipboardData);
    if (files.length === 0) return;
    event.preventDefault();
    onFiles(files);
  };
  return (
    <div className="px-2 pt-1">
      <GrowingText
        ref={box}
        value={text}
        aria-label="Message"
        placeholder={running ? "Write your next message" : "Message"}
        enterKeyHint="send"
        // The page has one purpose, and it begins here; a keyboard that covers half of the screen is not asked for.
        autoFocus={!isTouch()}
        onChange={({ target }) => drafts.change(draftKey, () => ({ text: target.value }))}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
    </div>
  );
}

/** What this key does in the box; undefined: what the browser does with it. */
function actionOf(event: KeyboardEvent, { send, stop, editLast }: KeyActions): (() => void) | undefined {
  if (isComposing(event)) return undefined;
  const { key, altKey, shiftKey } = event;
  const mod = event.ctrlKey || event.metaKey;
  // Other chats, and fields in which Enter makes a new line, use Ctrl+Enter. Alt with Ctrl is AltGr, which writes letters.
  if (key === "Enter" && mod && !altKey) return send;
  if (shiftKey || mod || altKey) return undefined;
  if (key === "Enter") return send;
  if (key === "Escape") return stop;
  return key === "ArrowUp" ? editLast : undefined;
}

/** While an input method composes a character, Enter is its own; Safari says so by the key code alone. */
const isComposing = ({ nativeEvent }: KeyboardEvent) => nativeEvent.isComposing || nativeEvent.keyCode === 229;

const isTouch = () => typeof matchMedia === "function" && matchMedia("(pointer: coarse)").matches;
