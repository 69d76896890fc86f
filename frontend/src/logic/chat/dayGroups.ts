// Groups the sidebar's lines by day.

export interface DayGroup<Line> {
  label: string;
  lines: readonly Line[];
}

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** The start of the day `daysAgo` days ago in local time. Days are not always 24 hours long. */
function dayStart(now: Date, daysAgo: number): number {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo).getTime();
}

/** Returns a function that names the day of a time, relative to `now`. */
export function dayNames(now: number): (at: number) => string {
  const today = new Date(now);
  const [start, yesterday, week] = [dayStart(today, 0), dayStart(today, 1), dayStart(today, 7)];
  return (at) => {
    if (at >= start) return "Today";
    if (at >= yesterday) return "Yesterday";
    if (at >= week) return "Previous 7 days";
    const day = new Date(at);
    const month = MONTHS[day.getMonth()] ?? "";
    return day.getFullYear() === today.getFullYear() ? month : `${month} ${day.getFullYear()}`;
  };
}

/** Group ordered lines by day. */
export function groupByDay<Line>(
  lines: readonly Line[],
  timeOf: (line: Line) => number,
  now: number,
): DayGroup<Line>[] {
  const nameOf = dayNames(now);
  const groups: { label: string; lines: Line[] }[] = [];
  for (const line of lines) {
    const label = nameOf(timeOf(line));
    const last = groups.at(-1);
    if (last?.label === label) last.lines.push(line);
    else groups.push({ label, lines: [line] });
  }
  return groups;
}
