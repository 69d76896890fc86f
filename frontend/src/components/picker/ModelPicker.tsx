// The model picker: a button with the model's name that opens a searchable list.
import { Popover } from "@base-ui/react/popover";
import { ChevronDown } from "lucide-react";
import { type ReactElement, Suspense, useState } from "react";
import { isListed, shortName } from "../../logic/models/modelNames.ts";
import type { Model } from "../../types/api.ts";
import { Button } from "../ui/Button.tsx";
import { later } from "../ui/later.tsx";
import { UnlistedBadge } from "./UnlistedBadge.tsx";

/** The popup with the list. */
export const ModelPopup = later(() => import("./ModelPopup.tsx").then(({ ModelPopup }) => ModelPopup));

export interface ModelPickerProps {
  models: readonly Model[];
  /** The model's id, which may be unlisted. Empty if none is selected. */
  value: string;
  onChange: (id: string) => void;
  /** Models that are selected besides `value`. The list marks them too. */
  others?: readonly string[];
  recent: readonly string[];
  starred: readonly string[];
  onStar: (id: string) => void;
  /** The simulator answers in place of every model. */
  simulated: boolean;
  /** The accessible name of the picker. */
  label?: string;
  /** Replaces the button with the model's name. */
  trigger?: ReactElement;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
}

export function ModelPicker(props: ModelPickerProps) {
  const { models, value, onChange, others = [], label = "Model", trigger } = props;
  const [opened, setOpened] = useState(false);
  const open = props.open ?? opened;
  const opening = useOpenings(open);
  const show = (next: boolean) => {
    setOpened(next);
    props.onOpenChange?.(next);
  };
  const model = models.find(({ id }) => id === value);
  const name = model ? shortName(model) : value || "Choose a model";
  const isGone = value !== "" && !isListed(models, value);
  return (
    <Popover.Root open={open} onOpenChange={show}>
      <Popover.Trigger
        render={
          trigger ?? (
            <Button
              size="medium"
              data-part="model"
              title={value}
              aria-label={`${label}: ${name}${isGone ? " Not listed" : ""}`}
              className="min-w-0 max-w-full shrink!"
            >
              <span className="truncate font-medium text-ink">{name}</span>
              {isGone && " "}
              {isGone && <UnlistedBadge />}
              <ChevronDown aria-hidden="true" />
            </Button>
          )
        }
      />
      <Popover.Portal>
        <Suspense>
          <ModelPopup
            opening={opening}
            models={models}
            recent={props.recent}
            starred={props.starred}
            onStar={props.onStar}
            simulated={props.simulated}
            chosen={value ? [value, ...others] : others}
            current={value || (others.at(-1) ?? "")}
            label={label}
            onChoose={(id) => {
              if (id && id !== value) onChange(id);
              show(false);
            }}
          />
        </Suspense>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** How often the list was opened. */
function useOpenings(open: boolean): number {
  const [seen, setSeen] = useState({ open, times: 0 });
  if (seen.open !== open) setSeen({ open, times: seen.times + (open ? 1 : 0) });
  return seen.times;
}
