// The operator's page: the lever of TOOL_LOOP_V2, what pulling it does, and how each loop's last runs ended.
import { useEffect, useState } from "react";
import { Operator } from "../../hooks/operator.ts";
import { useStore } from "../../hooks/store.ts";
import { ago, byLoop, endingWords, type LoopRuns, runLamp } from "../../run/operator.ts";
import { cost, duration } from "../../run/words.ts";
import type { RunLine } from "../../types/models.ts";
import { Lamp } from "../ui/Lamp.tsx";
import { LeverBox } from "./LeverBox.tsx";
import { Paper } from "./Paper.tsx";
import { TokenDialog } from "./TokenDialog.tsx";

const EVERY_MS = 5000;

export function OperatorPage() {
  const [operator] = useState(() => new Operator());
  const { lever, runs, trouble, tokenNeeded, pulling } = useStore(operator);

  useEffect(() => {
    void operator.load();
    const timer = setInterval(() => {
      if (!document.hidden) void operator.load();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [operator]);

  return (
    <Paper here="/operator">
      <h1 className="title">Which loop answers</h1>
      {trouble && (
        <p className="error-box" role="alert">
          {trouble}
        </p>
      )}
      {lever && <LeverBox lever={lever} pulling={pulling} onPull={(wanted) => void operator.pull(wanted)} />}
      {lever && byLoop(runs).map((group) => <Runs key={group.loop} group={group} />)}
      <TokenDialog
        open={tokenNeeded}
        onToken={(token) => operator.takeToken(token)}
        onClose={() => operator.giveUp()}
        title="This takes the operator's token."
        hint="The server names its file when it starts, unless SIGNALBOX_ADMIN_TOKEN sets it. It is kept in this tab only."
        label="Operator's token"
      />
    </Paper>
  );
}

function Runs({ group: { loop, runs, words } }: { group: LoopRuns }) {
  return (
    <section className="prose runs" aria-labelledby={`runs-${loop}`}>
      <h2 id={`runs-${loop}`}>
        loop {loop} <span className="dim">{words}</span>
      </h2>
      {runs.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard.
        <section className="table" tabIndex={0} aria-label={`Last runs of loop ${loop}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">ended</th>
                <th scope="col">model</th>
                <th scope="col">steps</th>
                <th scope="col">took</th>
                <th scope="col">cost</th>
                <th scope="col">asked</th>
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <Row key={run.runId} run={run} />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}

function Row({ run }: { run: RunLine }) {
  return (
    <tr>
      <td>
        <Lamp lamp={runLamp(run)} /> {endingWords(run)}
      </td>
      <td>{run.model}</td>
      <td>{run.steps}</td>
      <td>{run.ms === undefined ? "" : duration(run.ms)}</td>
      <td>{run.cost === undefined ? "" : cost(run.cost)}</td>
      <td title={new Date(run.started).toLocaleString()}>{ago(Date.now() - run.started)}</td>
    </tr>
  );
}
