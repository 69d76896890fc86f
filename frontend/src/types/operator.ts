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
}
