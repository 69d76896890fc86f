import { useAssistantTransportSendCommand, useAuiState } from "@assistant-ui/react";
import { useEffect, useRef } from "react";
import type { Facts } from "./signalbox";

/** The message whose version was chosen: it is another element, which takes over the focus. */
let chosen: { id: string; button: "Previous" | "Next" } | undefined;

/** Switches between the versions of a message. The server has them, because assistant-ui's transport cannot switch. */
export function BranchPicker() {
  const send = useAssistantTransportSendCommand();
  const id = useAuiState(({ message }) => message.id);
  const { versions = [] } = useAuiState(({ message }) => message.metadata.custom as Facts);
  const isRunning = useAuiState(({ thread }) => thread.isRunning);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    if (chosen?.id !== id) return;
    nav.current?.querySelector<HTMLElement>(`[aria-label^=${chosen.button}]`)?.focus();
    chosen = undefined;
  }, [id]);
  const place = versions.indexOf(id);
  if (place < 0) return null;

  function step(by: -1 | 1) {
    const messageId = versions[place + by];
    if (!messageId || isRunning) return;
    chosen = { id: messageId, button: by < 0 ? "Previous" : "Next" };
    send({ type: "switch-branch", messageId });
  }

  return (
    <nav ref={nav} className="branches" aria-label="Versions">
      <button type="button" aria-label="Previous version" aria-disabled={place === 0 || isRunning} onClick={() => step(-1)}>
        ‹
      </button>
      <span>
        {place + 1} / {versions.length}
      </span>
      <button
        type="button"
        aria-label="Next version"
        aria-disabled={place === versions.length - 1 || isRunning}
        onClick={() => step(1)}
      >
        ›
      </button>
    </nav>
  );
}
