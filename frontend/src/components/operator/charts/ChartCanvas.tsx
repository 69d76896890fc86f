// Draws a chart with uPlot, which is loaded when the first chart is shown.
import { useEffect, useRef, useState } from "react";
import type { Chart } from "../../../logic/pages/runStats.ts";
import { PageAlert } from "../../pages/PageFrame.tsx";

export function ChartCanvas({ chart }: { chart: Chart }) {
  const place = useRef<HTMLDivElement>(null);
  const [isBroken, setBroken] = useState(false);

  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    let remove: (() => void) | undefined;
    let isGone = false;
    import("./draw.ts").then(
      ({ drawChart }) => {
        if (!isGone) remove = drawChart(element, chart);
      },
      () => setBroken(true),
    );
    return () => {
      isGone = true;
      remove?.();
    };
  }, [chart]);

  if (isBroken) return <PageAlert>The chart could not be loaded. Reload the page, or read the table below.</PageAlert>;
  // The table below has the same values for screen readers.
  return <div ref={place} className="h-44 min-w-0 overflow-hidden" aria-hidden="true" />;
}
