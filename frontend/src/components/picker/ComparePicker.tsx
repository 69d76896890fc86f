// Which two to four models answer side by side.
import { Plus, X } from "lucide-react";
import { MOST_COMPARED } from "../../hooks/settings.ts";
import { shortName } from "../../run/models.ts";
import type { Model } from "../../types/api.ts";
import { Button } from "../ui/Button.tsx";
import { ModelPicker, type ModelPickerProps } from "./ModelPicker.tsx";

export interface ComparePickerProps extends Pick<ModelPickerProps, "recent" | "starred" | "onStar" | "simulated"> {
  models: readonly Model[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

export function ComparePicker({ models, chosen, onChange, ...picker }: ComparePickerProps) {
  const isFull = chosen.length >= MOST_COMPARED;
  const isChosen = (id: string) => chosen.includes(id);
  const nameOf = (id: string) => {
    const model = models.find((one) => one.id === id);
    return model ? shortName(model) : id;
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a row everywhere.
    <div
      role="group"
      aria-label="Compared models"
      className="flex min-w-0 flex-wrap items-center gap-1.5"
      data-part="compared"
    >
      {chosen.map((id) => (
        <span
          key={id}
          title={id}
          data-part="compared-model"
          className="inline-flex h-8 min-w-0 max-w-full items-center gap-1 rounded-md border border-edge bg-raised pl-2.5 text-small"
        >
          <span className="truncate">{nameOf(id)}</span>
          <Button
            size="icon-small"
            aria-label={`Remove ${nameOf(id)}`}
            onClick={() => onChange(chosen.filter((other) => other !== id))}
          >
            <X aria-hidden="true" />
          </Button>
        </span>
      ))}
      {!isFull && (
        <ModelPicker
          {...picker}
          models={models.filter(({ id }) => !isChosen(id))}
          recent={picker.recent.filter((id) => !isChosen(id))}
          starred={picker.starred.filter((id) => !isChosen(id))}
          value=""
          onChange={(id) => !isChosen(id) && onChange([...chosen, id])}
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
