// One compared model: a button that changes it and a button that removes it.
import { X } from "lucide-react";
import { labelText, type ModelLabel } from "../../logic/models/modelLabels.ts";
import { isListed } from "../../logic/models/modelNames.ts";
import { Button } from "../ui/Button.tsx";
import type { ComparePickerProps } from "./ComparePicker.tsx";
import { ModelPicker } from "./ModelPicker.tsx";
import { UnlistedBadge } from "./UnlistedBadge.tsx";

interface Props {
  id: string;
  label: ModelLabel;
  picker: Omit<ComparePickerProps, "chosen" | "onChange">;
  /** The other compared models. */
  others: readonly string[];
  onChange: (id: string) => void;
  onRemove: () => void;
}

export function ComparedChip({ id, label, picker, others, onChange, onRemove }: Props) {
  const isGone = !isListed(picker.models, id);
  return (
    <span
      title={id}
      data-part="compared-model"
      className="inline-flex h-8 min-w-0 max-w-full items-center narrow:max-w-[80%] narrow:shrink-0 rounded-md border border-edge bg-raised text-small"
    >
      <ModelPicker
        {...picker}
        value={id}
        others={others}
        onChange={onChange}
        label="Model to compare"
        trigger={
          <Button
            aria-label={`Change ${labelText(label)}${isGone ? " Not listed" : ""}`}
            className="min-w-0 shrink! gap-1 ps-2.5 pe-1"
          >
            <span className="truncate text-ink">{label.name}</span>
            {label.maker && <span className="truncate text-dim">· {label.maker}</span>}
            {isGone && " "}
            {isGone && <UnlistedBadge />}
          </Button>
        }
      />
      <Button size="icon-small" aria-label={`Remove ${labelText(label)}`} onClick={onRemove}>
        <X aria-hidden="true" />
      </Button>
    </span>
  );
}
