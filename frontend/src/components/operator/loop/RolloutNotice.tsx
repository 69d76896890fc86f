// Says at the switch that a rollout is running, and what a change of the switch does to it.
import { usePolled } from "../../../hooks/polled.ts";
import { fetchRollout } from "../../../state/operator/rollout.ts";

const EVERY_MS = 5000;

export function RolloutNotice() {
  const { value } = usePolled(fetchRollout, EVERY_MS);
  const plan = value?.plan;
  if (plan?.state !== "running") return null;
  return (
    <p role="note" className="rounded-md border border-edge bg-accent-wash px-4 py-2 text-small">
      A{" "}
      <a href="#rollout" className="underline">
        rollout
      </a>{" "}
      is running{plan.mode === "guard" && ` (V2 at ${plan.percent}%)`}.{" "}
      {plan.mode === "guard" ? "A change here ends it." : "It only observes, and goes on after a change here."}
    </p>
  );
}
