// A value as JSON, or a string as it is. Long values are cut until the user expands them.
import { useState } from "react";
import { plural } from "../../logic/wording/statusAndAmounts.ts";
import { Button } from "../ui/Button.tsx";
import { Copy } from "../ui/Copy.tsx";

const CUT = 600;

interface Props {
  title: string;
  /** A string is shown as it is. */
  value: unknown;
}

export function Json({ title, value }: Props) {
  const [whole, setWhole] = useState(false);
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  const isCut = !whole && text.length > CUT;
  return (
    <section aria-label={title} className="min-w-0">
      <div className="flex items-center justify-between gap-2">
        <span className="font-medium text-dim text-tiny">{title}</span>
        <Copy
          text={() => text}
          aria-label={`Copy ${title.charAt(0).toLowerCase()}${title.slice(1)}`}
          className="h-6 text-tiny"
        />
      </div>
      <pre
        dir={typeof value === "string" ? "auto" : "ltr"}
        className="plain-lines wrap-anywhere rounded-sm bg-sunken px-2 py-1.5 font-mono text-tiny"
      >
        {isCut ? `${text.slice(0, CUT)}…` : text || "(empty)"}
      </pre>
      {text.length > CUT && (
        <Button className="mt-1 h-6 text-tiny" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? "Show less" : `Show all, ${plural(text.length - CUT, "character")} more`}
        </Button>
      )}
    </section>
  );
}
