// The operator's page: the lever of TOOL_LOOP_V2, what pulling it does, and how each loop's last runs ended.
import { useEffect, useState } from "react";
import { Operator, type OperatorState } from "../../hooks/operator.ts";
import { useStore } from "../../hooks/store.ts";
import { byLoop } from "../../run/operator.ts";
import { Button } from "../ui/Button.tsx";
import { Deciders } from "./Deciders.tsx";
import { LeverBox } from "./LeverBox.tsx";
import { LoopCard } from "./LoopCard.tsx";
import { Paper, Trouble } from "./Paper.tsx";
import { RunList } from "./RunList.tsx";
import { TokenDialog } from "./TokenDialog.tsx";

export function OperatorPage() {
  const [operator] = useState(() => new Operator());
  const state = useStore(operator);
  const { lever, trouble, refusal, pulling } = state;

  useEffect(() => operator.watch(), [operator]);

  return (
    <Paper here="/operator">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
        <h1 className="font-semibold text-title">Which loop answers</h1>
        {trouble && <Old state={state} onToken={() => operator.askForToken()} />}
        {!lever && !trouble && <p className="text-dim">Asking the server how the lever stands.</p>}
        {lever && <LeverBox lever={lever} pulling={pulling} onPull={(wanted) => void operator.pull(wanted)} />}
        {refusal && <Trouble>{refusal}</Trouble>}
        {lever && <Deciders lever={lever} />}
        {lever && <Runs state={state} onOlder={() => void operator.loadOlder()} onAll={() => operator.showAll()} />}
      </div>
      <TokenDialog
        open={state.tokenNeeded}
        refused={state.tokenRefused}
        onToken={(token) => operator.takeToken(token)}
        onClose={() => operator.giveUp()}
        title="This takes the operator's token."
        hint="On the server: cat data/admin-token, or the command that its start prints. SIGNALBOX_ADMIN_TOKEN takes its place where that is set. It is kept in this tab only."
        label="Operator's token"
        mayRemember={false}
      />
    </Paper>
  );
}

/** Why what is shown may be old, and how old it is. */
function Old({ state: { trouble, asOf, isLocked }, onToken }: { state: OperatorState; onToken: () => void }) {
  return (
    <Trouble>
      {trouble} {asOf !== undefined && `What is shown is as of ${new Date(asOf).toLocaleTimeString()}. `}
      {isLocked ? (
        <Button look="outline" className="ms-2" onClick={onToken}>
          Enter the token
        </Button>
      ) : (
        "It is asked again every 5 seconds."
      )}
    </Trouble>
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
          How each loop does
        </h2>
        <p className="max-w-measure text-dim text-small">
          Over the runs below{isAll ? ", which are everybody's" : ", which are those without an API token"}. A run that
          its reader stopped counts neither for its loop nor against it.
        </p>
        {!isAll && (
          <p>
            <Button look="outline" size="medium" onClick={onAll}>
              Show everybody's runs
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
