// Tips and cards only hang over the page: the Esc that closes one still does what it would do without it.
import { useCallback, useRef } from "react";

/** Of Base UI's change events, what matters here. */
interface Change {
  reason: string;
  cancel: () => void;
  allowPropagation: () => void;
}

export interface HangingActions {
  close: () => void;
  unmount: () => void;
}

/** Base UI takes the key for itself when it closes something by it; here it is closed in another way. */
export function passEscape(change: Change, close: () => void): void {
  if (change.reason !== "escape-key") return;
  change.cancel();
  change.allowPropagation();
  close();
}

/** For the root of a tooltip or a preview card. */
export function usePassEscape() {
  const actionsRef = useRef<HangingActions>(null);
  const onOpenChange = useCallback(
    (_: boolean, change: Change) => passEscape(change, () => actionsRef.current?.close()),
    [],
  );
  return { actionsRef, onOpenChange };
}
