// A tooltip for an icon button, shown on hover and focus.
import { Tooltip } from "@base-ui/react/tooltip";
import { type ReactElement, type ReactNode, Suspense } from "react";
import { usePassEscape } from "./escapeKey.ts";
import { later } from "./later.tsx";

export const TipPopup = later(() => import("./TipPopup.tsx").then(({ TipPopup }) => TipPopup));

/** `children` is the element that the tooltip describes. It still needs an `aria-label`. */
export function Tip({ label, children }: { label: ReactNode; children: ReactElement }) {
  return (
    <Tooltip.Root {...usePassEscape()}>
      <Tooltip.Trigger render={children} />
      <Tooltip.Portal>
        <Suspense>
          <TipPopup>{label}</TipPopup>
        </Suspense>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
