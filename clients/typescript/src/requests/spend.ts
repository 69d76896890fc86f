// What runs have cost.
import type { Spend, SpendOptions, SpendTotal } from "../types/reports.ts";
import type { ApiClient } from "./client.ts";
import { fields, list, number, readBody, text, unreadable } from "./jsonFields.ts";

export async function fetchSpend(client: ApiClient, options: SpendOptions = {}): Promise<Spend> {
  const body = await readBody(await client.request(addressOf(options, "json")));
  return {
    firstDay: text(body.first_day),
    lastDay: text(body.last_day),
    groupBy: text(body.group_by),
    isAll: body.all_owners === true,
    rows: list(body.rows).map((row) => ({
      key: text(fields(row).key),
      name: text(fields(row).name) || undefined,
      ...parseTotal(row),
    })),
    total: parseTotal(body.total),
  };
}

export async function fetchSpendCsv(client: ApiClient, options: SpendOptions = {}): Promise<string> {
  const response = await client.request(addressOf(options, "csv"));
  if (!response.headers.get("content-type")?.startsWith("text/csv")) throw unreadable();
  return response.text();
}

function addressOf({ groupBy = "day", from, to }: SpendOptions, format: string): string {
  const query = new URLSearchParams({ group_by: groupBy, format });
  for (const [name, day] of Object.entries({ from, to })) if (day !== undefined) query.set(name, dayOf(day));
  return `/api/spend?${query}`;
}

const dayOf = (day: Date | string): string => (typeof day === "string" ? day : day.toISOString().slice(0, 10));

function parseTotal(value: unknown): SpendTotal {
  const total = fields(value);
  return {
    runs: number(total.runs) ?? 0,
    cost: number(total.cost) ?? 0,
    estimated: number(total.estimated) ?? 0,
    estimatedRuns: number(total.estimated_runs) ?? 0,
  };
}
