// @vitest-environment jsdom
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SessionsSection } from "./SessionsSection.tsx";

const ADA = {
  id: "a1",
  owner: "user:1f0c",
  name: "Ada Lovelace",
  role: "user",
  created: 1_795_845_600,
  used: 1_795_847_400,
  ends: 1_795_890_600,
  current: false,
};

/** The scripted server. Its pages have two sessions. */
const server = { sessions: [] as (typeof ADA)[], ended: [] as string[], refusal: "" };

async function answer(path: string, { method = "GET" }: RequestInit = {}): Promise<Response> {
  const { pathname, searchParams } = new URL(path, "http://x.invalid");
  if (server.refusal) return Response.json({ error: { code: "X", message: server.refusal } }, { status: 403 });
  if (method === "DELETE") {
    server.ended.push(pathname);
    server.sessions = server.sessions.filter(({ id }) => !pathname.endsWith(`/${id}`));
    return Response.json({ deleted: true });
  }
  const start = server.sessions.findIndex(({ id }) => id === searchParams.get("before")) + 1;
  const sessions = server.sessions.slice(start, start + 2);
  const next = server.sessions.length > start + 2 ? sessions.at(-1)?.id : null;
  return Response.json({ sessions, next, all_owners: true });
}

beforeEach(() => {
  Object.assign(server, { sessions: [], ended: [], refusal: "" });
  vi.stubGlobal("fetch", answer);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const open = () => {
  render(<SessionsSection />);
  return userEvent.setup();
};

describe("the section of sessions", () => {
  it("lists who is signed in, and loads older sessions", async () => {
    server.sessions = [
      { ...ADA, role: "operator", current: true },
      { ...ADA, id: "b2", name: "" },
      { ...ADA, id: "c3", name: "Grace" },
    ];
    const user = open();
    expect(screen.getByText("Loading…")).toBeTruthy();
    const table = within(await screen.findByRole("table", { name: "Sessions" }));
    expect(table.getAllByRole("rowheader").map(({ textContent }) => textContent)).toEqual([
      "Ada Lovelacethis sessionuser:1f0c",
      "user:1f0c",
    ]);
    expect(table.getByText("Operator")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Load older sessions" }));
    expect(await table.findByText("Grace")).toBeTruthy();
  });

  it("ends a session only after a confirmation", async () => {
    server.sessions = [ADA];
    const user = open();
    await user.click(await screen.findByRole("button", { name: "End the session of Ada Lovelace" }));
    expect(server.ended).toEqual([]);
    await user.click(within(screen.getByRole("dialog")).getByRole("button", { name: "End" }));
    expect(await screen.findByText(/^No active sessions\./)).toBeTruthy();
    expect(server.ended).toEqual(["/api/sessions/a1"]);
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("keeps the dialog open with the server's reason, and says why it cannot list sessions", async () => {
    server.sessions = [ADA];
    const user = open();
    await user.click(await screen.findByRole("button", { name: "End the session of Ada Lovelace" }));
    server.refusal = "There is no session with that id.";
    await user.click(within(screen.getByRole("dialog")).getByRole("button", { name: "End" }));
    const dialog = within(screen.getByRole("dialog"));
    expect((await dialog.findByRole("alert")).textContent).toBe(server.refusal);
    cleanup();
    open();
    expect((await screen.findByRole("alert")).textContent).toMatch(/^There is no session/);
  });
});
