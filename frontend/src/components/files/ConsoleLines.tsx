// What the page in the preview has logged: closed until the reader opens it.
import { ChevronDown } from "lucide-react";
import { useId, useState } from "react";
import { plural } from "../../logic/wording/statusAndAmounts.ts";
import { Button } from "../ui/Button.tsx";
import type { LogLine } from "./stage.ts";

const SIGNS = { error: "✕", warning: "!", info: "·" } as const;

export function ConsoleLines({ lines }: { lines: readonly LogLine[] }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  if (lines.length === 0) return null;
  const errors = lines.filter(({ level }) => level === "error").length;
  return (
    <section aria-label="Console" className="shrink-0 border-edge border-t">
      <Button
        className="w-full rounded-none! px-4"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        Console
        <span className={errors > 0 ? "text-red-ink" : ""}>
          {errors > 0 ? plural(errors, "error") : plural(lines.length, "line")}
        </span>
        <ChevronDown aria-hidden="true" className={isOpen ? "" : "-rotate-90"} />
      </Button>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard.
        <ul id={id} tabIndex={0} aria-label="Lines" className="max-h-40 overflow-y-auto px-4 pb-2 font-mono text-tiny">
          {lines.map(({ id: line, level, text }) => (
            <li key={line} className={`wrap-anywhere ${level === "error" ? "text-red-ink" : ""}`}>
              <span aria-hidden="true">{SIGNS[level] ?? SIGNS.info} </span>
              <span className="sr-only">{level}: </span>
              {text}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
