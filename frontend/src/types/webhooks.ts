// The receivers of events, and what was sent to them.

export interface Webhook {
  id: string;
  url: string;
  events: readonly string[];
  description: string;
  isActive: boolean;
  /** Why Signalbox made it inactive, such as GONE. */
  disabled: string | undefined;
  /** Epoch milliseconds, as all times. */
  created: number;
  /** Until when requests are also signed with the secret before the last rotation. */
  formerUntil: number | undefined;
}

export interface Attempt {
  at: number;
  /** The HTTP status. Undefined without a response. */
  status: number | undefined;
  /** A code. Undefined if the attempt succeeded. */
  error: string | undefined;
  ms: number;
}

export interface Delivery {
  id: string;
  kind: string;
  state: "pending" | "delivered" | "failed";
  created: number;
  ended: number | undefined;
  nextAttempt: number | undefined;
  attempts: readonly Attempt[];
}

/** What the form of a webhook sends. */
export interface WebhookFields {
  url: string;
  events: readonly string[];
  description: string;
  active: boolean;
}
