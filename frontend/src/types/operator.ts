// What the operator page shows, besides runs.
export type { Spend, SpendRow, SpendTotal } from "@signalbox/client";

/** The limits of a token or a group. Undefined is no limit. */
export interface Limits {
  /** USD per UTC day. */
  budgetDay: number | undefined;
  /** USD per UTC month. */
  budgetMonth: number | undefined;
  /** As in SIGNALBOX_RATE_LIMIT. */
  rateLimit: string | undefined;
  maxRuns: number | undefined;
  /** Patterns. */
  models: readonly string[] | undefined;
  tools: readonly string[] | undefined;
}

export interface Group extends Limits {
  name: string;
  /** Epoch milliseconds, as all times. */
  created: number;
  expires: number | undefined;
}

export interface ApiToken extends Group {
  id: string;
  group: string | undefined;
  revoked: number | undefined;
  /** Until when the secret before the last rotation is accepted. */
  formerUntil: number | undefined;
  lastUsed: number | undefined;
}

/** By what costs are added up. */
export type SpendBy = "owner" | "group" | "model" | "day";

/** Costs by account, in USD. */
export interface Spent {
  day: ReadonlyMap<string, number>;
  month: ReadonlyMap<string, number>;
}

/** What someone has changed. */
export interface AuditEntry {
  id: number;
  at: number;
  actor: string;
  /** Such as token.created. */
  action: string;
  details: Readonly<Record<string, unknown>>;
}
