// The state of a rollout: what happens and why, its stages with the current one marked, and its mode.
import { MODES, planState, stageText } from "../../../logic/pages/rollout.ts";
import type { Plan, Rollout } from "../../../types/rollout.ts";
import { Lamp } from "../../ui/Lamp.tsx";

export function PlanCard({ rollout: { plan, assessment } }: { rollout: Rollout }) {
  const state = plan && planState(plan);
  return (
    <div className="grid gap-4 rounded-md border border-edge bg-raised p-5 narrow:p-4">
      <div className="grid gap-1">
        {state && (
          <p className="flex items-center gap-2 font-semibold">
            <Lamp lamp={state.lamp} /> {state.words}
          </p>
        )}
        <p role="status" className="max-w-measure">
          {assessment}
        </p>
      </div>
      {plan && <Stages plan={plan} />}
      {plan && (
        <p className="text-dim text-small">
          {MODES[plan.mode]}.{plan.holdback > 0 && ` At least ${plan.holdback}% of the conversations stay on legacy.`}
        </p>
      )}
    </div>
  );
}

function Stages({ plan }: { plan: Plan }) {
  return (
    <ol aria-label="Stages" className="grid auto-cols-fr grid-flow-col gap-2 narrow:grid-flow-row">
      {plan.stages.map((stage, index) => {
        const isCurrent = index + 1 === plan.stage && plan.state === "running";
        const isPassed = index + 1 < plan.stage || plan.state === "finished";
        return (
          <li
            key={stage.percent}
            aria-current={isCurrent ? "step" : undefined}
            className="grid content-start gap-0.5 rounded-md border border-edge bg-sunken px-3 py-2 aria-[current]:border-accent aria-[current]:bg-accent-wash"
          >
            <span className="flex items-center gap-2 font-semibold tabular-nums">
              <Lamp lamp={isPassed ? "done" : isCurrent ? "running" : "waiting"} /> {stage.percent}%
            </span>
            <span className="text-dim text-tiny">{stageText(stage)}</span>
            {isCurrent && <span className="text-tiny">since {new Date(plan.stageStarted).toLocaleString()}</span>}
          </li>
        );
      })}
    </ol>
  );
}
