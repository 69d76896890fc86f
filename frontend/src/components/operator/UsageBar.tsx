// How much of a budget is used, as a bar. The text beside it says the same.
const WIDTH = 100;
/** From this share on, the bar warns. */
const WARN = 0.8;

export function UsageBar({ used, budget }: { used: number; budget: number }) {
  const share = budget > 0 ? Math.min(1, used / budget) : 1;
  const fill = share >= 1 ? "fill-lamp-failed" : share >= WARN ? "fill-lamp-running" : "fill-lamp-done";
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${WIDTH} 4`}
      preserveAspectRatio="none"
      className="h-1.5 w-full overflow-hidden rounded-full bg-sunken"
    >
      <rect width={share * WIDTH} height={4} className={fill} />
    </svg>
  );
}
