// Requests for saved answers: snapshots of a run with its message and all events.

import type { Picture, RawEvent, RunRecord, SaveLine } from "../types/api.ts";
import type { ApiClient } from "./client.ts";
import { parseParts } from "./conversations.ts";
import { fields, type Json, list, number, readBody, text, time, unreadable } from "./jsonFields.ts";
import { parseRecord } from "./runRecords.ts";

const LIST = "/api/saves";

export interface SavePage {
  lines: readonly SaveLine[];
  /** The `before` of the next page. Undefined on the last page. */
  next: string | undefined;
}

export interface SavePageOptions {
  before?: string;
  limit?: number;
  signal?: AbortSignal;
}

/** The last message of the request. */
export interface SavedQuestion {
  text: string;
  pictures: readonly Picture[];
  files: readonly string[];
  system: string | undefined;
}

/** One run of a saved answer. */
export interface SavedRun {
  runId: string;
  record: RunRecord;
  /** The events as in the stream, with `ts` if they have one. */
  events: readonly RawEvent[];
}

export interface Save extends SaveLine, SavedRun {
  question: SavedQuestion;
  /** The data that the page stored with it. */
  data: Json;
  /** The runs that it continues, oldest first. */
  earlier: readonly SavedRun[];
}

export async function fetchSaves(
  client: ApiClient,
  { before, limit, signal }: SavePageOptions = {},
): Promise<SavePage> {
  const query = new URLSearchParams();
  if (before) query.set("before", before);
  if (limit) query.set("limit", String(limit));
  const body = await readBody(await client.request(query.size ? `${LIST}?${query}` : LIST, signal ? { signal } : {}));
  return { lines: list(body.saves).flatMap(parseSaveLine), next: text(body.next) || undefined };
}

export async function fetchSave(client: ApiClient, id: string): Promise<Save> {
  const body = await readBody(await client.request(addressOf(id)));
  const record = parseRecord(body.trace);
  const runId = text(body.run_id) || record.runId;
  return {
    id: text(body.id) || id,
    runId,
    title: text(body.title),
    created: time(body.created) ?? 0,
    model: text(body.model),
    status: text(body.status),
    question: parseQuestion(runId, fields(body.question)),
    record: { ...record, runId },
    data: fields(body.data),
    earlier: list(body.earlier).map(parseSavedRun),
    events: list(body.events).flatMap(parseEvent),
  };
}

function parseSavedRun(value: unknown): SavedRun {
  const run = fields(value);
  const record = parseRecord(run.trace);
  const runId = text(run.run_id) || record.runId;
  return { runId, record: { ...record, runId }, events: list(run.events).flatMap(parseEvent) };
}

/** Save a finished run. Without a title, it gets the first words of its message. */
export async function saveRun(
  client: ApiClient,
  runId: string,
  { title, data }: { title?: string | undefined; data?: Json | undefined } = {},
): Promise<SaveLine> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ run_id: runId, title: title || undefined, data });
  const saved = await readBody(await client.request(LIST, { method: "POST", headers, body }));
  const [line] = parseSaveLine(saved);
  if (!line) throw unreadable();
  return line;
}

export async function deleteSave(client: ApiClient, id: string): Promise<void> {
  await client.request(addressOf(id), { method: "DELETE" });
}

const addressOf = (id: string): string => `${LIST}/${encodeURIComponent(id)}`;

function parseSaveLine(value: unknown): SaveLine[] {
  const line = fields(value);
  const [id, runId] = [text(line.id), text(line.run_id)];
  if (!id || !runId) return [];
  return [
    {
      id,
      runId,
      title: text(line.title),
      created: time(line.created) ?? 0,
      model: text(line.model),
      status: text(line.status),
    },
  ];
}

/** A request has a prompt, or messages whose last user message is the question. */
function parseQuestion(runId: string, question: Json): SavedQuestion {
  const asked = list(question.messages)
    .map(fields)
    .findLast(({ role }) => role === "user");
  const parts = list(asked?.content).map(fields);
  const words = parts.filter(({ type }) => type === "text").map((part) => text(part.text));
  return {
    text: text(question.prompt) || text(asked?.content) || words.join("\n\n"),
    ...parseParts(runId, parts),
    system: text(question.system) || undefined,
  };
}

/** A saved event has its number and time beside it. Text events in the stream have no time. */
function parseEvent(value: unknown): RawEvent[] {
  const { seq: numbered, at, ...event } = fields(value);
  const [seq, type, ts] = [number(numbered), text(event.type), number(at)];
  if (seq === undefined || !type) return [];
  const timed = type === "content" || ts === undefined ? event : { ts, ...event };
  return [{ seq, event: { ...timed, type } }];
}
