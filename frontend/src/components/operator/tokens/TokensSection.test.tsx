// @vitest-environment jsdom
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TokensSection } from "./TokensSection.tsx";

const NO_LIMITS = { budget_day: null, budget_month: null, rate_limit: null, max_runs: null, models: null, tools: null };

/** The scripted server. */
const server = {
  tokens: [] as Record<string, unknown>[],
  groups: [] as Record<string, unknown>[],
  sent: [] as { method: string; path: string; body: unknown }[],
  refusal: "",
};

const token = (more: object) => ({
  id: "t1",
  name: "Ada",
  group: null,
  created: 1_795_846_512,
  expires: null,
  revoked: null,
  former_until: null,
  last_used_at: null,
  ...NO_LIMITS,
  ...more,
});

async function answer(path: string, init: RequestInit = {}): Promise<Response> {
  const { method = "GET", body } = init;
  if (method === "GET") {
    return Response.json(path === "/api/tokens" ? { tokens: server.tokens } : { groups: server.groups });
  }
  const fields = body ? JSON.parse(String(body)) : undefined;
  server.sent.push({ method, path, body: fields });
  if (server.refusal) {
    return Response.json({ error: { code: "INVALID_REQUEST", message: server.refusal } }, { status: 422 });
  }
  if (path === "/api/tokens") server.tokens.push(token({ id: "t2", ...fields }));
  if (method === "DELETE") server.tokens[0] = token({ revoked: 1_795_846_600 });
  return Response.json(token({ ...fields, name: fields?.name ?? "Ada", token: "sb-t2-secret" }));
}

beforeEach(() => {
  Object.assign(server, { tokens: [], groups: [], sent: [], refusal: "" });
  vi.stubGlobal("fetch", (path: string, init?: RequestInit) =>
    answer(new URL(path, "http://x.invalid").pathname, init),
  );
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function open() {
  render(<TokensSection />);
  await screen.findByText(/No groups yet|Delete/);
  return userEvent.setup();
}

const press = async (user: ReturnType<typeof userEvent.setup>, name: string) =>
  user.click(await screen.findByRole("button", { name }));

describe("API tokens", () => {
  it("shows when each token was used last", async () => {
    server.tokens = [token({}), token({ id: "t2", name: "Bob", last_used_at: 1_795_846_600 })];
    await open();
    expect(screen.getByText("Not used yet")).toBeTruthy();
    expect(screen.getByText("Last used 2026-11-28")).toBeTruthy();
  });

  it("creates a token with limits, and shows its text once", async () => {
    server.groups = [{ name: "trial", created: 0, expires: null, ...NO_LIMITS }];
    const user = await open();
    await press(user, "Create token");
    const dialog = within(await screen.findByRole("dialog", { name: "Create an API token" }));
    await user.type(dialog.getByLabelText("Name"), "Ada");
    await user.selectOptions(dialog.getByLabelText("Group"), "trial");
    await user.type(dialog.getByLabelText("Budget per day (USD)"), "2.5");
    await user.type(dialog.getByLabelText("Allowed models"), "a/*, b");
    await user.click(dialog.getByRole("button", { name: "Create" }));
    const secret = within(await screen.findByRole("dialog", { name: "The token of Ada" }));
    expect(secret.getByText("sb-t2-secret")).toBeTruthy();
    expect(secret.getByText(/cannot be shown again/)).toBeTruthy();
    expect(server.sent).toEqual([
      {
        method: "POST",
        path: "/api/tokens",
        body: { ...NO_LIMITS, name: "Ada", group: "trial", expires: null, budget_day: 2.5, models: ["a/*", "b"] },
      },
    ]);
    await user.click(secret.getByRole("button", { name: "Done" }));
    await vi.waitFor(() => expect(screen.queryByText("sb-t2-secret")).toBeNull());
    expect(screen.getByRole("table", { name: "API tokens" }).textContent).toMatch(/Ada.*per day · models a\/\*, b/);
  });

  it("keeps the form open with the server's reason if a change is refused", async () => {
    server.tokens = [token({})];
    server.refusal = "rate_limit must be such as 60/minute.";
    const user = await open();
    await press(user, "Change Ada");
    await user.type(screen.getByLabelText("Rate limit"), "often");
    await press(user, "Save");
    expect((await screen.findByRole("alert")).textContent).toBe(server.refusal);
    expect(screen.getByLabelText<HTMLInputElement>("Rate limit").value).toBe("often");
    expect(server.sent[0]).toMatchObject({ method: "PATCH", path: "/api/tokens/t1", body: { rate_limit: "often" } });
  });

  it("rotates a token, with a time in which both texts are accepted", async () => {
    server.tokens = [token({})];
    const user = await open();
    await press(user, "Rotate Ada");
    await user.selectOptions(screen.getByLabelText("The former text"), "Accept it for 1 hour");
    await press(user, "Rotate");
    expect(await screen.findByText("sb-t2-secret")).toBeTruthy();
    expect(server.sent).toEqual([{ method: "POST", path: "/api/tokens/t1/rotate", body: { grace_seconds: 3600 } }]);
  });

  it("revokes a token only after a confirmation", async () => {
    server.tokens = [token({})];
    const user = await open();
    await press(user, "Revoke Ada");
    expect(server.sent).toEqual([]);
    await press(user, "Revoke");
    expect(await screen.findByText(/^Revoked /)).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Change Ada" })).toBeNull();
    expect(server.sent).toEqual([{ method: "DELETE", path: "/api/tokens/t1", body: undefined }]);
  });

  it("does not replace a group with a new one of the same name", async () => {
    server.groups = [{ name: "trial", created: 0, expires: null, ...NO_LIMITS, max_runs: 2 }];
    const user = await open();
    await press(user, "Create group");
    await user.type(screen.getByLabelText("Name"), "trial");
    await press(user, "Create");
    expect(screen.getByRole("alert").textContent).toMatch(/^There is already a group with this name/);
    expect(server.sent).toEqual([]);
    await user.type(screen.getByLabelText("Name"), "2");
    await press(user, "Create");
    await vi.waitFor(() => expect(server.sent.map(({ path }) => path)).toEqual(["/api/groups/trial2"]));
  });

  it("does not say that the former text of a revoked token is accepted", async () => {
    const former_until = Date.now() / 1000 + 3600;
    server.tokens = [token({ former_until }), token({ id: "t2", name: "Grace", former_until, revoked: 1_795_846_600 })];
    await open();
    expect(screen.getAllByText(/^Former text accepted until/)).toHaveLength(1);
  });

  it("creates a group under its name, and says why one cannot be deleted", async () => {
    server.groups = [{ name: "trial", created: 0, expires: null, ...NO_LIMITS, max_runs: 2 }];
    const user = await open();
    expect(screen.getByRole("table", { name: "Groups" }).textContent).toContain("2 runs at once");
    await press(user, "Create group");
    await user.type(screen.getByLabelText("Name"), "staff");
    await user.type(screen.getByLabelText("Runs at once"), "3");
    await press(user, "Create");
    await vi.waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(server.sent).toEqual([
      { method: "PUT", path: "/api/groups/staff", body: { ...NO_LIMITS, expires: null, max_runs: 3 } },
    ]);
    server.refusal = "1 token belongs to this group.";
    await press(user, "Delete trial");
    await press(user, "Delete");
    expect((await screen.findByRole("alert")).textContent).toBe(server.refusal);
  });
});
