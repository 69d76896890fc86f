// The stages of a plan as rows of fields.
import type { Stage } from "../../../types/rollout.ts";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../Field.tsx";

interface Props {
  stages: readonly Stage[];
  onChange: (stages: readonly Stage[]) => void;
}

const FIELDS = [
  { name: "percent", label: "Percent", min: 1, max: 100 },
  { name: "minutes", label: "Minutes", min: 0, max: 100_000, step: "any" },
  { name: "runs", label: "V2 runs", min: 1, max: 1_000_000 },
] as const;

export function StageFields({ stages, onChange }: Props) {
  const change = (index: number, field: keyof Stage, value: number) =>
    onChange(stages.map((stage, at) => (at === index ? { ...stage, [field]: value } : stage)));
  const add = () => {
    const last = stages.at(-1) ?? { percent: 0, minutes: 60, runs: 200 };
    onChange([...stages, { ...last, percent: Math.min(100, last.percent + 10) }]);
  };
  return (
    <fieldset className="grid min-w-0 gap-3">
      <legend className="mb-2 font-medium text-small">Stages</legend>
      {stages.map((stage, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a stage is its position.
        <fieldset key={index} className="grid min-w-0 grid-cols-[1fr_1fr_1fr_auto] items-end gap-2">
          <legend className="sr-only">Stage {index + 1}</legend>
          {FIELDS.map(({ name, ...rest }) => (
            <Field
              key={name}
              {...rest}
              type="number"
              required
              value={Number.isNaN(stage[name]) ? "" : stage[name]}
              onChange={(event) => change(index, name, event.target.valueAsNumber)}
            />
          ))}
          <Button
            look="outline"
            size="medium"
            disabled={stages.length === 1}
            aria-label={`Remove stage ${index + 1}`}
            onClick={() => onChange(stages.filter((_, at) => at !== index))}
          >
            Remove
          </Button>
        </fieldset>
      ))}
      <Button look="outline" size="medium" className="justify-self-start" onClick={add}>
        Add stage
      </Button>
    </fieldset>
  );
}
