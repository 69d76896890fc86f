// The sessions of people who have signed in: lists them and ends them.
import type { Page } from "../../logic/pages/pagedLog.ts";
import type { Session } from "../../types/sessions.ts";
import { PagedLog } from "./pagedLog.ts";
import { type Json, list, sendJson, text, time } from "./request.ts";

const PATH = "/api/sessions";
const PAGE = 50;

export const sessionList = (): PagedLog<Session> => new PagedLog({ fetchPage, idOf: ({ id }) => id });

/** Throws ApiError. */
export async function endSession(id: string): Promise<void> {
  await sendJson("DELETE", `${PATH}/${encodeURIComponent(id)}`);
}

async function fetchPage(before: string | undefined): Promise<Page<Session>> {
  const query = new URLSearchParams({ limit: String(PAGE), ...(before && { before }) });
  const { sessions, next } = await sendJson("GET", `${PATH}?${query}`);
  return { items: list(sessions).map(parseSession), next: text(next) || undefined };
}

const parseSession = (json: Json): Session => ({
  id: text(json.id),
  owner: text(json.owner),
  name: text(json.name),
  isOperator: json.role === "operator",
  created: time(json.created) ?? 0,
  used: time(json.used) ?? 0,
  ends: time(json.ends) ?? 0,
  isCurrent: json.current === true,
});
