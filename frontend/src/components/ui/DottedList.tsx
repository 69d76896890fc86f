// Facts in a row with a dot between two of them; where the row wraps, no dot stands at the end or the start of a line.
import type { ReactNode } from "react";

/** Every fact has its dot before it; those of the first in each line are beyond the edge, where they are cut off. */
export const Dotted = ({ className = "", children }: { className?: string; children: ReactNode }) => (
  <span className={`block min-w-0 overflow-hidden ${className}`}>
    <span className="-ms-3 flex flex-wrap">{children}</span>
  </span>
);

export const DOT =
  "relative min-w-0 max-w-full ps-3 before:absolute before:start-1 before:text-edge-strong before:content-['·'/'']";
