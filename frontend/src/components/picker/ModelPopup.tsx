// The box with the list of models, under the picker's button.
import { Popover } from "@base-ui/react/popover";
import { useRef } from "react";
import type { Model } from "../../types/api.ts";
import { ModelList } from "./ModelList.tsx";

interface Props {
  /** Counts how often the list was opened: each time it begins without a search, also while the last one still fades. */
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
        // A finger gets the list first: the keyboard of a phone would cover half of it.
        initialFocus={(by) => (by === "touch" ? popup.current : field.current)}
        className="flex max-h-[min(34rem,var(--available-height))] w-[min(36rem,92vw)] flex-col overflow-hidden rounded-md border border-edge bg-raised text-body shadow-over outline-none transition-opacity narrow:w-[calc(100vw-1rem)] data-ending-style:opacity-0 data-starting-style:opacity-0"
      >
        <ModelList key={opening} {...list} field={field} />
      </Popover.Popup>
    </Popover.Positioner>
  );
}
