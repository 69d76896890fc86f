// The latest runs, newest first, each with a link to its details.
import { serverPath } from "../../../logic/baseUrl.ts";
import { ago, codeOf, runLamp, statusText } from "../../../logic/pages/operator.ts";
import { protocolLabel } from "../../../logic/wording/protocolLabel.ts";
import { costText, duration, plural } from "../../../logic/wording/statusAndAmounts.ts";
import type { RunLine } from "../../../types/models.ts";
import { Button } from "../../ui/Button.tsx";
import { Lamp } from "../../ui/Lamp.tsx";

interface Props {
  runs: readonly RunLine[];
  /** The list includes all users' runs, so it names their API tokens. */
  isAll: boolean;
  isFiltered: boolean;
  /** The shown runs match the filter before the last change. */
  isFiltering: boolean;
  /** When the data was read, in epoch milliseconds. */
  asOf: number;
  onOlder: (() => void) | undefined;
  isFetchingOlder: boolean;
}

const CELL = "border-edge border-b py-2 pe-4 align-top narrow:pe-2";
const FACT = `${CELL} whitespace-nowrap narrow:hidden`;

export function RunList({ runs, isAll, isFiltered, isFiltering, asOf, onOlder, isFetchingOlder }: Props) {
  return (
    <section aria-labelledby="recent" className="grid gap-3" aria-busy={isFiltering}>
      <h2 id="recent" className="font-semibold">
        {isFiltered ? "Matching runs" : "Recent runs"}
      </h2>
      {runs.length > 0 ? <Table runs={runs} isAll={isAll} asOf={asOf} /> : <Nothing isFiltered={isFiltered} />}
      <footer className="flex items-center justify-between gap-3 text-dim text-small tabular-nums">
        <span role="status">
          {isFiltering ? "Loading…" : `${plural(runs.length, "run")}${onOlder ? ", and older ones" : ""}`}
        </span>
        {onOlder && (
          <Button look="outline" size="medium" disabled={isFetchingOlder} onClick={onOlder}>
            {isFetchingOlder ? "Loading…" : "Load older runs"}
          </Button>
        )}
      </footer>
    </section>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return (
    <p className="rounded-md bg-sunken px-4 py-6 text-center text-dim text-small">
      {isFiltered
        ? "No runs match these filters."
        : "No runs yet. Runs appear here when someone uses the chat or the API."}
    </p>
  );
}

type TableProps = Pick<Props, "runs" | "isAll" | "asOf">;

function Table({ runs, isAll, asOf }: TableProps) {
  return (
    <table className="w-full border-collapse text-start text-small tabular-nums">
      <thead className="text-dim text-tiny">
        <tr>
          <th scope="col" className={`${CELL} text-start font-medium`}>
            Status
          </th>
          <th scope="col" className={`${CELL} text-start font-medium`}>
            Loop
          </th>
          <th scope="col" className={`${FACT} text-start font-medium`}>
            Protocol
          </th>
          <th scope="col" className={`${FACT} text-start font-medium`}>
            Model
          </th>
          {isAll && (
            <th scope="col" className={`${FACT} text-start font-medium`}>
              API token
            </th>
          )}
          <th scope="col" className={`${FACT} text-end font-medium`}>
            Steps
          </th>
          <th scope="col" className={`${FACT} text-end font-medium`}>
            Duration
          </th>
          <th scope="col" className={`${FACT} text-end font-medium`}>
            Cost
          </th>
          <th scope="col" className="border-edge border-b py-2 text-end align-top font-medium">
            Started
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <Row key={run.runId} run={run} isAll={isAll} asOf={asOf} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ run, isAll, asOf }: Omit<TableProps, "runs"> & { run: RunLine }) {
  const { runId, model, loop, protocol, steps, started, ms, cost: usd, simulated } = run;
  const code = codeOf(run);
  const took = ms === undefined ? "" : duration(ms);
  const costs = usd === undefined ? "" : costText(usd, { simulated, estimated: false });
  return (
    <tr data-part="run" className="relative hover:bg-sunken">
      <td className={`${CELL} w-1/2 narrow:w-full`}>
        {/* The link covers the whole row. */}
        <a
          href={serverPath(`/#run=${encodeURIComponent(runId)}`)}
          className="flex items-center gap-2 text-ink no-underline after:absolute after:inset-0 hover:underline"
        >
          <Lamp lamp={runLamp(run)} />
          <span>
            {statusText(run)}
            {code && <span className="ms-2 text-dim text-tiny wrap-anywhere">{code}</span>}
          </span>
          <span className="sr-only">, {model}</span>
        </a>
        <p className="hidden ps-5 text-dim text-tiny wrap-anywhere narrow:block">
          {model}
          <br />
          {[run.owner, protocolLabel(protocol), plural(steps, "step"), took, costs].filter(Boolean).join(" · ")}
        </p>
      </td>
      <td className={`${CELL} whitespace-nowrap`}>{loop}</td>
      <td className={FACT}>{protocolLabel(protocol)}</td>
      <td className={`${CELL} w-1/2 wrap-anywhere narrow:hidden`}>{model}</td>
      {isAll && (
        <td className={`${CELL} narrow:hidden`}>
          <span className={`block min-w-28 wrap-anywhere ${run.owner ? "" : "text-dim"}`}>{run.owner || "none"}</span>
        </td>
      )}
      <td className={`${FACT} text-end`}>{steps}</td>
      <td className={`${FACT} text-end`}>{took}</td>
      <td className={`${FACT} text-end`}>{costs}</td>
      <td
        className="whitespace-nowrap border-edge border-b py-2 text-end align-top text-dim"
        title={new Date(started).toLocaleString()}
      >
        {ago(asOf - started)}
      </td>
    </tr>
  );
}
