// Starts a rollout, or replaces the running one.
import { useId, useState } from "react";
import { FIRST_STAGES, MODES } from "../../../logic/pages/rollout.ts";
import type { NewPlan, Plan, Stage } from "../../../types/rollout.ts";
import { Field, INPUT } from "../Field.tsx";
import { FormDialog, type FormState } from "../FormDialog.tsx";
import { StageFields } from "./StageFields.tsx";

interface Props extends FormState {
  /** The running plan, if there is one. */
  plan: Plan | undefined;
  onStart: (plan: NewPlan) => void;
}

/** The server's default. */
const HOLDBACK = 10;

export function PlanForm({ plan, onStart, ...form }: Props) {
  const id = useId();
  const guarded = plan?.mode === "guard" ? plan : undefined;
  const [mode, setMode] = useState<Plan["mode"]>(plan?.mode ?? "guard");
  const [stages, setStages] = useState<readonly Stage[]>(guarded?.stages ?? FIRST_STAGES);
  return (
    <FormDialog
      {...form}
      title={plan ? "Change the rollout" : "Start a rollout"}
      description={
        mode === "guard"
          ? "A stage lasts until its time and its runs are reached, and V2 is not worse."
          : "Set the percentage of V2 by hand. Each percentage is compared anew."
      }
      action={plan ? "Change" : "Start"}
      onSubmit={(texts) => onStart(mode === "guard" ? { mode, holdback: Number(texts.holdback), stages } : { mode })}
    >
      <div className="grid gap-1">
        <label htmlFor={id} className="text-dim text-tiny">
          Mode
        </label>
        <select
          id={id}
          value={mode}
          onChange={({ target }) => setMode(target.value === "observe" ? "observe" : "guard")}
          className={`${INPUT} cursor-pointer`}
        >
          {Object.entries(MODES).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </div>
      {mode === "guard" && (
        <>
          <StageFields stages={stages} onChange={setStages} />
          <Field
            name="holdback"
            label="Percentage on legacy in every stage, at least"
            type="number"
            min={0}
            max={50}
            required
            defaultValue={guarded?.holdback ?? HOLDBACK}
            hint="Without legacy runs, there is nothing to compare V2 with."
          />
        </>
      )}
    </FormDialog>
  );
}
