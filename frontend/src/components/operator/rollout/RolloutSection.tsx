// The section "Rollout": the plan and its stages, the figures of both loops, and the audit trail.
import { useEffect, useState } from "react";
import { endText } from "../../../logic/pages/rollout.ts";
import { rolloutAuditLog } from "../../../state/operator/auditLog.ts";
import type { Operator } from "../../../state/operator/operator.ts";
import { RolloutStore } from "../../../state/operator/rollout.ts";
import { useStore } from "../../../state/store.ts";
import { PageAlert } from "../../pages/PageFrame.tsx";
import { Button } from "../../ui/Button.tsx";
import { AuditTrail } from "../audit/AuditTrail.tsx";
import { ConfirmDialog } from "../ConfirmDialog.tsx";
import { LoadingNote } from "../PlainTable.tsx";
import { PlanCard } from "./PlanCard.tsx";
import { PlanForm } from "./PlanForm.tsx";
import { RolloutFigures } from "./RolloutFigures.tsx";

export function RolloutSection({ operator }: { operator: Operator }) {
  const [store] = useState(() => new RolloutStore());
  const [log] = useState(rolloutAuditLog);
  const { rollout, trouble, refusal, isSaving } = useStore(store);
  const { flag, saving } = useStore(operator);
  const [isPlanning, setPlanning] = useState(false);
  const [isEnding, setEnding] = useState(false);
  const [notTakenBack, setNotTakenBack] = useState<string>();
  useEffect(() => store.start(), [store]);

  const isRunning = rollout?.plan?.state === "running";
  const isWatching = rollout?.plan?.state === "finished" && rollout.plan.isWatched;
  const changed = () => {
    void log.load();
    void operator.load();
  };
  const end = () =>
    void store.end().then((done) => {
      if (done) setEnding(false);
      changed();
    });
  const takeBack = async () => {
    await operator.setFlag({ state: "off", percent: 0 });
    setNotTakenBack(operator.state.refusal);
    if (operator.state.refusal !== undefined) return;
    setEnding(false);
    await store.load();
    // A rollout that only observes goes on after a change of the flag.
    if (store.state.rollout?.plan?.state === "running") await store.end();
    changed();
  };
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      {trouble && <PageAlert>{trouble} Retrying every 5 seconds.</PageAlert>}
      <section aria-labelledby="rollout-title" className="grid gap-3">
        <header className="flex flex-wrap items-center gap-2">
          <h2 id="rollout-title" className="me-auto font-semibold text-title">
            Rollout of V2
          </h2>
          {(isRunning || isWatching) && (
            <Button look="outline" size="medium" disabled={isSaving} onClick={isRunning ? () => setEnding(true) : end}>
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
      {isEnding && rollout?.plan && isRunning && (
        <ConfirmDialog
          title="End the rollout?"
          action="End rollout"
          refusal={notTakenBack ?? refusal}
          isSaving={isSaving || saving}
          onConfirm={end}
          other={{ action: "Take V2 back", onChoose: () => void takeBack() }}
          onClose={() => {
            setEnding(false);
            setNotTakenBack(undefined);
          }}
        >
          {endText(rollout.plan, flag)}
        </ConfirmDialog>
      )}
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
