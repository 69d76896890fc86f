// The newest runs that differ on the other loop without a known reason.
import { serverPath } from "../../../logic/baseUrl.ts";
import { differenceText } from "../../../logic/pages/shadow.ts";
import { cost } from "../../../logic/wording/statusAndAmounts.ts";
import type { ShadowRun } from "../../../types/shadow.ts";
import { Copy } from "../../ui/Copy.tsx";

export function ShadowRuns({ runs }: { runs: readonly ShadowRun[] }) {
  return (
    <section aria-labelledby="shadow-runs" className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <h2 id="shadow-runs" className="font-semibold">
        Unexpected differences
      </h2>
      <p className="max-w-measure text-dim text-small">
        Messages, arguments and results are not shown. To see them, run the copied command on the server.
      </p>
      <ol className="overflow-hidden rounded-md border border-edge text-small">
        {runs.map((run) => (
          <Run key={run.runId} run={run} />
        ))}
      </ol>
    </section>
  );
}

function Run({ run: { runId, at, model, loop, cost: usd, differences } }: { run: ShadowRun }) {
  return (
    <li data-part="shadow-run" className="grid gap-1 border-edge px-4 py-2.5 not-first:border-t">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <a href={serverPath(`/#run=${encodeURIComponent(runId)}`)} className="font-medium underline wrap-anywhere">
          {model}
        </a>
        <span className="text-dim">
          made again on {loop} for {cost(usd)}
        </span>
        <time
          className="ms-auto text-dim tabular-nums narrow:ms-0 narrow:basis-full"
          dateTime={new Date(at).toISOString()}
        >
          {new Date(at).toLocaleString()}
        </time>
      </p>
      <div className="flex flex-wrap items-end gap-x-3 gap-y-1">
        <ul className="me-auto grid gap-0.5 wrap-anywhere">
          {differences.map((difference) => (
            <li key={difference.kind} className={difference.isExpected ? "text-dim" : ""}>
              {differenceText(difference)}
            </li>
          ))}
        </ul>
        <Copy text={() => `signalbox replay ${runId}`} look="outline" aria-label={`Copy command for ${runId}`}>
          Copy command
        </Copy>
      </div>
    </li>
  );
}
