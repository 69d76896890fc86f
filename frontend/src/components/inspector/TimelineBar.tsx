// The bar of a row and the ticks above. Positions are percentages, so they fit any width.
import type { Lamp } from "../../logic/answer/stops.ts";
import type { Row, Tick } from "../../logic/inspector/waterfall.ts";
import { duration } from "../../logic/wording/statusAndAmounts.ts";

const FILLS: Record<Lamp, string> = {
  running: "fill-lamp-running",
  done: "fill-lamp-done",
  failed: "fill-lamp-failed",
  cut: "fill-lamp-running",
  waiting: "fill-lamp-waiting",
  blue: "fill-lamp-blue",
};

/** Requests are the background of the other rows, so they are coloured only if something is wrong. */
const fillOf = ({ subject, lamp }: Row): string =>
  subject.kind === "attempt" && (lamp === "done" || lamp === "waiting") ? "fill-edge-strong" : FILLS[lamp];

const HEIGHTS: Record<Row["subject"]["kind"], number> = { attempt: 10, reasoning: 6, call: 6, text: 6 };

const percent = (part: number): string => `${part.toFixed(3)}%`;

/** Bars narrower than this many percent are drawn as a line. */
const LEAST = 1.5;

export function TimelineBar({ row, ticks }: { row: Row; ticks: readonly Tick[] }) {
  const { bar } = row;
  const fill = fillOf(row);
  const height = HEIGHTS[row.subject.kind];
  const y = 14 - height / 2;
  return (
    <svg className="block h-7 w-full overflow-visible" aria-hidden="true">
      {ticks.map(({ x, ms }) => (
        <line key={ms} x1={percent(x)} x2={percent(x)} y1="0" y2="28" className="stroke-1 stroke-edge" />
      ))}
      {bar && bar.wait > 0 && (
        <rect
          x={percent(bar.x)}
          y={y}
          width={percent(bar.wait)}
          height={height}
          rx="2"
          className={`${fill} [fill-opacity:0.4]`}
        />
      )}
      {bar && bar.width > bar.wait && (
        <rect
          x={percent(bar.x + bar.wait)}
          y={y}
          width={percent(bar.width - bar.wait)}
          height={height}
          rx="2"
          className={fill}
        />
      )}
      {bar && bar.width < LEAST && (
        <rect x={percent(Math.min(bar.x, 99.4))} y={y - 2} width="3" height={height + 4} rx="1" className={fill} />
      )}
    </svg>
  );
}

const tickText = (ms: number): string => (ms === 0 ? "0" : duration(ms).replace(/\.0 s$/, " s"));

/** The last label is left of its tick, so that it stays inside. */
export function TimelineTicks({ ticks }: { ticks: readonly Tick[] }) {
  return (
    <svg className="block h-5 w-full overflow-visible" aria-hidden="true">
      {ticks.map(({ x, ms }) => (
        <text
          key={ms}
          x={percent(x)}
          y="13"
          className={`fill-dim text-tiny tabular-nums narrow:even:hidden ${x > 85 ? "[text-anchor:end]" : x > 2 ? "[text-anchor:middle]" : ""}`}
        >
          {tickText(ms)}
        </text>
      ))}
    </svg>
  );
}
