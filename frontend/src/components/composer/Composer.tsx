// Where a message is written: Enter sends, Shift+Enter makes a new line, Escape stops.
import { type KeyboardEvent, type RefObject, useState } from "react";

interface Props {
  box: RefObject<HTMLTextAreaElement | null>;
  running: boolean;
  stopping: boolean;
  onSend: (text: string) => void;
  onStop: () => void;
}

export function Composer({ box, running, stopping, onSend, onStop }: Props) {
  const [text, setText] = useState("");

  const send = () => {
    if (running || !text.trim()) return;
    onSend(text);
    setText("");
  };

  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes a character, Enter is its own.
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    }
    if (event.key === "Escape" && running) onStop();
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={box}
        rows={1}
        value={text}
        aria-label="Message"
        placeholder="Message"
        enterKeyHint="send"
        // The page has one purpose, and it begins here.
        // biome-ignore lint/a11y/noAutofocus: see above.
        autoFocus
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {running ? (
        <button type="button" className="stop-button" disabled={stopping} onClick={onStop}>
          <svg viewBox="0 0 12 12" aria-hidden="true">
            <rect x="2" y="2" width="8" height="8" rx="1.5" />
          </svg>
          Stop
        </button>
      ) : (
        <button type="submit" className="send-button" aria-label="Send" disabled={!text.trim()}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M8 13V3.5M3.75 7.5 8 3.25l4.25 4.25" />
          </svg>
        </button>
      )}
    </form>
  );
}
