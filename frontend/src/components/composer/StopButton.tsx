// Stops the answer. If the button disappears while focused, the message box gets the focus.
import { Square } from "lucide-react";
import { type RefObject, useLayoutEffect, useRef } from "react";
import { Button } from "../ui/Button.tsx";

interface Props {
  stopping: boolean;
  onStop: () => void;
  box: RefObject<HTMLElement | null>;
  /** Hide the label: a narrow window has no space for it beside the other button. */
  small: boolean;
}

export function StopButton({ stopping, onStop, box, small }: Props) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const mine = button.current;
    return () => {
      if (mine !== null && document.activeElement === mine) box.current?.focus();
    };
  }, [box]);
  return (
    <Button
      ref={button}
      look="outline"
      size="medium"
      // Not `disabled`, which would lose the focus.
      aria-disabled={stopping}
      className="aria-disabled:cursor-default aria-disabled:opacity-45"
      onClick={() => !stopping && onStop()}
    >
      <Square aria-hidden="true" className="fill-current" />
      <span className={small ? "narrow:sr-only" : ""}>{stopping ? "Stopping" : "Stop"}</span>
    </Button>
  );
}
