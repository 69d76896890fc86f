// Starts a rollout, or replaces the running one.
import { useId, useState } from "react";
import { FIRST_STAGES, modeTexts, startText } from "../../../logic/pages/rollout.ts";
import type { LoopFlag } from "../../../types/models.ts";
import type { NewPlan, Plan, Stage } from "../../../types/rollout.ts";
import { Field, INPUT } from "../Field.tsx";
import { FormDialog, type FormState } from "../FormDialog.tsx";
import { StageFields } from "./StageFields.tsx";

interface Props extends FormState {
  /** The running plan, if there is one. */
  plan: Plan | undefined;
  /** What runs now. Undefined until it is loaded. */
  flag: LoopFlag | undefined;
  onStart: (plan: NewPlan) => void;
}

/** The server's default. */
const HOLDBACK = 10;
const MODES = ["guard", "observe"] as const;

export function PlanForm({ plan, flag, onStart, ...form }: Props) {
  const id = useId();
  const guarded = plan?.mode === "guard" ? plan : undefined;
  const [mode, setMode] = useState<Plan["mode"]>(plan?.mode ?? "guard");
  const [stages, setStages] = useState<readonly Stage[]>(guarded?.stages ?? FIRST_STAGES);
  const [holdback, setHoldback] = useState(guarded?.holdback ?? HOLDBACK);
  const first = Math.min(stages[0]?.percent ?? 0, 100 - holdback);
  // A number that is being typed is not a number.
  const isTyping = mode === "guard" && Number.isNaN(first);
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
      {flag && !plan && !isTyping && (
        <p className="rounded-md bg-sunken px-3 py-2 text-small">
          {startText(flag, mode === "guard" ? first : undefined)}
        </p>
      )}
      <div className="grid gap-1">
        <label htmlFor={id} className="text-dim text-tiny">
          Mode
        </label>
        <select
          id={id}
          value={mode}
          onChange={({ target }) => setMode(target.value === "observe" ? "observe" : "guard")}
          aria-describedby={`${id}-effect`}
          className={`${INPUT} cursor-pointer`}
        >
          {MODES.map((one) => (
            <option key={one} value={one}>
              {modeTexts(one).name}
            </option>
          ))}
        </select>
        <p id={`${id}-effect`} className="text-dim text-tiny">
          {modeTexts(mode).effect}
        </p>
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
            value={Number.isNaN(holdback) ? "" : holdback}
            onChange={(event) => setHoldback(event.target.valueAsNumber)}
            hint="Without legacy runs, there is nothing to compare V2 with."
          />
        </>
      )}
    </FormDialog>
  );
}
