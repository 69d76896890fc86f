// A status lamp. Each state has its own colour and shape.
import type { ReactElement } from "react";
import type { Lamp as LampName } from "../../logic/answer/stops.ts";

const RING = "fill-none stroke-[1.5] stroke-current";
const DOTTED = `${RING} [stroke-dasharray:2_1.55]`;

const COLOURS: Record<LampName, string> = {
  running: "text-lamp-running motion-safe:animate-[spin_2s_linear_infinite]",
  done: "text-lamp-done",
  failed: "text-lamp-failed",
  cut: "text-lamp-running",
  waiting: "text-lamp-waiting",
  blue: "text-lamp-blue",
};

const SHAPES: Record<LampName, ReactElement> = {
  running: (
    <>
      <circle cx="6" cy="6" r="4.75" className={RING} />
      <path d="M6 1.25a4.75 4.75 0 0 0 0 9.5z" className="fill-current stroke-none" />
    </>
  ),
  done: <circle cx="6" cy="6" r="5" className="fill-current stroke-none" />,
  failed: <path d="m2 2 8 8m0-8-8 8" className="fill-none stroke-2 stroke-current [stroke-linecap:round]" />,
  cut: (
    <>
      <circle cx="6" cy="6" r="4.75" className={RING} />
      <path d="M3.5 6h5" className="fill-none stroke-2 stroke-current" />
    </>
  ),
  waiting: <circle cx="6" cy="6" r="4.5" className={RING} />,
  blue: <circle cx="6" cy="6" r="4.5" className={DOTTED} />,
};

const WORDS: Record<LampName, string> = {
  running: "running",
  done: "done",
  failed: "failed",
  cut: "cut short",
  waiting: "not finished",
  blue: "simulated or cached",
};

/** `spoken` adds the state for screen readers, if the text beside the lamp does not say it. */
export function Lamp({ lamp, spoken = false }: { lamp: LampName; spoken?: boolean }) {
  return (
    <>
      <svg
        className={`inline-block size-3 shrink-0 ${COLOURS[lamp]}`}
        data-lamp={lamp}
        viewBox="0 0 12 12"
        aria-hidden="true"
      >
        {SHAPES[lamp]}
      </svg>
      {spoken && <span className="sr-only">{WORDS[lamp]}: </span>}
    </>
  );
}
