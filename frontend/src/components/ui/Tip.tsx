// A word about a button that shows only a sign; on hover and on focus.
import { Tooltip } from "@base-ui/react/tooltip";
import type { ReactElement, ReactNode } from "react";
import { usePassEscape } from "./escape.ts";

/** `children` is the one element that it is about. It does not replace an `aria-label`. */
export function Tip({ label, children }: { label: ReactNode; children: ReactElement }) {
  return (
    <Tooltip.Root {...usePassEscape()}>
      <Tooltip.Trigger render={children} />
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} collisionPadding={8} className="z-50">
          <Tooltip.Popup data-part="tip" className="max-w-72 rounded-sm bg-ink px-2 py-1 text-ground text-tiny">
            {label}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
