// The costs of runs: the time to add up, the texts of the rows, the chart, and what is left of budgets.
import type { ApiToken, Group, Limits, Spend, SpendBy, SpendRow, Spent } from "../../types/operator.ts";
import type { Chart } from "./runStats.ts";

export const SPEND_PERIODS = [
  ["month", "This month"],
  ["last-month", "Last month"],
  ["7d", "Last 7 days"],
  ["30d", "Last 30 days"],
  ["custom", "From … to …"],
] as const;

export type SpendPeriod = (typeof SPEND_PERIODS)[number][0];

/** The first and the last UTC day, inclusive. */
export interface Days {
  first: string;
  last: string;
}

const DAY_MS = 86_400_000;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The days of a period that ends today. `now` is in epoch milliseconds. */
export function daysOf(period: Exclude<SpendPeriod, "custom">, now: number): Days {
  const today = dayOf(now);
  if (period === "7d") return { first: dayOf(now - 6 * DAY_MS), last: today };
  if (period === "30d") return { first: dayOf(now - 29 * DAY_MS), last: today };
  const first = `${today.slice(0, 7)}-01`;
  if (period === "month") return { first, last: today };
  const last = dayOf(Date.parse(first) - DAY_MS);
  return { first: `${last.slice(0, 7)}-01`, last };
}

export const GROUPINGS: readonly (readonly [SpendBy, string])[] = [
  ["owner", "By user"],
  ["group", "By group"],
  ["model", "By model"],
  ["day", "By day"],
];

/** For a token or a person who is not the operator. */
export const OWN_GROUPINGS = GROUPINGS.filter(([by]) => by === "model" || by === "day");

export const KEY_HEADS: Record<SpendBy, string> = { owner: "User", group: "Group", model: "Model", day: "Day (UTC)" };
const WITHOUT: Record<SpendBy, string> = { owner: "No API token", group: "No group", model: "Unknown", day: "Unknown" };

/** A user is a token by its name, or a person who signs in by the id. */
export const rowName = (by: SpendBy, { key, name }: SpendRow): string =>
  name || key.replace(/^user:/, "") || WITHOUT[by];

/** "12%" of all costs. */
export function shareText(part: number, all: number): string {
  if (all <= 0) return "";
  const percent = (part / all) * 100;
  return percent > 0 && percent < 1 ? "<1%" : `${Math.round(percent)}%`;
}

/** One bar per day, also for days without runs. */
export function spendChart({ firstDay, lastDay, rows }: Pick<Spend, "firstDay" | "lastDay" | "rows">): Chart {
  const costs = new Map(rows.map(({ key, cost }) => [key, cost]));
  const count = Math.max(0, Math.round((Date.parse(lastDay) - Date.parse(firstDay)) / DAY_MS) + 1);
  const days = Array.from({ length: count }, (_, index) => Date.parse(firstDay) + index * DAY_MS);
  return {
    title: "Cost per day (UTC)",
    unit: "usd",
    isStacked: true,
    times: days.map((ms) => ms / 1000),
    series: [{ name: "Cost", tone: "v2", isDashed: false, values: days.map((ms) => costs.get(dayOf(ms)) ?? 0) }],
  };
}

/** What an account has used of one budget. */
export interface Usage {
  used: number;
  budget: number;
  left: number;
}

export interface BudgetLine {
  id: string;
  name: string;
  kind: "Token" | "Group";
  day: Usage | undefined;
  month: Usage | undefined;
}

const hasBudget = ({ budgetDay, budgetMonth }: Limits): boolean => budgetDay !== undefined || budgetMonth !== undefined;

const usage = (budget: number | undefined, used = 0): Usage | undefined =>
  budget === undefined ? undefined : { used, budget, left: Math.max(0, budget - used) };

/** The valid tokens and the groups that have a budget, groups first. */
export function budgetLines(
  tokens: readonly ApiToken[],
  groups: readonly Group[],
  spent: { owner: Spent; group: Spent },
): readonly BudgetLine[] {
  const line = (kind: BudgetLine["kind"], id: string, limits: Group, { day, month }: Spent): BudgetLine => ({
    id: `${kind} ${id}`,
    name: limits.name,
    kind,
    day: usage(limits.budgetDay, day.get(id)),
    month: usage(limits.budgetMonth, month.get(id)),
  });
  return [
    ...groups.filter(hasBudget).map((group) => line("Group", group.name, group, spent.group)),
    ...tokens
      .filter((token) => token.revoked === undefined && hasBudget(token))
      .map((token) => line("Token", token.id, token, spent.owner)),
  ];
}
