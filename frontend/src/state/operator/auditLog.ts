// The audit log: all changes that match a filter, or those of the rollout.
import { type AuditFilter, auditParameters } from "../../logic/pages/audit.ts";
import type { Page } from "../../logic/pages/pagedLog.ts";
import type { AuditEntry } from "../../types/operator.ts";
import { PagedLog } from "./pagedLog.ts";
import { fields, type Json, known, list, number, sendJson, text } from "./request.ts";

const PAGE = 20;

export const auditLog = (filter: AuditFilter): PagedLog<AuditEntry> =>
  logOf("/api/audit", () => auditParameters(filter, Date.now()));

export const rolloutAuditLog = (): PagedLog<AuditEntry> => logOf("/api/rollout/audit", () => new URLSearchParams());

function logOf(path: string, parameters: () => URLSearchParams): PagedLog<AuditEntry> {
  const fetchPage = async (before: string | undefined): Promise<Page<AuditEntry>> => {
    const query = parameters();
    query.set("limit", String(PAGE));
    if (before !== undefined) query.set("before", before);
    const { entries, next } = await sendJson("GET", `${path}?${query}`);
    return { items: list(entries).map(parseEntry), next: known(next)?.toString() };
  };
  return new PagedLog({ fetchPage, idOf: ({ id }) => String(id) });
}

const parseEntry = ({ id, at, actor, action, details }: Json): AuditEntry => ({
  id: number(id),
  at: number(at) * 1000,
  actor: text(actor),
  action: text(action),
  details: fields(details),
});
