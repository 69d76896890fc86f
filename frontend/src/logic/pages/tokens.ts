// The texts and form fields of API tokens and groups.
import type { ApiToken, Limits } from "../../types/operator.ts";
import type { Lamp } from "../answer/stops.ts";
import { cost, plural } from "../wording/statusAndAmounts.ts";

/** Whether the server accepts the token. A group's own expiry is not included. */
export function tokenStatus({ revoked, expires }: ApiToken, now: number): { lamp: Lamp; words: string } {
  if (revoked !== undefined) return { lamp: "failed", words: `Revoked ${dateOf(revoked)}` };
  if (expires === undefined) return { lamp: "done", words: "Valid" };
  return expires <= now
    ? { lamp: "waiting", words: `Expired ${dateOf(expires)}` }
    : { lamp: "done", words: `Valid until ${dateOf(expires)}` };
}

export const dateOf = (ms: number): string => new Date(ms).toLocaleDateString("en-CA");

/** The limits as short phrases. Empty if there are none. */
export function limitTexts({ budgetDay, budgetMonth, rateLimit, maxRuns, models, tools }: Limits): readonly string[] {
  return [
    budgetDay === undefined ? "" : `${cost(budgetDay)} per day`,
    budgetMonth === undefined ? "" : `${cost(budgetMonth)} per month`,
    rateLimit ?? "",
    maxRuns === undefined ? "" : `${plural(maxRuns, "run")} at once`,
    models === undefined ? "" : `models ${models.join(", ") || "none"}`,
    tools === undefined ? "" : `tools ${tools.join(", ") || "none"}`,
  ].filter(Boolean);
}

/** The texts of a form's fields by their names in requests. */
export type FormTexts = Readonly<Record<string, string>>;

const amount = (value: number | undefined): string => (value === undefined ? "" : String(value));
const NONE = "none";
const patterns = (value: readonly string[] | undefined): string =>
  value === undefined ? "" : value.join(", ") || NONE;

/** What a form shows for existing limits. */
export const limitFields = (limits: Limits): FormTexts => ({
  budget_day: amount(limits.budgetDay),
  budget_month: amount(limits.budgetMonth),
  rate_limit: limits.rateLimit ?? "",
  max_runs: amount(limits.maxRuns),
  models: patterns(limits.models),
  tools: patterns(limits.tools),
});

export const dateField = (ms: number | undefined): string => (ms === undefined ? "" : dateOf(ms));

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  budget_day: Number,
  budget_month: Number,
  max_runs: Number,
  models: patternsOf,
  tools: patternsOf,
  expires: endOfDay,
};

/** The JSON fields of a form. An empty field is `null`: no limit, no group, no expiry. */
export function requestFields(texts: FormTexts): Readonly<Record<string, unknown>> {
  const entries = Object.entries(texts).map(([name, raw]) => {
    const text = raw.trim();
    return [name, text === "" ? null : (READERS[name] ?? String)(text)];
  });
  return Object.fromEntries(entries);
}

function patternsOf(text: string): readonly string[] {
  const words = text.split(/[\s,]+/).filter(Boolean);
  return words.length === 1 && words[0] === NONE ? [] : words;
}

/** A token is valid on the whole day, in local time. The API's times are in seconds. */
function endOfDay(date: string): number {
  return Math.floor(new Date(`${date}T23:59:59`).getTime() / 1000);
}
