// Where a tip appears; a file of its own, since what places it is heavy and nobody sees it on the first paint.
import { Tooltip } from "@base-ui/react/tooltip";
import type { ReactNode } from "react";

export function TipPopup({ children }: { children: ReactNode }) {
  return (
    <Tooltip.Positioner sideOffset={6} collisionPadding={8} className="z-50">
      <Tooltip.Popup data-part="tip" className="max-w-72 rounded-sm bg-ink px-2 py-1 text-ground text-tiny">
        {children}
      </Tooltip.Popup>
    </Tooltip.Positioner>
  );
}
