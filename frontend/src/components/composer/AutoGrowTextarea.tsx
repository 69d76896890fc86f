// A text field that is as high as its text, up to two fifths of the window.
import type { ComponentPropsWithRef } from "react";

// The text stands a second time behind the field, unseen, and gives the cell its height: no measuring.
const CELL = "min-h-6 max-h-[40dvh] narrow:py-1 [grid-area:1/1]";
const BEHIND = `after:invisible after:overflow-hidden after:whitespace-pre-wrap after:wrap-anywhere after:content-[attr(data-behind)] after:min-h-6 after:max-h-[40dvh] narrow:after:py-1 after:[grid-area:1/1]`;

export function GrowingText({ value, ...rest }: ComponentPropsWithRef<"textarea"> & { value: string }) {
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
