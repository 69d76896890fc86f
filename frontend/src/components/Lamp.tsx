// A signal lamp: a colour and a shape, so that colour is never alone.
import type { ReactElement } from "react";
import type { Lamp as LampName } from "../run/view.ts";

const SHAPES: Record<LampName, ReactElement> = {
  running: (
    <>
      <circle cx="6" cy="6" r="4.75" className="lamp-ring" />
      <path d="M6 1.25a4.75 4.75 0 0 0 0 9.5z" className="lamp-fill" />
    </>
  ),
  done: <circle cx="6" cy="6" r="5" className="lamp-fill" />,
  failed: <path d="m2 2 8 8m0-8-8 8" className="lamp-cross" />,
  waiting: <circle cx="6" cy="6" r="4.5" className="lamp-ring" />,
  blue: <circle cx="6" cy="6" r="4.5" className="lamp-ring lamp-dotted" />,
};

const WORDS: Record<LampName, string> = {
  running: "running",
  done: "done",
  failed: "failed",
  waiting: "not finished",
  blue: "simulated or cached",
};

/** `spoken`: say the state to a screen reader; leave it off where the words beside the lamp say it already. */
export function Lamp({ lamp, spoken = false }: { lamp: LampName; spoken?: boolean }) {
  return (
    <>
      <svg className={`lamp lamp-${lamp}`} viewBox="0 0 12 12" aria-hidden="true">
        {SHAPES[lamp]}
      </svg>
      {spoken && <span className="sr-only">{WORDS[lamp]}: </span>}
    </>
  );
}
