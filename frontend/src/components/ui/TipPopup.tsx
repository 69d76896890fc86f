// The popup of a tooltip, in a separate chunk: its positioning code is large and not needed for the first paint.
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
