// Requests for API tokens and groups.
import type { ApiToken, Group, Limits } from "../../types/operator.ts";
import { type Json, known, list, sendJson, text, texts, time } from "./request.ts";

/** What the fields of a form say. `null` removes a limit. */
export type Fields = Readonly<Record<string, unknown>>;

/** A token with its text, which no other response contains. */
export interface Secret {
  name: string;
  text: string;
}

const tokenPath = (id: string): string => `/api/tokens/${encodeURIComponent(id)}`;
const groupPath = (name: string): string => `/api/groups/${encodeURIComponent(name)}`;

export async function fetchTokens(): Promise<readonly ApiToken[]> {
  const { tokens } = await sendJson("GET", "/api/tokens");
  return list(tokens).map(parseToken);
}

export async function fetchGroups(): Promise<readonly Group[]> {
  const { groups } = await sendJson("GET", "/api/groups");
  return list(groups).map(parseGroup);
}

export async function createToken(fields: Fields): Promise<Secret> {
  return secretOf(await sendJson("POST", "/api/tokens", fields));
}

export async function changeToken(id: string, fields: Fields): Promise<void> {
  await sendJson("PATCH", tokenPath(id), fields);
}

export async function rotateToken(id: string, graceSeconds: number): Promise<Secret> {
  return secretOf(await sendJson("POST", `${tokenPath(id)}/rotate`, { grace_seconds: graceSeconds }));
}

export async function revokeToken(id: string): Promise<void> {
  await sendJson("DELETE", tokenPath(id));
}

export async function putGroup(name: string, fields: Fields): Promise<void> {
  await sendJson("PUT", groupPath(name), fields);
}

export async function deleteGroup(name: string): Promise<void> {
  await sendJson("DELETE", groupPath(name));
}

const secretOf = ({ name, token }: Json): Secret => ({ name: text(name), text: text(token) });

/** No list is no limit. An empty one allows nothing. */
const patterns = (value: unknown): readonly string[] | undefined => (Array.isArray(value) ? texts(value) : undefined);

const limitsOf = (json: Json): Limits => ({
  budgetDay: known(json.budget_day),
  budgetMonth: known(json.budget_month),
  rateLimit: text(json.rate_limit) || undefined,
  maxRuns: known(json.max_runs),
  models: patterns(json.models),
  tools: patterns(json.tools),
});

const parseGroup = (json: Json): Group => ({
  name: text(json.name),
  created: time(json.created) ?? 0,
  expires: time(json.expires),
  ...limitsOf(json),
});

const parseToken = (json: Json): ApiToken => ({
  ...parseGroup(json),
  id: text(json.id),
  group: text(json.group) || undefined,
  revoked: time(json.revoked),
  formerUntil: time(json.former_until),
  lastUsed: time(json.last_used_at),
});
