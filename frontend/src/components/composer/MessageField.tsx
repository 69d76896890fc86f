// The text field of a message. Enter or Ctrl+Enter sends or queues, Shift+Enter inserts a line break, Escape stops.
import type { ClipboardEvent, KeyboardEvent, RefObject } from "react";
import { drafts } from "../../state/drafts.ts";
import { pastedFiles } from "../../state/pictureTypes.ts";
import { AutoGrowTextarea } from "./AutoGrowTextarea.tsx";

interface KeyActions {
  send: () => void;
  /** Undefined if nothing is running. */
  stop: (() => void) | undefined;
  /** Undefined if the box is not empty, or there is no message to edit. */
  editLast: (() => void) | undefined;
}

interface Props extends KeyActions {
  box: RefObject<HTMLTextAreaElement | null>;
  draftKey: string;
  text: string;
  running: boolean;
  /** Pasted files. */
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
      <AutoGrowTextarea
        ref={box}
        value={text}
        aria-label="Message"
        placeholder={running ? "Write your next message" : "Message"}
        enterKeyHint="send"
        // On a phone, the focus would open a keyboard that covers half of the screen.
        autoFocus={!isTouch()}
        onChange={({ target }) => drafts.change(draftKey, () => ({ text: target.value }))}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
    </div>
  );
}

/** The action of a key in the box. Undefined if the browser handles it. */
function actionOf(event: KeyboardEvent, { send, stop, editLast }: KeyActions): (() => void) | undefined {
  if (isComposing(event)) return undefined;
  const { key, altKey, shiftKey } = event;
  const mod = event.ctrlKey || event.metaKey;
  // Ctrl+Enter is common in other chats and in fields where Enter breaks the line. Ctrl with Alt is AltGr, which types
  // letters.
  if (key === "Enter" && mod && !altKey) return send;
  if (shiftKey || mod || altKey) return undefined;
  if (key === "Enter") return send;
  if (key === "Escape") return stop;
  return key === "ArrowUp" ? editLast : undefined;
}

/** While an input method composes a character, Enter belongs to it. Safari reports this only by the key code. */
const isComposing = ({ nativeEvent }: KeyboardEvent) => nativeEvent.isComposing || nativeEvent.keyCode === 229;

const isTouch = () => typeof matchMedia === "function" && matchMedia("(pointer: coarse)").matches;
