// Chooses the two to four models of a comparison, in the order of their columns.
import { Plus } from "lucide-react";
import { labelsOf, withChanged } from "../../logic/models/modelLabels.ts";
import { MOST_COMPARED } from "../../state/settings.ts";
import type { Model } from "../../types/api.ts";
import { Button } from "../ui/Button.tsx";
import { ComparedChip } from "./ComparedChip.tsx";
import { ModelPicker, type ModelPickerProps } from "./ModelPicker.tsx";

export interface ComparePickerProps extends Pick<ModelPickerProps, "recent" | "starred" | "onStar" | "simulated"> {
  models: readonly Model[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

export function ComparePicker({ chosen, onChange, ...picker }: ComparePickerProps) {
  const labels = labelsOf(picker.models, chosen);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a row everywhere.
    <div
      role="group"
      aria-label="Models to compare"
      // On a phone the chips are one row that scrolls horizontally, with room for focus rings.
      className="flex min-w-0 flex-wrap items-center gap-1.5 narrow:-mx-2 narrow:-my-1 narrow:flex-nowrap narrow:overflow-x-auto narrow:px-2 narrow:py-1"
      data-part="compared"
    >
      {[...labels].map(([id, label]) => (
        <ComparedChip
          key={id}
          id={id}
          label={label}
          picker={picker}
          others={chosen.filter((other) => other !== id)}
          onChange={(next) => onChange(withChanged(chosen, id, next))}
          onRemove={() => onChange(chosen.filter((other) => other !== id))}
        />
      ))}
      {chosen.length < MOST_COMPARED && (
        <ModelPicker
          {...picker}
          value=""
          others={chosen}
          onChange={(id) => !chosen.includes(id) && onChange([...chosen, id])}
          label="Model to compare"
          trigger={
            <Button look="outline" size="medium">
              <Plus aria-hidden="true" />
              Add a model
            </Button>
          }
        />
      )}
      <span className="text-dim text-tiny" role="status">
        {chosen.length < 2 ? `Choose ${chosen.length === 0 ? "two" : "one more"} to compare.` : ""}
      </span>
    </div>
  );
}
