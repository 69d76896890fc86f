// Draws a chart into an element with uPlot: its colours are the page's tokens, and its axes begin at zero.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { type Chart, stacked, type Tone } from "../../../logic/pages/runStats.ts";
import { cost, count, duration } from "../../../logic/wording/statusAndAmounts.ts";

const COLOURS: Record<Tone, string> = {
  done: "--lamp-done",
  failed: "--lamp-failed",
  cut: "--lamp-running",
  waiting: "--lamp-waiting",
  v2: "--accent",
  legacy: "--lamp-running",
};

const BAR_WIDTH = 0.8;
const MOST_BAR_PX = 48;
const AXIS_PX = 56;
const DASH = [4, 4];
const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

/** Returns a function that removes the chart. */
export function drawChart(element: HTMLElement, chart: Chart): () => void {
  let plot = plotOf(element, chart);
  const resize = new ResizeObserver(() => plot.setSize(sizeOf(element)));
  resize.observe(element);

  const redraw = () => {
    plot.destroy();
    plot = plotOf(element, chart);
  };
  // A canvas does not follow the theme: neither the user's choice nor the system's.
  const theme = new MutationObserver(redraw);
  theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", redraw);
  return () => {
    resize.disconnect();
    theme.disconnect();
    system.removeEventListener("change", redraw);
    plot.destroy();
  };
}

const sizeOf = ({ clientWidth, clientHeight }: HTMLElement) => ({ width: clientWidth, height: clientHeight });

function plotOf(element: HTMLElement, chart: Chart): uPlot {
  const colour = coloursOf(element);
  const axis = { stroke: colour("--dim"), font: `12px ${getComputedStyle(element).fontFamily}` };
  const grid = { stroke: colour("--edge"), width: 1 };
  const options: uPlot.Options = {
    ...sizeOf(element),
    legend: { show: false },
    cursor: { show: false },
    ...(chart.unit === "usd" && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC") }),
    scales: {
      x: { time: true, range: timeRange(chart) },
      y: { range: (_plot, _min, max) => [0, chart.unit === "usd" ? max * 1.1 : Math.max(1, max * 1.1)] },
    },
    axes: [
      { ...axis, grid: { show: false }, ticks: grid },
      { ...axis, grid, ticks: { show: false }, size: AXIS_PX, ...valuesOf(chart) },
    ],
    series: [{}, ...seriesOf(chart, colour)],
  };
  return new uPlot(options, dataOf(chart), element);
}

/** The first and the last bar are as wide as the others. */
function timeRange(chart: Chart): uPlot.Range.MinMax {
  const { times, isStacked } = chart;
  const [first = 0, second] = times;
  const last = times.at(-1) ?? first;
  const step = second === undefined ? (chart.unit === "usd" ? DAY_S : HOUR_S) : second - first;
  return isStacked ? [first - step / 2, last + step / 2] : [first, Math.max(last, first + step)];
}

function valuesOf({ unit }: Chart): Partial<uPlot.Axis> {
  if (unit === "usd") return { values: (_plot, values) => values.map((value) => (value === 0 ? "" : cost(value))) };
  if (unit === "ms") return { values: (_plot, values) => values.map((value) => (value === 0 ? "0" : duration(value))) };
  // There is no half run.
  return {
    values: (_plot, values) => values.map(count),
    incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10_000],
  };
}

function seriesOf({ series, isStacked }: Chart, colour: (token: string) => string): uPlot.Series[] {
  const drawn = series.map(({ name, tone, isDashed }): uPlot.Series => {
    const stroke = colour(COLOURS[tone]);
    const look: uPlot.Series = {
      label: name,
      stroke,
      width: isStacked ? 0 : 2,
      points: { show: !isStacked, size: 5, fill: stroke },
    };
    if (isDashed) look.dash = DASH;
    if (isStacked && uPlot.paths.bars) {
      look.fill = stroke;
      look.paths = uPlot.paths.bars({ size: [BAR_WIDTH, MOST_BAR_PX] });
    }
    return look;
  });
  return isStacked ? drawn.toReversed() : drawn;
}

/** The highest bars are drawn first, so that the lower ones are in front of them. */
function dataOf({ times, series, isStacked }: Chart): uPlot.AlignedData {
  if (isStacked)
    return [
      [...times],
      ...stacked(series)
        .map((values) => [...values])
        .toReversed(),
    ];
  // uPlot leaves a gap only for null.
  return [[...times], ...series.map(({ values }) => values.map((value) => value ?? null))];
}

/** A canvas knows neither custom properties nor `light-dark()`, so the browser computes the colours. */
function coloursOf(element: HTMLElement): (token: string) => string {
  const probe = element.ownerDocument.createElement("span");
  return (token) => {
    probe.style.color = `var(${token})`;
    element.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}
