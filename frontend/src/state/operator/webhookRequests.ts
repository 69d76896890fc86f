// Requests for webhooks and their deliveries.
import type { Page } from "../../logic/pages/pagedLog.ts";
import type { Attempt, Delivery, Webhook, WebhookFields } from "../../types/webhooks.ts";
import { type Json, known, list, number, sendJson, text, texts, time } from "./request.ts";

const PATH = "/api/webhooks";
const PAGE = 20;
const pathOf = (id: string): string => `${PATH}/${encodeURIComponent(id)}`;

export async function fetchWebhooks(): Promise<readonly Webhook[]> {
  return list((await sendJson("GET", PATH)).webhooks).map(parseWebhook);
}

/** Returns the secret, which no other response contains. */
export async function createWebhook(fields: WebhookFields): Promise<string> {
  return text((await sendJson("POST", PATH, fields)).secret);
}

export async function changeWebhook(id: string, fields: WebhookFields): Promise<void> {
  await sendJson("PATCH", pathOf(id), fields);
}

/** Returns the new secret. */
export async function rotateWebhook(id: string, graceSeconds: number): Promise<string> {
  return text((await sendJson("POST", `${pathOf(id)}/rotate`, { grace_seconds: graceSeconds })).secret);
}

export async function deleteWebhook(id: string): Promise<void> {
  await sendJson("DELETE", pathOf(id));
}

export async function testWebhook(id: string): Promise<Delivery> {
  return parseDelivery(await sendJson("POST", `${pathOf(id)}/test`));
}

export async function fetchDeliveries(id: string, before: string | undefined): Promise<Page<Delivery>> {
  const query = new URLSearchParams({ limit: String(PAGE), ...(before && { before }) });
  const { deliveries, next } = await sendJson("GET", `${pathOf(id)}/deliveries?${query}`);
  return { items: list(deliveries).map(parseDelivery), next: text(next) || undefined };
}

const parseWebhook = (json: Json): Webhook => ({
  id: text(json.id),
  url: text(json.url),
  events: texts(json.events),
  description: text(json.description),
  isActive: json.active === true,
  disabled: text(json.disabled) || undefined,
  created: time(json.created) ?? 0,
  formerUntil: time(json.former_until),
});

const parseDelivery = (json: Json): Delivery => ({
  id: text(json.id),
  kind: text(json.kind),
  state: json.state === "delivered" || json.state === "failed" ? json.state : "pending",
  created: time(json.created) ?? 0,
  ended: time(json.ended),
  nextAttempt: time(json.next_attempt),
  attempts: list(json.attempts).map(parseAttempt),
});

const parseAttempt = ({ at, status, error, milliseconds }: Json): Attempt => ({
  at: time(at) ?? 0,
  status: known(status),
  error: text(error) || undefined,
  ms: number(milliseconds),
});
