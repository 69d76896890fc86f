// A small stand-in for Signalbox: serves the built page and plays scripted v1.1 runs, for screenshots and e2e without
// a backend. It is never part of the product: node e2e/support/server.mjs [PORT]

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { scriptFor } from "./scripts.mjs";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
const DOCS = fileURLToPath(new URL("../../../docs", import.meta.url));
const PAGES = { "/": "index.html", "/docs": "docs.html", "/operator": "operator.html" };
const ADMIN = process.env.SIGNALBOX_ADMIN_TOKEN ?? "admin";
const TYPES = {
  ".ico": "image/x-icon",
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};
const CSP =
  "default-src 'self'; img-src 'self' data:; connect-src 'self'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'";
const MODELS = ["openai", "anthropic", "google", "x-ai", "deepseek", "mistralai", "moonshotai", "qwen"].map(
  (family) => ({
    id: `${family}/sim`,
    name: `${family} simulated`,
    badges: ["tools", "reasoning"],
  }),
);

/** run id → { frames, closed, watchers, stop } */
const runs = new Map();
/** Idempotency-Key → { id, run } */
const keys = new Map();

const json = (response, status, body, headers = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
};

function startRun(body) {
  const id = crypto.randomUUID().replaceAll("-", "");
  const run = {
    frames: [],
    closed: false,
    watchers: new Set(),
    stopped: false,
    model: body.model,
    started: Date.now() / 1000,
  };
  runs.set(id, run);
  const add = (event) => {
    const seq = run.frames.length + 1;
    const first = seq === 1 ? { v: "1.1", run_id: id, loop: "v2" } : {};
    const ts = event.type === "content" ? {} : { ts: Date.now() };
    const frame = `id: ${id}:${seq}\ndata: ${JSON.stringify({ ...event, ...ts, ...first })}\n\n`;
    run.frames.push(frame);
    for (const watcher of run.watchers) watcher.write(frame);
  };
  const close = () => {
    run.closed = true;
    const { status, code } = JSON.parse(run.frames.at(-1).split("data: ")[1]);
    Object.assign(run, { status, code });
    for (const watcher of run.watchers) watcher.end();
  };
  void play(run, scriptFor(body), add, close, body.model);
  return { id, run };
}

async function play(run, script, add, close, model) {
  const open = new Map();
  const done = {
    type: "done",
    done: true,
    loop: "v2",
    requested_model: model,
    model,
    provider: "Simulator",
    flag: { variant: "v2", reason: "STATIC" },
    simulated: true,
  };
  const speed = Number(process.env.SPEED ?? 1);
  for (const [wait, event] of script) {
    await new Promise((resolve) => setTimeout(resolve, wait / speed));
    if (run.stopped) {
      for (const call of open.values()) {
        add({
          ...call,
          type: "tool_result",
          result: { success: false, error: "The run was stopped.", code: "CANCELLED" },
        });
      }
      add({ ...done, status: "cancelled", usage: { input: 210, output: 40 }, cost: 0, steps: 1 });
      return close();
    }
    if (event === "drop") {
      for (const watcher of run.watchers) watcher.destroy();
      continue;
    }
    if (event.type === "tool_calls") for (const { arguments: _, ...call } of event.calls) open.set(call.id, call);
    if (event.type === "tool_result") open.delete(event.id);
    add(event.type === "done" ? { ...done, ...event } : event);
  }
  close();
}

function watch(run, response, after, id) {
  if (run.closed && after >= run.frames.length) return response.writeHead(204).end();
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-chat-contract": "1.1",
    "x-run-id": id,
    "x-tool-loop": "v2",
  });
  response.flushHeaders();
  for (const frame of run.frames.slice(after)) response.write(frame);
  if (run.closed) return response.end();
  run.watchers.add(response);
  response.on("close", () => run.watchers.delete(response));
}

async function readBody(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return JSON.parse(text || "{}");
}

async function serveFile(path, response) {
  const file = normalize(join(DIST, PAGES[path] ?? path));
  try {
    if (!file.startsWith(DIST)) throw new Error("outside");
    const content = await readFile(file);
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, "content-security-policy": CSP });
    response.end(content);
  } catch {
    json(response, 404, { error: { code: "NOT_FOUND", message: "There is nothing at this address." } });
  }
}

/** As the server does it: a browser that navigates gets the page, whoever else asks the text. */
async function serveGuide(path, request, response) {
  if (request.headers.accept?.includes("text/html")) return serveFile("/guide.html", response);
  const file = normalize(join(DOCS, path.slice("/guide/".length), path.endsWith("/") ? "README.md" : ""));
  try {
    if (!file.startsWith(DOCS) || !file.endsWith(".md")) throw new Error("outside");
    const content = await readFile(file);
    response.writeHead(200, { "content-type": "text/markdown; charset=utf-8", vary: "accept" });
    response.end(content);
  } catch {
    json(response, 404, { error: { code: "NOT_FOUND", message: "There is nothing at this address." } });
  }
}

const lever = { key: "tool_loop_v2", state: null, percent: null, environment: null, sticky: "conversation" };
const EFFECTIVE = {
  on: "Every run uses the V2 loop: the lever says so.",
  off: "Every run uses the legacy loop: the lever says so.",
};
const standing = () => ({
  ...lever,
  effective:
    lever.state === "percent"
      ? `${lever.percent} % of the conversations use the V2 loop, the others the legacy loop.`
      : (EFFECTIVE[lever.state] ?? "Every run uses the legacy loop: V2 is off unless switched on."),
});

async function serveLever(request, response) {
  if (request.method === "PUT") {
    if (request.headers.authorization !== `Bearer ${ADMIN}`)
      return json(response, 401, { error: { code: "UNAUTHORIZED", message: "The lever needs the admin token." } });
    const { state, percent = null } = await readBody(request);
    Object.assign(lever, { state, percent });
  }
  return json(response, 200, standing());
}

const summaries = () =>
  [...runs].reverse().map(([id, run]) => ({
    run_id: id,
    status: run.status ?? "running",
    code: run.code ?? null,
    model: run.model,
    loop: "v2",
    started: run.started,
    ended: run.closed ? run.started + 1 : null,
    steps: 1,
    cost: 0,
  }));

const OPENAPI = {
  openapi: "3.1.0",
  info: { title: "Signalbox", version: "0", summary: "A stand-in." },
  paths: {
    "/api/chat/stream": {
      post: {
        tags: ["chat"],
        description: "Answer a conversation as a stream.",
        requestBody: {
          content: {
            "application/json": {
              schema: { $ref: "#/components/schemas/ChatRequest" },
              examples: { "one question": { value: { model: "openai/sim", prompt: "Hello" } } },
            },
          },
        },
        responses: { 200: { description: "The stream", content: { "text/event-stream": { example: "id: 1:1" } } } },
      },
    },
  },
  components: {
    schemas: { ChatRequest: { type: "object", required: ["model"], properties: { model: { type: "string" } } } },
  },
};

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, "http://localhost");
  const [, runId, verb] = /^\/api\/runs\/(\w+)\/(events|stop)$/.exec(pathname) ?? [];
  const secured = process.env.TOKEN && pathname.startsWith("/api/");
  if (secured && request.headers.authorization !== `Bearer ${process.env.TOKEN}`) {
    return json(response, 401, { error: { code: "UNAUTHORIZED", message: "A token is needed." } });
  }
  if (pathname === "/health/ready") return json(response, 200, { status: "ok", simulated: true });
  if (pathname === "/api/models") return json(response, 200, { models: MODELS });
  if (pathname === "/openapi.json") return json(response, 200, OPENAPI);
  if (pathname === "/api/flags/tool_loop_v2") return serveLever(request, response);
  if (pathname === "/api/runs") return json(response, 200, { runs: summaries() });
  if (pathname.startsWith("/guide/")) return serveGuide(pathname, request, response);
  if (pathname === "/api/chat/stream") {
    const body = await readBody(request);
    if (body.model.startsWith("nobody/")) {
      const message = `The catalogue has no model ${body.model}.`;
      return json(response, 422, { error: { code: "UNKNOWN_MODEL", message, field: "model" } });
    }
    const key = request.headers["idempotency-key"];
    const { id, run } = keys.get(key) ?? startRun(body);
    if (key) keys.set(key, { id, run });
    return watch(run, response, 0, id);
  }
  const run = runs.get(runId);
  if (verb && !run)
    return json(response, 404, { error: { code: "UNKNOWN_RUN", message: "There is no run with that id." } });
  if (verb === "events")
    return watch(run, response, Number(request.headers["last-event-id"]?.split(":")[1] ?? 0), runId);
  if (verb === "stop") {
    run.stopped = true;
    return json(response, 200, { run_id: runId });
  }
  return serveFile(pathname, response);
});

server.listen(Number(process.argv[2] ?? 8099), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
