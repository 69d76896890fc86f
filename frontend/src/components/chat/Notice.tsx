// A toast at the top of the chat. It disappears after a while or when dismissed.
import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../ui/Button.tsx";

const SHOWN_MS = 5000;

interface Props {
  words: string;
  /** The panels beside the chat. The toast is centred over the chat only. */
  hasSidebar: boolean;
  hasDetails: boolean;
  onGone: () => void;
}

export function Notice({ words, hasSidebar, hasDetails, onGone }: Props) {
  return (
    <div
      role="status"
      data-sidebar={hasSidebar || undefined}
      data-details={hasDetails || undefined}
      className="pointer-events-none fixed start-0 end-0 top-14 short:top-1.5 z-50 flex justify-center px-4 data-sidebar:start-sidebar data-details:end-details"
    >
      {words && <Toast key={words} words={words} onGone={onGone} />}
    </div>
  );
}

function Toast({ words, onGone }: { words: string; onGone: () => void }) {
  // The toast stays while it is hovered or focused.
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(onGone, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [held, onGone]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it reacts to being looked at, and does nothing.
    <div
      data-part="toast"
      className="pointer-events-auto flex max-w-measure items-start gap-1 rounded-md border border-edge-strong bg-raised py-1 ps-3.5 pe-1 text-small shadow-over"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <p dir="auto" className="py-1 wrap-anywhere narrow:py-1.5">
        {words}
      </p>
      <Button size="icon-small" aria-label="Dismiss" onClick={onGone}>
        <X aria-hidden="true" />
      </Button>
    </div>
  );
}
