// The head of a stop on the line: a lamp, a sentence, and the arrow that opens what is below.
import { type ReactNode, useId, useState } from "react";
import type { Lamp as LampName } from "../run/view.ts";
import { Lamp } from "./Lamp.tsx";

interface Props {
  lamp: LampName;
  title: ReactNode;
  /** Open as long as the reader has not chosen; the reader's choice then holds (quirk H3). */
  auto: boolean;
  /** Where there is nothing to open, the head is only a sentence. */
  children?: ReactNode;
  className?: string;
}

export function StopHead({ lamp, title, auto, children, className = "" }: Props) {
  const [choice, setChoice] = useState<boolean>();
  const body = useId();
  const open = choice ?? auto;
  if (!children) {
    return (
      <li className={`stop ${className}`}>
        <Lamp lamp={lamp} />
        <p className="stop-title">{title}</p>
      </li>
    );
  }
  return (
    <li className={`stop ${className}`}>
      <Lamp lamp={lamp} />
      <button
        type="button"
        className="stop-title stop-toggle"
        aria-expanded={open}
        aria-controls={body}
        onClick={() => setChoice(!open)}
      >
        <span>{title}</span>
        <svg className="chevron" viewBox="0 0 12 12" aria-hidden="true">
          <path d="m4.5 2.5 3.5 3.5-3.5 3.5" />
        </svg>
      </button>
      <div id={body} className="fold" data-open={open} inert={!open}>
        <div className="fold-inner">{children}</div>
      </div>
    </li>
  );
}
