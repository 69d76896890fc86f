// The section "Tool loop": the loop switch, what decides which loop runs, and the upstreams.
import type { Operator } from "../../../state/operator/operator.ts";
import { useStore } from "../../../state/store.ts";
import { PageAlert } from "../../pages/PageFrame.tsx";
import { LoopPrecedence } from "./LoopPrecedence.tsx";
import { LoopSwitch } from "./LoopSwitch.tsx";
import { RolloutNotice } from "./RolloutNotice.tsx";
import { UpstreamTable } from "./UpstreamTable.tsx";

export function LoopSection({ operator }: { operator: Operator }) {
  const { flag, refusal, saving, upstreams, isAll } = useStore(operator);
  if (!flag) return null;
  return (
    <div className="grid max-w-4xl gap-8">
      <section aria-labelledby="active-loop" className="grid gap-3">
        <h2 id="active-loop" className="font-semibold text-title">
          Active tool loop
        </h2>
        {/* A change of the flag may have ended the rollout. */}
        {isAll && <RolloutNotice key={`${flag.state} ${flag.percent}`} />}
        <LoopSwitch flag={flag} saving={saving} onApply={(wanted) => void operator.setFlag(wanted)} />
        {refusal && <PageAlert>{refusal}</PageAlert>}
      </section>
      <LoopPrecedence flag={flag} />
      {upstreams.length > 0 && <UpstreamTable upstreams={upstreams} onReload={() => operator.reloadUpstreams()} />}
    </div>
  );
}
