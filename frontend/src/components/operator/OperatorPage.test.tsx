// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { OperatorPage } from "./OperatorPage.tsx";

const TOKEN = "right";
const NOW = Date.parse("2026-11-21T12:00:00Z");

/** The scripted server: the flag, numbered runs, and whether it responds. */
const server = {
  up: true,
  runs: 0,
  state: "off",
  failing: new Set<number>(),
  upstreams: [] as object[],
  asked: [] as string[],
  exported: "",
};

const run = (n: number) => ({
  run_id: `run-${n}`,
  status: server.failing.has(n) ? "error" : "complete",
  code: server.failing.has(n) ? "UPSTREAM_TIMEOUT" : null,
  model: `maker/model-${n}`,
  loop: n % 2 ? "v2" : "legacy",
  protocol: n % 2 ? "v1.1" : "chat-completions",
  started: NOW / 1000 - 1000 + n,
  ended: NOW / 1000 - 998 + n,
  steps: 1,
  cost: 0.001,
});

function runPage(query: URLSearchParams) {
  const before = Number(query.get("before") ?? server.runs + 1);
  const limit = Number(query.get("limit"));
  const numbers = Array.from({ length: before - 1 }, (_, index) => before - 1 - index).filter((n) =>
    (["loop", "model", "status"] as const).every((field) => [null, run(n)[field]].includes(query.get(field))),
  );
  const next = numbers.length > limit ? String(numbers[limit - 1]) : null;
  return { runs: numbers.slice(0, limit).map(run), next };
}

/** Without the operator token, or with another one, only the runs without an API token. */
function runsFor(headers: Headers, query: URLSearchParams) {
  const all_owners = headers.get("authorization") === `Bearer ${TOKEN}`;
  const page = runPage(query);
  const runs = page.runs.map((one, index) => ({ ...one, owner: index ? null : { id: "t1", name: "Ada" } }));
  return all_owners ? { ...page, runs, all_owners } : { ...page, all_owners };
}

async function answer(path: string, init: RequestInit = {}): Promise<Response> {
  const { method = "GET" } = init;
  const url = new URL(path, "http://server.invalid");
  server.asked.push(`${method} ${url.pathname}`);
  if (!server.up) throw new TypeError("Failed to fetch");
  if (url.pathname === "/api/runs") return Response.json(runsFor(new Headers(init.headers), url.searchParams));
  if (url.pathname === "/api/runs.ndjson") {
    server.exported = url.search;
    return new Response("{}\n", { headers: { "content-type": "application/x-ndjson" } });
  }
  if (url.pathname === "/api/tokens") return Response.json({ tokens: [] });
  if (url.pathname === "/api/groups") return Response.json({ groups: [] });
  if (url.pathname === "/api/upstreams") return Response.json({ upstreams: server.upstreams });
  if (method === "PUT") {
    const given = new Headers(init.headers).get("authorization");
    if (given !== `Bearer ${TOKEN}`) return Response.json({ error: { message: "No." } }, { status: 401 });
    server.state = JSON.parse(String(init.body)).state;
  }
  return Response.json({ state: server.state, percent: null, environment: null, effective: `It is ${server.state}.` });
}

/** Let responses arrive and frames render. */
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const click = (role: string, name: string | RegExp) => fireEvent.click(screen.getByRole(role, { name }));
const rows = () => screen.getAllByRole("row").slice(1);
const hide = (hidden: boolean) => {
  vi.spyOn(document, "hidden", "get").mockReturnValue(hidden);
  fireEvent(document, new Event("visibilitychange"));
};

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
  Object.assign(server, { up: true, runs: 4, state: "off", failing: new Set(), upstreams: [], asked: [] });
  sessionStorage.clear();
  history.replaceState(null, "", "/operator");
  vi.stubGlobal("fetch", vi.fn(answer));
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

async function open(section = "runs") {
  location.hash = section;
  render(<OperatorPage />);
  await pass(300);
}

/** Follow a link to another section. */
async function go(section: string) {
  location.hash = section;
  fireEvent(window, new HashChangeEvent("hashchange"));
  await pass(300);
}

describe("the operator's page", () => {
  it("shows the latest runs, each with a link to its details", async () => {
    server.failing.add(3);
    await open();
    expect(rows().map((row) => within(row).getByRole("link").getAttribute("href"))).toEqual([
      "/#run=run-4",
      "/#run=run-3",
      "/#run=run-2",
      "/#run=run-1",
    ]);
    expect(rows()[1]?.textContent).toContain("UPSTREAM_TIMEOUT");
    expect(rows()[1]?.querySelector("[data-lamp]")?.getAttribute("data-lamp")).toBe("failed");
    const protocol = screen.getAllByRole("columnheader").findIndex(({ textContent }) => textContent === "Protocol");
    expect(rows().map((row) => row.children[protocol]?.textContent)).toEqual([
      "Chat completions",
      "v1.1",
      "Chat completions",
      "v1.1",
    ]);
  });

  it("compares the loops by their share of completed runs", async () => {
    server.failing.add(3);
    await open();
    expect(screen.getByRole("region", { name: "Loop v2" }).textContent).toContain("50% completed");
    expect(screen.getByRole("region", { name: "Loop legacy" }).textContent).toContain("100% completed");
    expect(screen.getByRole("img", { name: "2 runs: 1 complete, 1 failed" })).toBeTruthy();
  });

  it("keeps the filter in its address, and shows only the runs that match", async () => {
    await open();
    fireEvent.change(screen.getByRole("combobox", { name: "Loop" }), { target: { value: "v2" } });
    fireEvent.change(screen.getByRole("combobox", { name: "Model" }), { target: { value: "maker/model-3" } });
    expect(location.search + location.hash).toBe("?loop=v2&model=maker%2Fmodel-3#runs");
    await pass(500);
    expect(rows().map((row) => row.textContent)).toEqual([expect.stringContaining("maker/model-3")]);
    fireEvent.change(screen.getByRole("combobox", { name: "Loop" }), { target: { value: "legacy" } });
    await pass(500);
    expect(screen.getByText("No runs match these filters.")).toBeTruthy();
    click("button", "Clear filters");
    await pass(500);
    expect(rows()).toHaveLength(4);
    expect(location.search).toBe("");
  });

  it("begins with the filter of its address", async () => {
    history.replaceState(null, "", "/operator?loop=legacy&unknown=1");
    await open();
    expect(rows()).toHaveLength(2);
    expect(screen.getByRole<HTMLSelectElement>("combobox", { name: "Loop" }).value).toBe("legacy");
  });

  it("downloads the runs that match as NDJSON, and says why if that fails", async () => {
    const blobs: Blob[] = [];
    URL.createObjectURL = (blob: Blob) => `blob:${blobs.push(blob)}`;
    URL.revokeObjectURL = () => undefined;
    await open();
    fireEvent.change(screen.getByRole("combobox", { name: "Status" }), { target: { value: "error" } });
    click("button", "Export NDJSON");
    await pass(200);
    expect(server.exported).toBe("?status=error");
    expect(blobs.map(({ type }) => type)).toEqual(["application/x-ndjson"]);
    server.up = false;
    click("button", "Export NDJSON");
    await pass(200);
    expect(screen.getByText(/^Not exported\. Signalbox is not responding/)).toBeTruthy();
  });

  it("shows API tokens only with the operator token", async () => {
    await open("tokens");
    expect(screen.getByText("Only the operator can see API tokens.")).toBeTruthy();
    click("button", "Enter the operator token");
    await pass(200);
    await give(TOKEN);
    expect(screen.getByText("No API tokens yet.", { exact: false })).toBeTruthy();
  });

  it("loads older runs on demand, and keeps them over refreshes", async () => {
    server.runs = 70;
    await open();
    expect(rows()).toHaveLength(50);
    click("button", "Load older runs");
    await pass(200);
    expect(rows()).toHaveLength(70);
    expect(screen.queryByRole("button", { name: "Load older runs" })).toBeNull();
    server.runs = 72;
    await pass(5200);
    expect(rows()).toHaveLength(72);
    expect(rows()[0]?.textContent).toContain("maker/model-72");
  });

  it("refreshes every five seconds without duplicates", async () => {
    await open();
    const kept = rows()[0];
    server.runs = 5;
    await pass(5200);
    expect(rows()[0]?.textContent).toContain("maker/model-5");
    expect(rows()[1]).toBe(kept);
  });

  it("pauses while it is hidden, and refreshes when it is shown", async () => {
    await open();
    hide(true);
    const before = server.asked.length;
    await pass(30_000);
    expect(server.asked.length).toBe(before);
    hide(false);
    expect(server.asked.length).toBeGreaterThan(before);
  });

  it("reports that the server does not respond, keeps its data, and recovers", async () => {
    await open();
    server.up = false;
    await pass(5200);
    expect(screen.getByRole("alert").textContent).toMatch(/Signalbox is not responding\. Last updated at /);
    expect(rows()).toHaveLength(4);
    server.up = true;
    await pass(5200);
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("asks for the token before the change, again after a wrong one, and then applies it", async () => {
    await open("loop");
    fireEvent.click(screen.getByRole("radio", { name: /^On/ }));
    click("button", "Apply");
    await pass(200);
    const give = async (token: string) => {
      const field = screen.getByLabelText<HTMLInputElement>("Operator token");
      fireEvent.change(field, { target: { value: token } });
      click("button", "Continue");
      await pass(500);
      return field;
    };
    const field = await give("wrong");
    expect(screen.getByText(/does not accept this token/)).toBeTruthy();
    expect(field.value).toBe("");
    expect(server.state).toBe("off");
    await give(TOKEN);
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(server.state).toBe("on");
    expect(within(screen.getByRole("form", { name: "TOOL_LOOP_V2" })).getByRole("status").textContent).toBe(
      "It is on.",
    );
  });

  async function give(token: string) {
    fireEvent.change(screen.getByLabelText("Operator token"), { target: { value: token } });
    click("button", "Continue");
    await pass(500);
  }

  it("says whose runs it shows, and shows all users' runs with the token", async () => {
    await open();
    expect(screen.getByText(/those without an API token/)).toBeTruthy();
    expect(screen.queryByRole("columnheader", { name: "API token" })).toBeNull();
    click("button", "Show all users' runs");
    await pass(200);
    await give("wrong");
    expect(screen.getByText(/does not accept this token/)).toBeTruthy();
    await give(TOKEN);
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(screen.getByText(/from all users/)).toBeTruthy();
    expect(rows().map((row) => within(row).getAllByRole("cell")[4]?.textContent)).toEqual([
      "Ada",
      "none",
      "none",
      "none",
    ]);
    expect(screen.queryByRole("button", { name: "Show all users' runs" })).toBeNull();
  });

  it("continues as before if all users' runs were requested but no token was entered", async () => {
    await open();
    click("button", "Show all users' runs");
    await pass(200);
    click("button", "Not now");
    await pass(5200);
    expect(screen.queryByRole("alert")).toBeNull();
    expect(rows()).toHaveLength(4);
  });

  it("shows the upstreams of a file, and which are skipped, only with the token", async () => {
    const closed = { name: "local", dialect: "openai-chat", host: "127.0.0.1:11434", state: "closed" };
    const open_ = { ...closed, name: "far", state: "open", consecutive_failures: 6, last_error: "UPSTREAM_TIMEOUT" };
    server.upstreams = [closed, open_, { ...open_, name: "back", state: "half_open" }];
    await open();
    await go("loop");
    expect(screen.queryByRole("region", { name: "Upstreams" })).toBeNull();
    await go("runs");
    click("button", "Show all users' runs");
    await pass(200);
    await give(TOKEN);
    await go("loop");
    const items = within(screen.getByRole("region", { name: "Upstreams" })).getAllByRole("listitem");
    expect(items.map(({ textContent }) => textContent)).toEqual([
      expect.stringMatching(/local127\.0\.0\.1:11434 · openai-chatIn use$/),
      expect.stringMatching(/far.*Skipped · 6 failures in a row \(UPSTREAM_TIMEOUT\)$/),
      expect.stringMatching(/back.*Trying one request · 6 failures in a row/),
    ]);
    const lamps = items.map((item) => item.querySelector("[data-lamp]")?.getAttribute("data-lamp"));
    expect(lamps).toEqual(["done", "failed", "waiting"]);
  });

  it("shows no upstreams if no file names several", async () => {
    server.upstreams = [{ name: "", dialect: "openrouter-chat", host: "openrouter.ai", state: "closed" }];
    await open();
    click("button", "Show all users' runs");
    await pass(200);
    await give(TOKEN);
    await go("loop");
    expect(screen.queryByRole("region", { name: "Upstreams" })).toBeNull();
  });

  it("shows all users' runs once the flag was changed with the token", async () => {
    await open("loop");
    fireEvent.click(screen.getByRole("radio", { name: /^On/ }));
    click("button", "Apply");
    await pass(200);
    await give(TOKEN);
    await go("runs");
    expect(screen.getByText(/from all users/)).toBeTruthy();
  });

  it("refreshes with a token that was entered during a refresh without one", async () => {
    const stub = vi.fn(answer);
    vi.stubGlobal("fetch", stub);
    await open();
    let held = () => {};
    stub.mockImplementationOnce(async (path, init) => {
      await new Promise<void>((resolve) => {
        held = resolve;
      });
      return answer(path, init);
    });
    await pass(5200);
    click("button", "Show all users' runs");
    await pass(200);
    await give(TOKEN);
    await act(async () => held());
    await pass(200);
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(screen.getByText(/from all users/)).toBeTruthy();
  });

  it("reports that nothing was changed if no token is entered", async () => {
    await open("loop");
    fireEvent.click(screen.getByRole("radio", { name: /^On/ }));
    click("button", "Apply");
    await pass(200);
    click("button", "Not now");
    await pass(500);
    expect(screen.getByRole("alert").textContent).toMatch(/^Not changed/);
    expect(server.asked.filter((asked) => asked.startsWith("PUT"))).toEqual([]);
  });

  it("does not ask again after a token for reading was declined", async () => {
    vi.stubGlobal("fetch", async (path: string) => {
      server.asked.push(path);
      return Response.json({ error: { message: "No." } }, { status: 401 });
    });
    await open();
    click("button", "Not now");
    await pass(500);
    const before = server.asked.length;
    await pass(30_000);
    expect(server.asked.length).toBe(before);
    click("button", "Enter token");
    await pass(200);
    expect(screen.getByRole("dialog")).toBeTruthy();
  });
});
