// Which model answers: a button that names it, and behind it a list of hundreds to be searched by typing.
import { Popover } from "@base-ui/react/popover";
import { ChevronDown } from "lucide-react";
import { lazy, type ReactElement, type RefObject, Suspense, useEffect, useRef, useState } from "react";
import { useMedia } from "../../hooks/media.ts";
import { shortName } from "../../run/models.ts";
import type { Model } from "../../types/api.ts";
import { Button } from "../ui/Button.tsx";

const loadList = () => import("./ModelList.tsx").then((room) => ({ default: room.ModelList }));
const ModelList = lazy(loadList);

/** Fetch the list while the reader looks elsewhere. */
export const preloadModels = (): void => {
  loadList().catch(() => undefined);
};

export interface ModelPickerProps {
  models: readonly Model[];
  /** The model's id; it need not be on the list. Empty: none is chosen. */
  value: string;
  onChange: (id: string) => void;
  /** Models that are chosen beside `value`: the list marks them too. */
  others?: readonly string[];
  recent: readonly string[];
  starred: readonly string[];
  onStar: (id: string) => void;
  /** Every model is played by the simulator, whatever its name. */
  simulated: boolean;
  /** What is chosen here, for who hears the page. */
  label?: string;
  /** The button that opens the list, where the model's name does not do. */
  trigger?: ReactElement;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
}

export function ModelPicker(props: ModelPickerProps) {
  const { models, value, onChange, others = [], label = "Model", trigger } = props;
  const [opened, setOpened] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  const open = props.open ?? opened;
  const show = (next: boolean) => {
    setOpened(next);
    props.onOpenChange?.(next);
  };
  const model = models.find(({ id }) => id === value);
  const name = model ? shortName(model) : value || "Choose a model";
  return (
    <Popover.Root open={open} onOpenChange={show}>
      <Popover.Trigger
        render={
          trigger ?? (
            <Button
              size="medium"
              data-part="model"
              title={value}
              aria-label={`${label}: ${name}`}
              className="min-w-0 max-w-full shrink!"
            >
              <span className="truncate font-medium text-ink">{name}</span>
              <ChevronDown aria-hidden="true" />
            </Button>
          )
        }
      />
      <Popover.Portal>
        <Popover.Positioner align="start" sideOffset={4} collisionPadding={8} className="z-40">
          <Popover.Popup
            ref={popup}
            aria-label="Choose a model"
            // A finger gets the list first: the keyboard of a phone would cover half of it.
            initialFocus={(by) => (by === "touch" ? popup.current : field.current)}
            className="flex max-h-[min(34rem,var(--available-height))] w-[min(36rem,92vw)] flex-col overflow-hidden rounded-md border border-edge bg-raised text-body shadow-over outline-none transition-opacity narrow:w-[calc(100vw-1rem)] data-ending-style:opacity-0 data-starting-style:opacity-0"
          >
            <Suspense fallback={<p className="h-80 p-3 text-dim text-small">Loading models…</p>}>
              <ModelList
                {...props}
                chosen={value ? [value, ...others] : others}
                current={value || (others.at(-1) ?? "")}
                field={field}
                label={label}
                onChoose={(id) => {
                  if (id && id !== value) onChange(id);
                  show(false);
                }}
              />
              <Arrived popup={popup} field={field} />
            </Suspense>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

interface ArrivedProps {
  popup: RefObject<HTMLElement | null>;
  field: RefObject<HTMLElement | null>;
}

/** Where the list came later than its box, the focus that waited in the box goes on to the field. */
function Arrived({ popup, field }: ArrivedProps) {
  const hasFinger = useMedia("(pointer: coarse)");
  useEffect(() => {
    if (!hasFinger && document.activeElement === popup.current) field.current?.focus();
  }, [popup, field, hasFinger]);
  return null;
}
