// The section "Rollout": the plan and its stages, the figures of both loops, and the audit trail.
import { useEffect, useState } from "react";
import { rolloutAuditLog } from "../../../state/operator/auditLog.ts";
import type { Operator } from "../../../state/operator/operator.ts";
import { RolloutStore } from "../../../state/operator/rollout.ts";
import { useStore } from "../../../state/store.ts";
import { PageAlert } from "../../pages/PageFrame.tsx";
import { Button } from "../../ui/Button.tsx";
import { AuditTrail } from "../audit/AuditTrail.tsx";
import { LoadingNote } from "../PlainTable.tsx";
import { EndRollout } from "./EndRollout.tsx";
import { PlanCard } from "./PlanCard.tsx";
import { PlanForm } from "./PlanForm.tsx";
import { RolloutFigures } from "./RolloutFigures.tsx";

export function RolloutSection({ operator }: { operator: Operator }) {
  const [store] = useState(() => new RolloutStore());
  const [log] = useState(rolloutAuditLog);
  const { rollout, trouble, refusal, isSaving } = useStore(store);
  const { flag } = useStore(operator);
  const [isPlanning, setPlanning] = useState(false);
  const [isEnding, setEnding] = useState(false);
  useEffect(() => store.start(), [store]);

  const isRunning = rollout?.plan?.state === "running";
  const isWatching = rollout?.plan?.state === "finished" && rollout.plan.isWatched;
  const changed = () => {
    void log.load();
    void operator.load();
  };
  const stopWatching = () => void store.end().then(changed);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      {trouble && <PageAlert>{trouble} Retrying every 5 seconds.</PageAlert>}
      <section aria-labelledby="rollout-title" className="grid gap-3">
        <header className="flex flex-wrap items-center gap-2">
          <h2 id="rollout-title" className="me-auto font-semibold text-title">
            Rollout of V2
          </h2>
          {(isRunning || isWatching) && (
            <Button
              look="outline"
              size="medium"
              disabled={isSaving}
              onClick={isRunning ? () => setEnding(true) : stopWatching}
            >
              {isRunning ? "End rollout" : "Stop watching"}
            </Button>
          )}
          <Button look={isRunning ? "outline" : "primary"} size="medium" onClick={() => setPlanning(true)}>
            {isRunning ? "Change plan" : "Start rollout"}
          </Button>
        </header>
        {refusal && !isPlanning && !isEnding && <PageAlert>{refusal}</PageAlert>}
        {!rollout && !trouble && <LoadingNote />}
        {rollout && <PlanCard rollout={rollout} />}
        <p className="text-dim text-small">
          To set the percentage at once, use the{" "}
          <a href="#loop" className="underline">
            switch of the tool loop
          </a>
          . It ends a running rollout.
        </p>
      </section>
      {rollout && rollout.figures.length > 0 && <RolloutFigures rollout={rollout} />}
      <section aria-labelledby="audit" className="grid gap-2">
        <h2 id="audit" className="font-semibold">
          Audit trail
        </h2>
        <AuditTrail log={log} empty="No changes yet." />
      </section>
      {isEnding && <EndRollout store={store} operator={operator} onChange={changed} onClose={() => setEnding(false)} />}
      {isPlanning && (
        <PlanForm
          flag={flag}
          plan={isRunning ? rollout?.plan : undefined}
          refusal={refusal}
          isSaving={isSaving}
          onClose={() => setPlanning(false)}
          onStart={(plan) =>
            void store.begin(plan).then((done) => {
              if (done) setPlanning(false);
              changed();
            })
          }
        />
      )}
    </div>
  );
}
