// Text that a server crash has lost. Only this page still has it.
import { useId } from "react";
import { Copy } from "../../ui/Copy.tsx";

export function UnsavedText({ text }: { text: string }) {
  const title = useId();
  return (
    <figure
      aria-labelledby={title}
      data-part="unsaved"
      className="mt-1.5 grid gap-1 rounded-sm border border-edge bg-ground px-3 py-2"
    >
      <figcaption id={title} className="flex items-center justify-between gap-3 text-dim">
        Not saved. This text will be lost when you reload.
        <Copy text={() => text} aria-label="Copy unsaved text" />
      </figcaption>
      {/* A Markdown fragment may begin in the middle of a word, so it is shown as plain text. */}
      <p dir="auto" className="max-h-40 overflow-y-auto whitespace-pre-wrap wrap-anywhere">
        {text}
      </p>
    </figure>
  );
}
