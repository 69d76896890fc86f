// Loads what runs cost, and what is used of budgets.
import { type BudgetLine, budgetLines, type Days } from "../../logic/pages/spend.ts";
import type { Spend, SpendBy, SpendRow, SpendTotal, Spent } from "../../types/operator.ts";
import { saveBlob } from "../download.ts";
import { fields, type Json, list, number, send, sendJson, text } from "./request.ts";
import { fetchGroups, fetchTokens } from "./tokenRequests.ts";

/** Without days: this month. */
export async function fetchSpend(by: SpendBy, days?: Days): Promise<Spend> {
  return parseSpend(await sendJson("GET", spendPath(by, days)));
}

/** A link could not send the token, so the file is fetched first. */
export async function downloadSpend(by: SpendBy, days: Days): Promise<void> {
  const response = await send("GET", `${spendPath(by, days)}&format=csv`);
  saveBlob(`spend-by-${by}-${days.first}-${days.last}.csv`, await response.blob());
}

/** The tokens and groups with a budget, and what is left of it. */
export async function fetchBudgets(): Promise<readonly BudgetLine[]> {
  const [tokens, groups, owner, group] = await Promise.all([
    fetchTokens(),
    fetchGroups(),
    fetchSpent("owner"),
    fetchSpent("group"),
  ]);
  return budgetLines(tokens, groups, { owner, group });
}

async function fetchSpent(by: SpendBy): Promise<Spent> {
  const month = await fetchSpend(by);
  // The server's day, not that of this clock.
  const day = await fetchSpend(by, { first: month.lastDay, last: month.lastDay });
  const costs = ({ rows }: Spend) => new Map(rows.map(({ key, cost }) => [key, cost]));
  return { day: costs(day), month: costs(month) };
}

const spendPath = (by: SpendBy, days: Days | undefined): string =>
  `/api/spend?${new URLSearchParams({ group_by: by, ...(days && { from: days.first, to: days.last }) })}`;

const parseSpend = ({ first_day, last_day, rows, total }: Json): Spend => ({
  firstDay: text(first_day),
  lastDay: text(last_day),
  rows: list(rows).map(parseRow),
  total: parseTotal(fields(total)),
});

const parseRow = (row: Json): SpendRow => ({
  key: text(row.key),
  name: text(row.name) || undefined,
  ...parseTotal(row),
});

const parseTotal = ({ runs, cost, estimated }: Json): SpendTotal => ({
  runs: number(runs),
  cost: number(cost),
  estimated: number(estimated),
});
