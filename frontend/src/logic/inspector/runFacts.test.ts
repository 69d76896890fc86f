import type { ChatEvent } from "@signalbox/client";
import { describe, expect, it } from "vitest";
import { aFileTool, aTool } from "../../fixtures/catalogue.ts";
import { fixture } from "../../fixtures/read.ts";
import { captured, capturedRecord } from "../../fixtures/record.ts";
import type { ChatNode, RunRecord } from "../../types/api.ts";
import { connectionLost, emptyTrace, runReducer } from "../trace/reducer.ts";
import { requestFacts, responseFacts } from "./attemptFacts.ts";
import { eventRows, rowsText, typesOf } from "./eventRows.ts";
import {
  exportOf,
  type Fact,
  factsOf,
  settingsOf,
  speedOf,
  statusOf,
  systemOfRun,
  troubleOf,
  warningsIn,
  withoutSecrets,
} from "./runFacts.ts";

const record = capturedRecord;
const { events } = captured;
const trace = events.reduce((t, { event }) => runReducer(t, event as unknown as ChatEvent), emptyTrace("m"));
const clock = (ms: number) => `at ${ms}`;
const factsIn = (facts: readonly Fact[]) =>
  Object.fromEntries(facts.map(({ name, value, note }) => [name, note ? `${value} (${note})` : value]));
const facts = (changed: Partial<RunRecord> = {}) =>
  factsIn(factsOf({ trace, record: { ...record, ...changed }, now: 0 }, clock));
const attempt = record.attempts[1];
if (!attempt) throw new Error("no attempt");

describe("the facts", () => {
  it("are complete", () => {
    expect(facts()).toEqual({
      "Model requested": "qwen/sim-quirk-f01",
      "Model used": "qwen/sim-quirk-f01",
      Provider: "Alibaba",
      Protocol: "v1.1",
      Loop: "v2, set by the operator",
      Started: `at ${record.startedAt}`,
      "Total time": "2.1 s",
      "First token": "344 ms",
      Speed: "102 tokens/s",
      Steps: "2, 3 requests",
      "Input tokens": "1,137",
      "Cached input tokens": "0",
      "Output tokens": "171",
      "Reasoning tokens": "65 (38%)",
      Cost: "would cost $0.0002",
      "Finish reason": "stop (native stop)",
    });
  });

  it("mark missing values, and keep zero", () => {
    const bare = factsOf(
      { trace: { ...emptyTrace("m"), end: { status: "complete" } }, record: undefined, now: 0 },
      clock,
    );
    expect(bare.filter(({ name }) => name !== "Model requested").map(({ value }) => value)).toEqual(
      Array(15).fill("unknown"),
    );
    expect(bare.every(({ name, missing: untold }) => name === "Model requested" || untold)).toBe(true);
    const quick = { startedAt: 1000, endedAt: 1000 };
    expect(facts(quick)["Total time"]).toBe("0 ms");
  });

  it("of a running run change over time", () => {
    const running = { ...record, status: "running" as const, endedAt: undefined };
    const open = factsIn(factsOf({ trace: undefined, record: running, now: record.startedAt + 1500 }, clock));
    expect(open["Total time"]).toBe("1.5 s (so far)");
    const none = factsOf({ trace: undefined, record: { ...running, attempts: [] }, now: 0 }, clock);
    expect(none.find(({ name }) => name === "Finish reason")?.value).toBe("not known yet");
  });

  it("label the protocol, and name one of a newer server", () => {
    expect(facts({ protocol: "chat-completions" }).Protocol).toBe("Chat completions");
    expect(facts({ protocol: "other" }).Protocol).toBe("other");
    expect(facts({ protocol: "" }).Protocol).toBe("unknown");
  });

  it("mark an estimated and a settled cost", () => {
    expect(facts({ costEstimated: true }).Cost).toBe("would cost $0.0002 (estimated)");
    expect(facts({ settledAt: 1 }).Cost).toBe("would cost $0.0002 (final cost reported later)");
  });

  it("include the share of cached tokens", () => {
    const usage = { input: 200, output: 10, reasoning: 0, cached: 150, cost: undefined };
    expect(facts({ attempts: [{ ...attempt, usage }] })["Cached input tokens"]).toBe("150 (75%)");
  });

  it("count the tokens of requests that tools sent", () => {
    const usage = { input: 200, output: 10, reasoning: 0, cached: 0, cost: undefined };
    const sent = { ...attempt, usage };
    expect(facts({ attempts: [sent], toolAttempts: [{ ...sent, toolCall: "c1" }] })["Input tokens"]).toBe("400");
  });

  it("measure the speed only for streamed attempts", () => {
    const usage = { input: 1, output: 50, reasoning: 0, cached: 0, cost: undefined };
    const written = { ...attempt, usage, firstPartAt: 1000, endedAt: 1500, streamed: true };
    expect(speedOf([written])).toBe(100);
    expect(speedOf([written, { ...written, endedAt: 2500 }])).toBe(50);
    expect(
      speedOf([
        { ...written, streamed: false },
        { ...written, endedAt: 1000 },
      ]),
    ).toBeUndefined();
  });
});

describe("the facts of an attempt", () => {
  it("describe the request", () => {
    expect(factsIn(requestFacts(attempt))).toMatchObject({
      Messages: "2",
      Tools: "calculate, search_web",
      "Tool choice": "not sent",
      Parameters: "reasoning, temperature",
      Response: "streamed",
    });
  });

  it("describe the response, and mark missing values", () => {
    expect(factsIn(responseFacts(attempt))).toMatchObject({
      Provider: "Alibaba",
      "Finish reason": "tool_calls (native tool_calls)",
    });
    const [failed] = record.attempts;
    expect(failed && factsIn(responseFacts(failed))).toMatchObject({
      Duration: "3 ms",
      "First token": "unknown",
      Cost: "unknown",
    });
  });
});

describe("the status", () => {
  it("prefers the server's state to the page's", () => {
    expect(statusOf({ trace, record, now: 0 })).toEqual({ lamp: "done", label: "Complete" });
    const lost = connectionLost(emptyTrace("m"));
    expect(statusOf({ trace: lost, record, now: 0 })).toEqual({ lamp: "done", label: "Complete" });
    expect(statusOf({ trace: lost, record: { ...record, status: "running" }, now: 0 }).label).toBe("Running");
    expect(statusOf({ trace: lost, record: undefined, now: 0 })).toEqual({ lamp: "failed", label: "Interrupted" });
  });

  it("has the error once, and each warning once", () => {
    const failed = fixture("interrupted").reduce(runReducer, emptyTrace("m"));
    const trouble = troubleOf({ trace: failed, record: undefined, now: 0 });
    expect(trouble?.code).toBe("STREAM_CUT");
    expect(failed.items.some(({ kind }) => kind === "warning")).toBe(true);
    expect(warningsIn(failed, trouble)).toEqual([]);
    const clamped = fixture("clamp").reduce(runReducer, emptyTrace("m"));
    const warnings = warningsIn({ ...clamped, items: [...clamped.items, ...clamped.items] }, undefined);
    expect(new Set(warnings.map(({ message }) => message)).size).toBe(warnings.length);
    expect(troubleOf({ trace, record, now: 0 })).toBeUndefined();
  });
});

describe("the export", () => {
  it("contains the run, its record, its trace and its events", () => {
    const told = exportOf({ runId: record.runId, title: "A question", trace, record, events });
    expect(told).toEqual({
      schema: 1,
      run: { id: record.runId, title: "A question", model: record.model, status: "complete" },
      record,
      trace,
      events,
    });
    expect(exportOf({ runId: "x", title: "", trace: undefined, record: undefined, events: [] })).toMatchObject({
      record: null,
      trace: null,
      run: { status: "running" },
    });
  });

  it("leaves out fields that look like secrets, and nothing else", () => {
    const request = { max_tokens: 5, headers: { Authorization: "Bearer x", "x-api-key": "y" }, list: [{ token: "z" }] };
    const told = exportOf({ runId: "x", title: "", trace, record: { ...record, request }, events });
    expect(JSON.stringify(told)).not.toMatch(/Bearer x|"y"|"z"/);
    expect(withoutSecrets(request)).toEqual({
      max_tokens: 5,
      headers: { Authorization: "(left out)", "x-api-key": "(left out)" },
      list: [{ token: "(left out)" }],
    });
    expect(withoutSecrets(captured)).toEqual(captured);
  });
});

describe("the settings of a run", () => {
  const asked = (request: Record<string, unknown>) =>
    settingsOf(
      { ...record, request },
      ["a", "b", "c"].map((name) => aTool(name)),
    );

  it("are complete: unset values are reset", () => {
    expect(
      settingsOf(
        record,
        ["search_web", "calculate", "save_note"].map((name) => aTool(name)),
      ),
    ).toEqual({
      model: "qwen/sim-quirk-f01",
      effort: "high",
      parameters: { temperature: 0.4 },
      toolsOff: ["save_note"],
      toolChoice: "",
      format: { kind: "", schema: "" },
    });
    expect(asked({})).toEqual({
      ...{ model: record.model, effort: "auto", parameters: {}, toolsOff: [] },
      ...{ toolChoice: "", format: { kind: "", schema: "" } },
    });
  });

  it("include every known parameter, and no tools if none were offered", () => {
    expect(asked({ tools: [], top_k: 3, seed: 0, stop: ["x"], max_tokens: 9 })).toMatchObject({
      parameters: { top_k: 3, seed: 0, max_tokens: 9 },
      toolsOff: ["a", "b", "c"],
    });
  });

  it("switch files on or off as the run did, and skip tools that are unavailable", () => {
    const tools = [aTool("a"), aTool("paid", { unavailable: "No key." }), aFileTool("create_file")];
    const filesOf = (request: Record<string, unknown>) => settingsOf({ ...record, request }, tools);
    expect(filesOf({ tools: ["a", "create_file"] })).toMatchObject({ toolsOff: [], files: true });
    expect(filesOf({ tools: ["a"] })).toMatchObject({ toolsOff: [], files: false });
    expect(filesOf({})).not.toHaveProperty("files");
  });

  it("include the tool choice, the limits and the response format", () => {
    const forced = { type: "function", function: { name: "a" } };
    expect(asked({ tool_choice: forced, max_steps: 3, response_format: { type: "json_object" } })).toMatchObject({
      parameters: { max_steps: 3 },
      toolChoice: "tool:a",
      format: { kind: "json", schema: "" },
    });
  });

  it("do not include a choice among the client's tools", () => {
    const forced = { type: "function", function: { name: "price" } };
    for (const tool_choice of [forced, "required", "none"])
      expect(asked({ tools: ["a"], client_tools: ["price"], tool_choice }).toolChoice).toBe("");
  });

  it("include the effort under both of its names", () => {
    expect(asked({ reasoning_effort: "low" }).effort).toBe("low");
    expect(asked({ reasoning: { effort: "none" } }).effort).toBe("none");
    expect(asked({ reasoning: { max_tokens: 100 } }).effort).toBe("auto");
  });
});

describe("the list of events", () => {
  const all = { text: "", type: "", fold: false };

  it("has every event, or groups consecutive deltas of one type", () => {
    expect(eventRows(events, all)).toHaveLength(events.length);
    const folded = eventRows(events, { ...all, fold: true });
    expect(folded.map(({ type }) => type)).toEqual([
      "reasoning",
      "tool_calls",
      "tool_executing",
      "tool_result",
      "tool_calls",
      "tool_executing",
      "tool_result",
      "reasoning",
      "content",
      "done",
    ]);
    expect(folded.flatMap((row) => row.events)).toEqual(events);
    expect([folded[0]?.first, folded[0]?.last]).toEqual([1, folded[0]?.events.length]);
  });

  it("is filtered by text, over grouped deltas too, and by type", () => {
    const found = (text: string, fold: boolean) => eventRows(events, { ...all, text, fold }).map(({ type }) => type);
    expect(found("391", false)).toContain("tool_result");
    expect(found("THE USER SAYS", true)).toEqual(["reasoning"]);
    expect(found("the user says", false)).toEqual([]);
    expect(new Set(eventRows(events, { ...all, type: "tool_result" }).map(({ type }) => type))).toEqual(
      new Set(["tool_result"]),
    );
  });

  it("is copied as one event a line", () => {
    const rows = eventRows(events, { ...all, type: "tool_result", fold: true });
    const lines = rowsText(rows).split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      events.map(({ event }) => event).filter(({ type }) => type === "tool_result"),
    );
  });

  it("counts its types", () => {
    expect([...typesOf(events).keys()]).toEqual([
      "reasoning",
      "tool_calls",
      "tool_executing",
      "tool_result",
      "content",
      "done",
    ]);
    expect(typesOf(events).get("tool_result")).toBe(2);
  });
});

describe("the system prompt of a run", () => {
  const question = (id: string, parentId: string | null, system?: string): ChatNode => ({
    ...{ id, parentId, created: 0, text: "", role: "user", pictures: [], files: [] },
    system,
  });
  const reply = (id: string, parentId: string): ChatNode => ({
    ...{ id, parentId, created: 0, text: "", role: "assistant" },
    run: undefined,
  });
  const nodes = [
    question("q1", null, "One."),
    reply("r1", "q1"),
    question("q2", "r1"),
    reply("r2", "q2"),
    question("q3", "r2", ""),
    reply("r3", "q3"),
    question("other", null),
    reply("r4", "other"),
  ];

  it.each([
    ["r1", "One."],
    ["r2", "One."],
    ["r3", ""],
    ["r4", ""],
    ["unknown", undefined],
  ])("%s is the one that held on its way", (run, system) => {
    expect(systemOfRun(nodes, run)).toBe(system);
  });
});
