// How runs ended, as a stacked bar.

import type { Lamp } from "../../../logic/answer/stops.ts";
import type { Ending } from "../../../logic/pages/operator.ts";

const FILLS: Record<Lamp, string> = {
  done: "fill-lamp-done",
  failed: "fill-lamp-failed",
  cut: "fill-lamp-running",
  waiting: "fill-lamp-waiting",
  running: "fill-lamp-running",
  blue: "fill-lamp-blue",
};

const WIDTH = 100;
const GAP = 0.5;

interface Props {
  endings: readonly Ending[];
  total: number;
  /** The same as text. */
  label: string;
}

export function EndingBar({ endings, total, label }: Props) {
  const starts = endings.map((_, index) => endings.slice(0, index).reduce((sum, { count }) => sum + count, 0));
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} 4`}
      preserveAspectRatio="none"
      className="h-2 w-full overflow-hidden rounded-full bg-sunken"
    >
      {endings.map(({ name, lamp, count }, index) => (
        <rect
          key={name}
          x={((starts[index] ?? 0) / total) * WIDTH}
          width={Math.max(GAP, (count / total) * WIDTH - GAP)}
          height={4}
          className={FILLS[lamp]}
        />
      ))}
    </svg>
  );
}
