// The provider's own error message, folded if it is long.
import { useId, useState } from "react";
import type { Quote } from "../../../logic/wording/failureText.ts";
import { Button } from "../../ui/Button.tsx";

/** About two lines of the chat. */
const SHORT = 160;

export function ProviderQuote({ who, words }: Quote) {
  const [open, setOpen] = useState(false);
  const title = useId();
  const isLong = words.length > SHORT;
  return (
    <figure aria-labelledby={title} data-part="quote" className="grid justify-items-start gap-0.5 pt-1 text-dim">
      <figcaption id={title}>{who} said:</figcaption>
      <blockquote
        dir="auto"
        className={`border-edge-strong border-s-2 ps-2.5 whitespace-pre-wrap wrap-anywhere ${isLong && !open ? "line-clamp-2" : ""}`}
      >
        {words}
      </blockquote>
      {isLong && (
        <Button className="-ms-2" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Show less" : "Show more"}
        </Button>
      )}
    </figure>
  );
}
