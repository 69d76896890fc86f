// A chart with its title, its legend, and the same values as a table.
import { type Chart, type Tone, tableRows } from "../../../logic/pages/runStats.ts";
import { cost, count, duration } from "../../../logic/wording/statusAndAmounts.ts";
import { ChartCanvas } from "./ChartCanvas.tsx";

const SWATCHES: Record<Tone, string> = {
  done: "border-lamp-done",
  failed: "border-lamp-failed",
  cut: "border-lamp-running",
  waiting: "border-lamp-waiting",
  v2: "border-accent",
  legacy: "border-lamp-running",
};

const WORDS: Record<Chart["unit"], (value: number) => string> = { runs: count, ms: duration, usd: cost };

export function ChartCard({ chart }: { chart: Chart }) {
  const { title, series, isStacked } = chart;
  const hasValues = series.some(({ values }) => values.some(Boolean));
  return (
    <figure
      aria-label={title}
      data-part="chart"
      className="grid min-w-0 content-start gap-2 rounded-md border border-edge bg-raised p-4"
    >
      <figcaption className="font-semibold">{title}</figcaption>
      {hasValues ? (
        <>
          <ChartCanvas chart={chart} />
          <ul className="flex flex-wrap gap-x-4 gap-y-1 text-small" aria-hidden="true" hidden={series.length === 1}>
            {series.map(({ name, tone, isDashed }) => (
              <li key={name} className="flex items-center gap-1.5">
                <span
                  className={`w-4 ${isStacked ? "border-t-8" : "border-t-2"} ${isDashed ? "border-dashed" : ""} ${SWATCHES[tone]}`}
                />
                {name}
              </li>
            ))}
          </ul>
          <ValueTable chart={chart} />
        </>
      ) : (
        <p className="py-16 text-center text-dim text-small">No values in this time.</p>
      )}
    </figure>
  );
}

function ValueTable({ chart }: { chart: Chart }) {
  const { title, series, unit } = chart;
  const words = (value: number | undefined) => (value === undefined ? "" : WORDS[unit](value));
  return (
    <details className="text-small">
      <summary className="cursor-pointer text-dim">Show as table</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard. */}
      <section className="mt-2 max-h-64 overflow-auto" tabIndex={0} aria-label={`${title} as table`}>
        <table className="w-full border-collapse tabular-nums">
          <thead className="text-dim text-tiny">
            <tr>
              <th scope="col" className="border-edge border-b py-1 pe-3 text-start font-medium">
                {unit === "usd" ? "Day" : "Start"}
              </th>
              {series.map(({ name }) => (
                <th key={name} scope="col" className="border-edge border-b py-1 ps-3 text-end font-medium">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {tableRows(chart).map(({ time, values }) => (
              <tr key={time}>
                <th scope="row" className="whitespace-nowrap border-edge border-b py-1 pe-3 text-start font-normal">
                  {timeText(time * 1000, unit)}
                </th>
                {series.map(({ name }, index) => (
                  <td key={name} className="whitespace-nowrap border-edge border-b py-1 ps-3 text-end">
                    {words(values[index])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}

const timeText = (ms: number, unit: Chart["unit"]): string =>
  unit === "usd" ? new Date(ms).toISOString().slice(0, 10) : new Date(ms).toLocaleString();
