// The texts of audit entries, and the filter of the audit log.
import type { AuditEntry } from "../../types/operator.ts";
import { PERIODS } from "./runFilter.ts";
import { dateOf } from "./tokens.ts";

/** "rollout.rolled_back" as "Rollout rolled back". */
export function actionText(action: string): string {
  const words = action.replace(/[._]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

type Value = unknown;

const isFields = (value: Value): value is Readonly<Record<string, Value>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isSimple = (value: Value): boolean =>
  Array.isArray(value) ? value.every((one) => typeof one !== "object") : typeof value !== "object";

const nameText = (name: string): string => name.replace(/_/g, " ");

function valueText(name: string, value: Value): string {
  if (value === null || value === undefined) return "not set";
  if (Array.isArray(value)) return value.join(", ") || "none";
  return name === "expires" && typeof value === "number" ? dateOf(value * 1000) : String(value);
}

/** "budget day: 5 → 10", from the fields of `changed`. */
function changeTexts(changed: Value): readonly string[] {
  if (!isFields(changed)) return [];
  return Object.entries(changed).map(([name, change]) => {
    const { from: before, to: after } = isFields(change) ? change : { from: undefined, to: change };
    return `${nameText(name)}: ${valueText(name, before)} → ${valueText(name, after)}`;
  });
}

/** The details as short phrases, without the plan's id. Others are in the JSON of the entry. */
export const detailsText = ({ details: { plan: _, changed, ...rest } }: AuditEntry): string =>
  [
    ...Object.entries(rest)
      .filter(([, value]) => value !== null && isSimple(value))
      .map(([name, value]) => `${nameText(name)}: ${valueText(name, value)}`),
    ...changeTexts(changed),
  ].join(" · ");

/** The entry has details that are no short phrases, such as the figures of a rollout. */
export const hasFigures = ({ details: { changed: _, ...rest } }: AuditEntry): boolean =>
  Object.values(rest).some((value) => value !== null && !isSimple(value));

export const AUDIT_TOPICS = [
  { value: "", words: "All changes", actions: [] },
  {
    value: "loop",
    words: "Tool loop and rollout",
    actions: [
      "flag.set",
      "rollout.started",
      "rollout.promoted",
      "rollout.finished",
      "rollout.stepped_back",
      "rollout.regression",
      "rollout.rolled_back",
      "rollout.overridden",
      "rollout.ended",
    ],
  },
  {
    value: "tokens",
    words: "Tokens and groups",
    actions: [
      "token.created",
      "token.changed",
      "token.rotated",
      "token.revoked",
      "group.created",
      "group.changed",
      "group.deleted",
    ],
  },
  {
    value: "webhooks",
    words: "Webhooks",
    actions: ["webhook.created", "webhook.changed", "webhook.rotated", "webhook.deleted"],
  },
  { value: "upstreams", words: "Upstreams", actions: ["upstreams.reloaded"] },
  { value: "sessions", words: "Sessions", actions: ["session.ended"] },
] as const;

export type AuditTopic = (typeof AUDIT_TOPICS)[number]["value"];

export interface AuditFilter {
  topic: AuditTopic;
  /** Whose changes. Empty for all. */
  actor: string;
  /** A period that ends now. Empty for any time. */
  period: string;
}

export const ALL_CHANGES: AuditFilter = { topic: "", actor: "", period: "" };

export const isAllChanges = ({ topic, actor, period }: AuditFilter): boolean => !topic && !actor && !period;

/** The parameters of a request. `now` is in epoch milliseconds. */
export function auditParameters({ topic, actor, period }: AuditFilter, now: number): URLSearchParams {
  const actions = AUDIT_TOPICS.find(({ value }) => value === topic)?.actions ?? [];
  const parameters = new URLSearchParams(actions.map((action) => ["action", action]));
  if (actor) parameters.set("actor", actor);
  const seconds = PERIODS.find(({ value }) => value === period)?.seconds;
  if (seconds !== undefined) parameters.set("since", String(Math.floor(now / 1000) - seconds));
  return parameters;
}
