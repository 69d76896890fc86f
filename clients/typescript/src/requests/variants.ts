// Starts several runs that answer one question.

import type { ApiClient } from "./client.ts";
import { fields, type Json, list, number, readBody, text, unreadable } from "./jsonFields.ts";

/** Why a variant was refused. */
export interface VariantError {
  code: string;
  message: string;
  retryable: boolean;
}

/** A variant has either a run or an error. */
export type StartedVariant = { model: string } & (
  | {
      runId: string;
      /** The position among all runs that answer the question, from 1. */
      number: number;
      error?: undefined;
    }
  | { error: VariantError; runId?: undefined; number?: undefined }
);

export interface StartedVariants {
  conversationId: string;
  /** The message that the runs answer. */
  messageId: string;
  /** In the order of the request. */
  variants: readonly StartedVariant[];
}

/** Start the runs. With the same key, the server responds with the runs that it has started. */
export async function startVariants(client: ApiClient, body: object, key: string): Promise<StartedVariants> {
  const headers = { "content-type": "application/json", "idempotency-key": key };
  const started = await readBody(
    await client.request("/api/chat/variants", { method: "POST", headers, body: JSON.stringify(body) }),
  );
  return {
    conversationId: text(started.conversation_id),
    messageId: text(started.parent_id),
    variants: list(started.variants).map((one) => parseVariant(fields(one))),
  };
}

function parseVariant(variant: Json): StartedVariant {
  const model = text(variant.model);
  const runId = text(variant.run_id);
  if (runId) return { model, runId, number: number(variant.number) ?? 0 };
  const error = fields(variant.error);
  if (!text(error.code)) throw unreadable();
  return {
    model,
    error: { code: text(error.code), message: text(error.message), retryable: error.retryable === true },
  };
}
