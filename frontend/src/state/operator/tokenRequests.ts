// Requests for API tokens and groups.
import type { ApiToken, Group, Limits } from "../../types/operator.ts";
import { connect } from "../server/server.ts";
import { runToken } from "../server/session.ts";

/** What the fields of a form say. `null` removes a limit. */
export type Fields = Readonly<Record<string, unknown>>;

/** A token with its text, which no other response contains. */
export interface Secret {
  name: string;
  text: string;
}

type Json = Readonly<Record<string, unknown>>;

const client = () => connect(runToken);

async function send(method: string, path: string, body?: Fields): Promise<Json> {
  const response = await client().request(path, {
    method,
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  return (await response.json()) as Json;
}

const tokenPath = (id: string): string => `/api/tokens/${encodeURIComponent(id)}`;
const groupPath = (name: string): string => `/api/groups/${encodeURIComponent(name)}`;

export async function fetchTokens(): Promise<readonly ApiToken[]> {
  const { tokens } = await send("GET", "/api/tokens");
  return list(tokens).map(parseToken);
}

export async function fetchGroups(): Promise<readonly Group[]> {
  const { groups } = await send("GET", "/api/groups");
  return list(groups).map(parseGroup);
}

export async function createToken(fields: Fields): Promise<Secret> {
  return secretOf(await send("POST", "/api/tokens", fields));
}

export async function changeToken(id: string, fields: Fields): Promise<void> {
  await send("PATCH", tokenPath(id), fields);
}

export async function rotateToken(id: string, graceSeconds: number): Promise<Secret> {
  return secretOf(await send("POST", `${tokenPath(id)}/rotate`, { grace_seconds: graceSeconds }));
}

export async function revokeToken(id: string): Promise<void> {
  await send("DELETE", tokenPath(id));
}

export async function putGroup(name: string, fields: Fields): Promise<void> {
  await send("PUT", groupPath(name), fields);
}

export async function deleteGroup(name: string): Promise<void> {
  await send("DELETE", groupPath(name));
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const time = (value: unknown): number | undefined => (typeof value === "number" ? value * 1000 : undefined);
const texts = (value: unknown): readonly string[] | undefined => (Array.isArray(value) ? value.map(text) : undefined);

const secretOf = ({ name, token }: Json): Secret => ({ name: text(name), text: text(token) });

const limitsOf = (json: Json): Limits => ({
  budgetDay: number(json.budget_day),
  budgetMonth: number(json.budget_month),
  rateLimit: text(json.rate_limit) || undefined,
  maxRuns: number(json.max_runs),
  models: texts(json.models),
  tools: texts(json.tools),
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
});
