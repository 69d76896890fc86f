// The facts of a run for the inspector, its export, and the request settings that it used.

import type { RawEvent, RunRecord } from "../../types/api.ts";
import {
  type Attempt,
  type ChatNode,
  EFFORTS,
  type Effort,
  type Parameters,
  type RequestSettings,
  type Tool,
} from "../../types/api.ts";
import type { RunEnd, RunTrace, WarningItem } from "../../types/models.ts";
import type { Lamp } from "../answer/stops.ts";
import { isFileTool, PARAMETER_NAMES } from "../request/parameters.ts";
import { formatOfWire } from "../request/responseFormat.ts";
import { choiceOfWire } from "../request/toolChoice.ts";
import { TITLES } from "../wording/failureText.ts";
import { protocolLabel } from "../wording/protocolLabel.ts";
import { costText, count, duration, endingOf, loopText, plural } from "../wording/statusAndAmounts.ts";
import { hasEnded } from "./waterfall.ts";

export interface Fact {
  name: string;
  value: string;
  /** A remark on the value, such as "estimated" or a percentage. */
  note?: string;
  /** The value was not reported. */
  missing?: true;
}

export interface Inspected {
  trace: RunTrace | undefined;
  record: RunRecord | undefined;
  now: number;
}

export interface Status {
  lamp: Lamp;
  label: string;
}

/** The state of the run. The server's state takes precedence over the page's. */
export function statusOf({ trace, record }: Inspected): Status {
  if (!hasEnded(trace, record)) return { lamp: "running", label: "Running" };
  const end = trace?.end && !trace.end.local ? trace.end : undefined;
  const status = end?.status ?? (record && record.status !== "running" ? record.status : trace?.end?.status) ?? "";
  const code = end?.code ?? record?.code ?? trace?.end?.code;
  const { lamp, label } = endingOf({
    status,
    ...(code !== undefined && { code }),
    ...(trace?.end?.declined && { declined: true }),
  });
  return { lamp, label: label || "Complete" };
}

/** The error of the run, once. */
export function troubleOf({ trace, record }: Inspected): { message: string; code: string | undefined } | undefined {
  const end = trace?.end;
  if (end?.error) return { message: end.error, code: end.code };
  const failed = record?.attempts.findLast(({ error }) => error !== undefined);
  if (record?.code && failed?.error) return { message: failed.error, code: record.code };
  return record?.code ? { message: TITLES[record.code] ?? "The run failed.", code: record.code } : undefined;
}

/** The distinct warnings, except one that repeats the error. */
export function warningsIn(
  trace: RunTrace | undefined,
  trouble: { message: string; code: string | undefined } | undefined,
): readonly WarningItem[] {
  const warnings = (trace?.items ?? []).filter((item) => item.kind === "warning");
  return warnings.filter(
    ({ message, code }, index) =>
      message !== trouble?.message &&
      (code === undefined || code !== trouble?.code) &&
      warnings.findIndex((warning) => warning.message === message) === index,
  );
}

/** All facts of the run. `clock` formats a time. */
export function factsOf(inspected: Inspected, clock: (ms: number) => string): readonly Fact[] {
  const { trace, record } = inspected;
  const end = trace?.end;
  const isOver = hasEnded(trace, record);
  const fact = (name: string, value: string | undefined, note?: string): Fact =>
    value
      ? { name, value, ...(note && { note }) }
      : { name, value: isOver ? "unknown" : "not known yet", missing: true };
  const amount = (n: number | undefined) => (n === undefined ? undefined : count(n));
  const attempts = record?.attempts ?? [];
  const served = attempts.findLast((attempt) => attempt.servedModel ?? attempt.provider);
  const last = attempts.at(-1);
  const usage = usageOf([...attempts, ...(record?.toolAttempts ?? [])], end);
  const begun = record?.startedAt || trace?.firstAt;
  return [
    fact("Model requested", record?.model || end?.requested_model || trace?.model),
    fact("Model used", end?.model ?? served?.servedModel),
    fact("Provider", end?.provider ?? served?.provider),
    fact("Protocol", record && protocolLabel(record.protocol)),
    fact("Loop", loopText(record?.loop || trace?.loop || end?.loop, record?.flag ?? end?.flag).replace(/^loop /, "")),
    fact("Started", begun ? clock(begun) : undefined),
    totalFact(inspected, fact),
    firstFact(inspected, fact),
    fact("Speed", speedText(speedOf(attempts))),
    fact("Steps", stepText(record, end)),
    fact("Input tokens", amount(usage?.input)),
    fact("Cached input tokens", amount(usage?.cached), shareText(usage?.cached, usage?.input)),
    fact("Output tokens", amount(usage?.output)),
    fact("Reasoning tokens", amount(usage?.reasoning), shareText(usage?.reasoning, usage?.output)),
    costFact(inspected, fact),
    fact(
      "Finish reason",
      last?.finishReason,
      last?.nativeFinishReason ? `native ${last.nativeFinishReason}` : undefined,
    ),
  ];
}

type MakeFact = (name: string, value: string | undefined, note?: string) => Fact;

function totalFact({ trace, record, now }: Inspected, fact: MakeFact): Fact {
  const ms = totalMs({ trace, record, now });
  const isOver = hasEnded(trace, record);
  return fact("Total time", ms === undefined ? undefined : duration(ms), isOver ? undefined : "so far");
}

/** The run's duration by the server's clock, or else by the page's. */
export function totalMs({ trace, record, now }: Inspected): number | undefined {
  if (record?.endedAt !== undefined) return record.endedAt - record.startedAt;
  if (hasEnded(trace, record)) return trace?.totalMs;
  const begun = record?.startedAt || trace?.firstAt;
  return begun ? Math.max(0, now - begun) : undefined;
}

function firstFact({ trace, record }: Inspected, fact: MakeFact): Fact {
  const first = record?.attempts.flatMap(({ firstPartAt }) => (firstPartAt === undefined ? [] : [firstPartAt]))[0];
  if (first !== undefined && record) return fact("First token", duration(first - record.startedAt));
  const measured = trace?.firstEventMs;
  const note = trace?.end?.first_token_ms === undefined ? "measured in the browser" : undefined;
  return fact("First token", measured === undefined ? undefined : duration(measured), note);
}

const stepText = (record: RunRecord | undefined, end: RunEnd | undefined): string | undefined => {
  const attempts = record?.attempts ?? [];
  const steps = end?.steps ?? (attempts.length > 0 ? new Set(attempts.map(({ step }) => step)).size : undefined);
  if (steps === undefined) return undefined;
  return attempts.length > steps ? `${steps}, ${plural(attempts.length, "request")}` : count(steps);
};

/** Whether the simulator answered. */
export const isSimulated = ({ trace, record }: Pick<Inspected, "trace" | "record">): boolean =>
  record?.simulated ?? trace?.end?.simulated === true;

function costFact({ trace, record }: Inspected, fact: MakeFact): Fact {
  const amount = record?.cost ?? trace?.end?.cost;
  const estimated = record ? record.costEstimated : trace?.end?.cost_estimated === true;
  const note = estimated ? "estimated" : record?.settledAt !== undefined ? "final cost reported later" : undefined;
  const simulated = isSimulated({ trace, record });
  return fact("Cost", amount === undefined ? undefined : costText(amount, { simulated, estimated: false }), note);
}

interface Totals {
  input: number;
  output: number;
  reasoning: number | undefined;
  cached: number | undefined;
}

/** The sum over all attempts, including those settled later. Without attempts, the usage in `done`. */
export function usageOf(attempts: readonly Attempt[], end: RunEnd | undefined): Totals | undefined {
  const known = attempts.flatMap(({ usage }) => (usage ? [usage] : []));
  if (known.length > 0) {
    const sum = (key: "input" | "output" | "reasoning" | "cached") => known.reduce((all, usage) => all + usage[key], 0);
    return { input: sum("input"), output: sum("output"), reasoning: sum("reasoning"), cached: sum("cached") };
  }
  if (!end?.usage) return undefined;
  const { input, output, reasoning, cached } = end.usage;
  return { input, output, reasoning, cached };
}

const shareText = (part: number | undefined, whole: number | undefined): string | undefined =>
  part && whole ? `${Math.round((part / whole) * 100)}%` : undefined;

/**
 * Output tokens per second, from the first part of each attempt to its end. Attempts that were not streamed do not
 * count.
 */
export function speedOf(attempts: readonly Attempt[]): number | undefined {
  let [tokens, ms] = [0, 0];
  for (const { usage, firstPartAt, endedAt, streamed } of attempts) {
    if (!streamed || !usage || firstPartAt === undefined || endedAt === undefined || endedAt <= firstPartAt) continue;
    tokens += usage.output;
    ms += endedAt - firstPartAt;
  }
  return ms > 0 ? (tokens / ms) * 1000 : undefined;
}

export const speedText = (perSecond: number | undefined): string | undefined =>
  perSecond === undefined
    ? undefined
    : `${perSecond < 10 ? perSecond.toFixed(1) : count(Math.round(perSecond))} tokens/s`;

const SECRET = /^(.*[-_])?(authorization|cookie|password|secret|api[-_]?key|access[-_]?token|token)$/i;

/** The server sends no secrets. This is a second line of defence. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, part]) => [key, SECRET.test(key) ? "(left out)" : withoutSecrets(part)]),
  );
}

export interface RunExport {
  schema: 1;
  run: { id: string; title: string; model: string; status: string };
  record: unknown;
  trace: RunTrace | null;
  events: readonly RawEvent[];
}

export interface Exported {
  runId: string;
  title: string;
  trace: RunTrace | undefined;
  record: RunRecord | undefined;
  events: readonly RawEvent[];
}

/** A run as a file: the server's record and events, and the page's trace. */
export function exportOf({ runId, title, trace, record, events }: Exported): RunExport {
  return {
    schema: 1,
    run: {
      id: runId,
      title,
      model: record?.model || trace?.model || "",
      status: record?.status ?? trace?.end?.status ?? "running",
    },
    record: record ? withoutSecrets(record) : null,
    trace: trace ?? null,
    events,
  };
}

export const exportText = (exported: Exported): string => `${JSON.stringify(exportOf(exported), null, 2)}\n`;

/**
 * The request settings of a run, to be used for the next message. Settings that the run did not send are reset. The
 * choice among a client's tools is left out: the page does not have these tools.
 * A run that named no tools was offered all `tools` but those on request. A record has no system prompt; its
 * conversation does.
 */
export function settingsOf(record: RunRecord, tools: readonly Tool[]): Partial<RequestSettings> {
  const { request } = record;
  const parameters: Parameters = Object.fromEntries(
    PARAMETER_NAMES.flatMap((name) => (typeof request[name] === "number" ? [[name, request[name]]] : [])),
  );
  return {
    model: record.model,
    effort: effortOf(request),
    parameters,
    ...toolsOf(request, tools),
    toolChoice: request.client_tools === undefined ? choiceOfWire(request.tool_choice) : "",
    format: formatOfWire(request.response_format),
  };
}

/** The switches of the tools. The switch for files stays as it is if the run named no tools. */
function toolsOf(
  { tools: names }: RunRecord["request"],
  tools: readonly Tool[],
): Partial<Pick<RequestSettings, "toolsOff" | "files">> {
  if (!Array.isArray(names)) return { toolsOff: [] };
  const offered = new Set<unknown>(names);
  const off = tools.filter(
    ({ name, onRequest, unavailable }) => !onRequest && unavailable === undefined && !offered.has(name),
  );
  const files = tools.filter(isFileTool);
  return {
    toolsOff: off.map(({ name }) => name),
    ...(files.length > 0 && { files: files.some(({ name }) => offered.has(name)) }),
  };
}

/**
 * The system prompt of a run, from its conversation. Empty if there was none. Undefined if the run is not in the
 * conversation.
 */
export function systemOfRun(nodes: readonly ChatNode[], runId: string): string | undefined {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  if (!byId.has(runId)) return undefined;
  for (let node = byId.get(runId); node; node = byId.get(node.parentId ?? ""))
    if (node.role === "user" && node.system !== undefined) return node.system;
  return "";
}

function effortOf({ reasoning, reasoning_effort }: RunRecord["request"]): Effort {
  const named = (reasoning as { effort?: unknown } | null | undefined)?.effort ?? reasoning_effort;
  return EFFORTS.find((effort) => effort === named) ?? "auto";
}
