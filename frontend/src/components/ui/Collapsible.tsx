// A body that collapses with an animation. Collapsed content is inert.
import type { ReactNode } from "react";

/** Clips the body while it collapses, with room for focus rings and hover backgrounds on both sides. */
export const CLIPPED = "-mx-1.5 overflow-hidden px-1.5";

interface Props {
  id?: string;
  open: boolean;
  className?: string;
  children: ReactNode;
}

export const Collapsible = ({ id, open, className = "", children }: Props) => (
  <div
    id={id}
    className="invisible grid grid-rows-[0fr] transition-[grid-template-rows,visibility] data-open:visible data-open:grid-rows-[1fr]"
    data-open={open || undefined}
    inert={!open}
  >
    <div className={`min-h-0 min-w-0 ${className}`}>{children}</div>
  </div>
);
