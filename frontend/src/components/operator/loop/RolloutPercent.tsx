// The percentage of conversations that use the V2 loop.
import { Button } from "../../ui/Button.tsx";

/** Usual percentages of a gradual rollout. */
const STEPS = [1, 5, 10, 25, 50] as const;

export function RolloutPercent({ percent, onChange }: { percent: number; onChange: (percent: number) => void }) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <label className="flex min-w-56 flex-1 items-center gap-4">
        <input
          type="range"
          min={0}
          max={100}
          value={percent}
          aria-label="Share of conversations"
          aria-valuetext={`${percent} percent`}
          className="min-w-0 flex-1 cursor-pointer accent-accent disabled:cursor-default"
          onChange={(event) => onChange(Number(event.target.value))}
        />
        <span className="min-w-14 text-end font-semibold text-title tabular-nums">{percent}%</span>
      </label>
      <span className="flex gap-1">
        {STEPS.map((step) => (
          <Button
            key={step}
            look="outline"
            aria-pressed={step === percent}
            className="tabular-nums aria-pressed:border-accent"
            onClick={() => onChange(step)}
          >
            {step}%
          </Button>
        ))}
      </span>
    </div>
  );
}
