// The dialog that ends a running rollout: V2 stays at its percentage, or is taken back.
import { useState } from "react";
import { endText } from "../../../logic/pages/rollout.ts";
import type { Operator } from "../../../state/operator/operator.ts";
import type { RolloutStore } from "../../../state/operator/rollout.ts";
import { useStore } from "../../../state/store.ts";
import { ConfirmDialog } from "../ConfirmDialog.tsx";

type Props = { store: RolloutStore; operator: Operator; onChange: () => void; onClose: () => void };

export function EndRollout({ store, operator, onChange, onClose }: Props) {
  const { rollout, refusal, isSaving } = useStore(store);
  const { flag, saving } = useStore(operator);
  const [notTakenBack, setNotTakenBack] = useState<string>();
  if (rollout?.plan?.state !== "running") return null;
  const end = async () => {
    const done = await store.end();
    onChange();
    if (done) onClose();
  };
  const takeBack = async () => {
    await operator.setFlag({ state: "off", percent: 0 });
    setNotTakenBack(operator.state.refusal);
    if (operator.state.refusal !== undefined) return;
    await store.load();
    // A rollout that only observes goes on after a change of the flag.
    if (store.state.rollout?.plan?.state === "running") await store.end();
    onChange();
    onClose();
  };
  return (
    <ConfirmDialog
      title="End the rollout?"
      action="End rollout"
      refusal={notTakenBack ?? refusal}
      isSaving={isSaving || saving}
      onConfirm={() => void end()}
      other={{ action: "Take V2 back", onChoose: () => void takeBack() }}
      onClose={onClose}
    >
      {endText(rollout.plan, flag)}
    </ConfirmDialog>
  );
}
