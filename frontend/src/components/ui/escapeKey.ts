// The Escape key: it passes through tooltips and preview cards, which it closes, and closes panels beside the chat.
import { type KeyboardEvent, useCallback, useRef } from "react";

/** The used part of Base UI's change event. */
interface Change {
  reason: string;
  cancel: () => void;
  allowPropagation: () => void;
}

export interface HangingActions {
  close: () => void;
  unmount: () => void;
}

/** Base UI consumes the key if it closes the popup itself, so the popup is closed by the action instead. */
export function passEscape(change: Change, close: () => void): void {
  if (change.reason !== "escape-key") return;
  change.cancel();
  change.allowPropagation();
  close();
}

/** Props for the root of a tooltip or a preview card. */
export function usePassEscape() {
  const actionsRef = useRef<HangingActions>(null);
  const onOpenChange = useCallback(
    (_: boolean, change: Change) => passEscape(change, () => actionsRef.current?.close()),
    [],
  );
  return { actionsRef, onOpenChange };
}

/** For a panel beside the chat. The key goes no further. */
export const closingOnEscape = (onClose: () => void) => (event: KeyboardEvent) => {
  if (event.key !== "Escape" || event.defaultPrevented) return;
  event.stopPropagation();
  onClose();
};
