// What the operator page shows, besides runs.

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

export interface SpendTotal {
  runs: number;
  /** USD. */
  cost: number;
  /** The part of `cost` that may still change. */
  estimated: number;
}

export interface SpendRow extends SpendTotal {
  /** A token's or a person's id, a group, a model, or a UTC day. Empty for runs without one. */
  key: string;
  /** The name of the token. */
  name: string | undefined;
}

export interface Spend {
  /** The first and the last UTC day, such as 2026-11-28. */
  firstDay: string;
  lastDay: string;
  rows: readonly SpendRow[];
  total: SpendTotal;
}

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
