// A small stand-in for Signalbox: serves the built page and plays scripted v1.1 runs, for screenshots and e2e without
// a backend. It is never part of the product: node e2e/support/server.mjs [PORT]

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { scriptFor } from "./scripts.mjs";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
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

const json = (response, status, body, headers = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
};

function startRun(body) {
  const id = crypto.randomUUID().replaceAll("-", "");
  const run = { frames: [], closed: false, watchers: new Set(), stopped: false };
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
  const file = normalize(join(DIST, path === "/" ? "index.html" : path));
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

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, "http://localhost");
  const [, runId, verb] = /^\/api\/runs\/(\w+)\/(events|stop)$/.exec(pathname) ?? [];
  const secured = process.env.TOKEN && pathname.startsWith("/api/");
  if (secured && request.headers.authorization !== `Bearer ${process.env.TOKEN}`) {
    return json(response, 401, { error: { code: "UNAUTHORIZED", message: "A token is needed." } });
  }
  if (pathname === "/health/ready") return json(response, 200, { status: "ok", simulated: true });
  if (pathname === "/api/models") return json(response, 200, { models: MODELS });
  if (pathname === "/api/chat/stream") {
    const body = await readBody(request);
    if (body.model.startsWith("nobody/")) {
      const message = `The catalogue has no model ${body.model}.`;
      return json(response, 422, { error: { code: "UNKNOWN_MODEL", message, field: "model" } });
    }
    const { id, run } = startRun(body);
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
