// @vitest-environment jsdom
import { act, fireEvent, screen, within } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import {
  answer,
  click,
  go,
  hide,
  open,
  pass,
  rows,
  scriptServer,
  server,
  TOKEN,
} from "../../fixtures/operatorServer.tsx";

scriptServer();

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

  it("shows API tokens only with the operator token", async () => {
    await open("tokens");
    expect(screen.getByText("Only the operator can see API tokens.")).toBeTruthy();
    click("button", "Enter the operator token");
    await pass(200);
    await give(TOKEN);
    expect(screen.getByText("No API tokens yet.", { exact: false })).toBeTruthy();
  });

  it.each([
    ["rollout", "the rollout"],
    ["shadow", "shadow mode"],
    ["spend", "what runs cost"],
    ["sessions", "sessions"],
    ["webhooks", "webhooks"],
    ["audit", "the audit log"],
  ])("does not show the section %s without the operator token", async (section, what) => {
    await open(section);
    expect(screen.getByText(`Only the operator can see ${what}.`)).toBeTruthy();
    expect(server.asked.filter((asked) => !/flags|runs$/.test(asked))).toEqual([]);
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

  it("reloads the upstreams, and says why if the file is invalid", async () => {
    server.upstreams = [{ name: "local", dialect: "openai-chat", host: "127.0.0.1:11434", state: "closed" }];
    await open();
    click("button", "Show all users' runs");
    await pass(200);
    await give(TOKEN);
    await go("loop");
    const list = within(screen.getByRole("region", { name: "Upstreams" }));
    server.upstreams = [...server.upstreams, { ...server.upstreams[0], name: "far" }];
    click("button", "Reload upstreams.toml");
    await pass(300);
    expect(list.getByRole("button", { name: "Reloaded" })).toBeTruthy();
    expect(list.getAllByRole("listitem")).toHaveLength(2);
    await pass(2000);
    server.reloadRefusal = "upstreams.toml: base_url is missing.";
    click("button", "Reload upstreams.toml");
    await pass(300);
    expect(list.getByRole("alert").textContent).toBe(`Not reloaded. ${server.reloadRefusal}`);
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

  it("says at the switch that a rollout is running, and that a change ends it", async () => {
    server.rollout = { plan: { mode: "guard", state: "running", percent: 25 } };
    await open();
    await go("loop");
    expect(screen.queryByRole("note")).toBeNull();
    await go("runs");
    click("button", "Show all users' runs");
    await pass(200);
    await give(TOKEN);
    await go("loop");
    expect(screen.getByRole("note").textContent).toBe("A rollout is running (V2 at 25%). A change here ends it.");
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
