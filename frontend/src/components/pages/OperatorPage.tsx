// The operator page: the loop switch, what decides which loop runs, and each loop's recent runs.
import { useEffect, useState } from "react";
import { byLoop } from "../../logic/pages/operator.ts";
import { Operator, type OperatorState } from "../../state/server/operator.ts";
import { useStore } from "../../state/store.ts";
import { Button } from "../ui/Button.tsx";
import { AccessDialog } from "./AccessDialog.tsx";
import { LoopCard } from "./LoopCard.tsx";
import { LoopPrecedence } from "./LoopPrecedence.tsx";
import { LoopSwitch } from "./LoopSwitch.tsx";
import { PageAlert, PageFrame } from "./PageFrame.tsx";
import { RunList } from "./RunList.tsx";
import { UpstreamTable } from "./UpstreamTable.tsx";

export function OperatorPage() {
  const [operator] = useState(() => new Operator());
  const state = useStore(operator);
  const { flag, trouble, refusal, saving } = state;

  useEffect(() => operator.start(), [operator]);

  return (
    <PageFrame here="/operator">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
        <h1 className="font-semibold text-title">Active tool loop</h1>
        {trouble && <StaleNotice state={state} onToken={() => operator.askForToken()} />}
        {!flag && !trouble && <p className="text-dim">Loading…</p>}
        {flag && <LoopSwitch flag={flag} saving={saving} onApply={(wanted) => void operator.setFlag(wanted)} />}
        {refusal && <PageAlert>{refusal}</PageAlert>}
        {flag && <LoopPrecedence flag={flag} />}
        {state.upstreams.length > 0 && <UpstreamTable upstreams={state.upstreams} />}
        {flag && <Runs state={state} onOlder={() => void operator.loadOlder()} onAll={() => operator.showAll()} />}
      </div>
      <AccessDialog
        open={state.tokenNeeded}
        refused={state.tokenRefused}
        onToken={(token) => operator.takeToken(token)}
        onClose={() => operator.giveUp()}
        title="This needs the operator token."
        hint="Find it on the server with cat data/admin-token, or use the value of SIGNALBOX_ADMIN_TOKEN if that is set. It stays in this tab only."
        label="Operator token"
        mayRemember={false}
      />
    </PageFrame>
  );
}

/** Why the data may be outdated, and from when it is. */
function StaleNotice({ state: { trouble, asOf, isLocked }, onToken }: { state: OperatorState; onToken: () => void }) {
  return (
    <PageAlert>
      {trouble} {asOf !== undefined && `Last updated at ${new Date(asOf).toLocaleTimeString()}. `}
      {isLocked ? (
        <Button look="outline" className="ms-2" onClick={onToken}>
          Enter token
        </Button>
      ) : (
        "Retrying every 5 seconds."
      )}
    </PageAlert>
  );
}

interface RunsProps {
  state: OperatorState;
  onOlder: () => void;
  onAll: () => void;
}

function Runs({ state, onOlder, onAll }: RunsProps) {
  const { runs, next, isAll, asOf = 0, isFetchingOlder } = state;
  const groups = byLoop(runs);
  return (
    <>
      <section aria-labelledby="loops" className="grid gap-2">
        <h2 id="loops" className="font-semibold">
          Results by loop
        </h2>
        <p className="max-w-measure text-dim text-small">
          Based on the runs below{isAll ? ", from all users" : ", only those without an API token"}. Runs stopped by the
          user are not counted.
        </p>
        {!isAll && (
          <p>
            <Button look="outline" size="medium" onClick={onAll}>
              Show all users' runs
            </Button>
          </p>
        )}
        <div className="grid grid-cols-2 gap-4 narrow:grid-cols-1">
          {groups.map((group) => (
            <LoopCard key={group.loop} group={group} />
          ))}
        </div>
      </section>
      <RunList
        runs={runs}
        isAll={isAll}
        groups={groups}
        asOf={asOf}
        onOlder={next === undefined ? undefined : onOlder}
        isFetchingOlder={isFetchingOlder}
      />
    </>
  );
}
