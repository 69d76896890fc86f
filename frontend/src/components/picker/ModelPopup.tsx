// The popup below the picker's button.
import { Popover } from "@base-ui/react/popover";
import { useRef } from "react";
import type { Model } from "../../types/api.ts";
import { ModelList } from "./ModelList.tsx";

interface Props {
  /** How often the list was opened. A new key resets its search, even while the previous popup fades out. */
  opening: number;
  models: readonly Model[];
  chosen: readonly string[];
  current: string;
  recent: readonly string[];
  starred: readonly string[];
  onStar: (id: string) => void;
  simulated: boolean;
  label: string;
  onChoose: (id: string | undefined) => void;
}

export function ModelPopup({ opening, ...list }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Popover.Positioner align="start" sideOffset={4} collisionPadding={8} className="z-40">
      <Popover.Popup
        ref={popup}
        aria-label="Choose a model"
        // On touch, the popup gets the focus instead of the field, whose keyboard would cover half of the list.
        initialFocus={(by) => (by === "touch" ? popup.current : field.current)}
        className="flex max-h-[min(34rem,var(--available-height))] w-[min(36rem,92vw)] flex-col overflow-hidden rounded-md border border-edge bg-raised text-body shadow-over outline-none transition-opacity narrow:w-[calc(100vw-1rem)] data-ending-style:opacity-0 data-starting-style:opacity-0"
      >
        <ModelList key={opening} {...list} field={field} />
      </Popover.Popup>
    </Popover.Positioner>
  );
}
