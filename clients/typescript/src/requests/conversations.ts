// Requests for conversations: list, search, load, change, delete, export.

import type { AnswerRun, ChatNode, Conversation, ConversationLine, Picture } from "../types/api.ts";
import type { ApiClient } from "./client.ts";
import { fields, type Json, list, number, readBody, text, time } from "./jsonFields.ts";

const LIST = "/api/conversations";
const LONGEST_SEARCH = 200;

export interface ListOptions {
  search?: string;
  /** The `next` of the previous page. */
  before?: string;
  limit?: number;
  signal?: AbortSignal;
}

export interface ConversationPage {
  lines: readonly ConversationLine[];
  /** The `before` of the next page. Undefined on the last page. */
  next: string | undefined;
}

export async function fetchConversations(client: ApiClient, options: ListOptions = {}): Promise<ConversationPage> {
  const query = new URLSearchParams();
  if (options.search) query.set("search", [...options.search].slice(0, LONGEST_SEARCH).join(""));
  if (options.before) query.set("before", options.before);
  if (options.limit) query.set("limit", String(options.limit));
  const init = options.signal ? { signal: options.signal } : {};
  const body = await readBody(await client.request(query.size ? `${LIST}?${query}` : LIST, init));
  return { lines: list(body.conversations).flatMap(parseLine), next: text(body.next) || undefined };
}

/** A conversation with all its branches, in order of creation. */
export async function fetchConversation(client: ApiClient, id: string): Promise<Conversation> {
  const body = await readBody(await client.request(addressOf(id)));
  return {
    id: text(body.id) || id,
    title: text(body.title),
    leafId: text(body.leaf_id) || null,
    nodes: list(body.messages).flatMap(parseNode),
  };
}

/** Create an empty conversation. If there is one with this id, it stays as it is. */
export async function createConversation(
  client: ApiClient,
  id: string,
  title?: string,
): Promise<Pick<Conversation, "id" | "title">> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ id, title });
  const created = await readBody(await client.request(LIST, { method: "POST", headers, body }));
  return { id: text(created.id) || id, title: text(created.title) };
}

export const renameConversation = (client: ApiClient, id: string, title: string): Promise<void> =>
  change(client, id, { title });

/** Choose the node that the next message follows. */
export const chooseLeaf = (client: ApiClient, id: string, leafId: string): Promise<void> =>
  change(client, id, { leaf_id: leafId });

/** Also stops its running answers. Saved answers stay. */
export async function deleteConversation(client: ApiClient, id: string): Promise<{ savesKept: number }> {
  const body = await readBody(await client.request(addressOf(id), { method: "DELETE" }));
  return { savesKept: number(body.saves_kept) ?? 0 };
}

export interface ExportedFile {
  name: string;
  type: string;
  text: string;
}

export async function exportConversation(
  client: ApiClient,
  id: string,
  format: "markdown" | "json",
): Promise<ExportedFile> {
  const response = await client.request(`${addressOf(id)}/export?format=${format}`);
  const named = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
  return {
    name: named ?? `conversation.${format === "json" ? "json" : "md"}`,
    type: response.headers.get("content-type") ?? (format === "json" ? "application/json" : "text/markdown"),
    text: await response.text(),
  };
}

const addressOf = (id: string): string => `${LIST}/${encodeURIComponent(id)}`;

async function change(client: ApiClient, id: string, wanted: Json): Promise<void> {
  const headers = { "content-type": "application/json" };
  await client.request(addressOf(id), { method: "PATCH", headers, body: JSON.stringify(wanted) });
}

function parseLine(value: unknown): ConversationLine[] {
  const line = fields(value);
  const [id, updated] = [text(line.id), time(line.updated)];
  if (!id || updated === undefined) return [];
  return [
    {
      id,
      title: text(line.title),
      created: time(line.created) ?? updated,
      updated,
      messages: number(line.messages) ?? 0,
      cost: number(line.cost),
      paid: number(line.paid),
      model: text(line.model),
      isRunning: line.is_running === true,
      match: text(line.match) || undefined,
    },
  ];
}

function parseNode(value: unknown): ChatNode[] {
  const node = fields(value);
  const id = text(node.id);
  if (!id) return [];
  const base = { id, parentId: text(node.parent_id) || null, created: time(node.created) ?? 0, text: text(node.text) };
  if (node.role === "assistant") return [{ ...base, role: "assistant", run: parseRun(node) }];
  if (node.role !== "user") return [];
  return [{ ...base, role: "user", ...parseParts(id, list(node.parts)), system: text(node.system) || undefined }];
}

/** The id of an answer is its run's id. Answers from another client's history have no run. */
function parseRun(node: Json): AnswerRun | undefined {
  if (!text(node.run_id)) return undefined;
  const [created, ended] = [time(node.created), time(node.ended)];
  return {
    status: text(node.status) || "running",
    code: text(node.code) || undefined,
    model: text(node.model),
    loop: text(node.loop),
    cost: number(node.cost),
    costEstimated: node.cost_estimated === true,
    simulated: node.simulated === true,
    steps: number(node.steps) ?? 0,
    firstTokenMs: number(node.first_token_ms),
    provider: text(node.provider) || undefined,
    column: number(node.column),
    ms: created === undefined || ended === undefined ? undefined : ended - created,
  };
}

/** The page sends requests only to its own server, so remote images are listed by name. */
export function parseParts(nodeId: string, parts: readonly unknown[]): { pictures: Picture[]; files: string[] } {
  const [pictures, files]: [Picture[], string[]] = [[], []];
  for (const value of parts) {
    const part = fields(value);
    const url = text(fields(part.image_url).url);
    if (part.type === "file") files.push(text(fields(part.file).filename) || "A file");
    else if (part.type !== "image_url") continue;
    else if (!/^data:image\//i.test(url)) files.push(nameOf(url));
    else pictures.push({ id: `${nodeId}-${pictures.length + 1}`, name: `Image ${pictures.length + 1}`, url });
  }
  return { pictures, files };
}

/** `cat.png` for https://example.org/cat.png, or the host if there is no file name. */
function nameOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url?.host) return "An image";
  const last = url.pathname.split("/").at(-1);
  if (!last) return url.host;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
