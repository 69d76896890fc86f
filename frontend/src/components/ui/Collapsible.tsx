// A body that folds softly; what is folded can be neither seen nor reached.
import type { ReactNode } from "react";

/** Hides what is beyond the body while it folds, with room for the marks of hovering and focus at both sides. */
export const CLIPPED = "-mx-1.5 overflow-hidden px-1.5";

interface Props {
  id?: string;
  open: boolean;
  className?: string;
  children: ReactNode;
}

export const Fold = ({ id, open, className = "", children }: Props) => (
  <div
    id={id}
    className="invisible grid grid-rows-[0fr] transition-[grid-template-rows,visibility] data-open:visible data-open:grid-rows-[1fr]"
    data-open={open || undefined}
    inert={!open}
  >
    <div className={`min-h-0 min-w-0 ${className}`}>{children}</div>
  </div>
);
