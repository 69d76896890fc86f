// Items in a row, separated by dots. Wrapped lines neither begin nor end with a dot.
import type { ReactNode } from "react";

/** Each item has a dot before it. The dot of the first item in a line is outside the box and clipped. */
export const DottedList = ({ className = "", children }: { className?: string; children: ReactNode }) => (
  <span className={`block min-w-0 overflow-hidden ${className}`}>
    <span className="-ms-3 flex flex-wrap">{children}</span>
  </span>
);

export const DOT =
  "relative min-w-0 max-w-full ps-3 before:absolute before:start-1 before:text-edge-strong before:content-['·'/'']";
