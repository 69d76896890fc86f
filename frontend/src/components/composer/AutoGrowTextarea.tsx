// A text field that grows with its text, up to 40% of the window's height.
import type { ComponentPropsWithRef } from "react";

// An invisible copy of the text behind the field sets the height of the grid cell, so nothing is measured.
const CELL = "min-h-6 max-h-[40dvh] narrow:py-1 [grid-area:1/1]";
const BEHIND = `after:invisible after:overflow-hidden after:whitespace-pre-wrap after:wrap-anywhere after:content-[attr(data-behind)] after:min-h-6 after:max-h-[40dvh] narrow:after:py-1 after:[grid-area:1/1]`;

export function AutoGrowTextarea({ value, ...rest }: ComponentPropsWithRef<"textarea"> & { value: string }) {
  return (
    <div className={`grid min-w-0 grid-cols-1 text-body ${BEHIND}`} data-behind={`${value} `}>
      <textarea
        rows={1}
        dir="auto"
        value={value}
        className={`block w-full resize-none overflow-y-auto bg-transparent wrap-anywhere outline-none placeholder:text-dim placeholder:opacity-100 ${CELL}`}
        {...rest}
      />
    </div>
  );
}
