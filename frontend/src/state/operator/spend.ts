// Loads what runs cost, and what is used of budgets.
import { fetchSpendCsv, fetchSpend as request } from "@signalbox/client/requests";
import { type BudgetLine, budgetLines, type Days } from "../../logic/pages/spend.ts";
import type { Spend, SpendBy, Spent } from "../../types/operator.ts";
import { saveFile } from "../download.ts";
import { connect } from "../server/server.ts";
import { runToken } from "../server/session.ts";
import { fetchGroups, fetchTokens } from "./tokenRequests.ts";

/** Without days: this month. */
export const fetchSpend = (by: SpendBy, days?: Days): Promise<Spend> => request(connect(runToken), options(by, days));

/** A link could not send the token, so the file is fetched first. */
export async function downloadSpend(by: SpendBy, days: Days): Promise<void> {
  const csv = await fetchSpendCsv(connect(runToken), options(by, days));
  saveFile(`spend-by-${by}-${days.first}-${days.last}.csv`, "text/csv", csv);
}

const options = (by: SpendBy, days: Days | undefined) => ({
  groupBy: by,
  ...(days && { from: days.first, to: days.last }),
});

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
