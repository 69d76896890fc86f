// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AuditSection } from "./AuditSection.tsx";

const entry = (id: number, action: string, details: object = {}) => ({
  id,
  at: 1_795_846_512 + id,
  actor: "operator",
  action,
  details,
});

/** The scripted server. Its pages have two entries. */
const server = { entries: [] as ReturnType<typeof entry>[], asked: [] as URLSearchParams[], refusal: "" };

beforeEach(() => {
  Object.assign(server, { entries: [], asked: [], refusal: "" });
  vi.stubGlobal("fetch", async (path: string) => {
    const { pathname, searchParams } = new URL(path, "http://x.invalid");
    expect(pathname).toBe("/api/audit");
    server.asked.push(searchParams);
    if (server.refusal) return Response.json({ error: { code: "X", message: server.refusal } }, { status: 403 });
    const actions = searchParams.getAll("action");
    const before = Number(searchParams.get("before") ?? 1000);
    const found = server.entries.filter(
      ({ id, action }) => id < before && (!actions.length || actions.includes(action)),
    );
    return Response.json({ entries: found.slice(0, 2), next: found.length > 2 ? found[1]?.id : null });
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const open = () => {
  render(<AuditSection />);
  return userEvent.setup();
};

describe("the section of the audit log", () => {
  it("lists who has changed what, and loads older entries", async () => {
    server.entries = [entry(3, "token.revoked", { token: "t1" }), entry(2, "webhook.created"), entry(1, "flag.set")];
    const user = open();
    expect(screen.getByText("Loading…")).toBeTruthy();
    const revoked = await screen.findByText("Token revoked");
    expect(revoked.closest("li")?.textContent).toMatch(/^Token revokedby operator.*token: t1$/);
    expect(screen.queryByText("Flag set")).toBeNull();
    await user.click(screen.getByRole("button", { name: "Load older entries" }));
    expect(await screen.findByText("Flag set")).toBeTruthy();
    expect(screen.getAllByRole("listitem")).toHaveLength(3);
  });

  it("shows only what matches, and asks for whole names when the field is left", async () => {
    server.entries = [entry(2, "token.revoked"), entry(1, "webhook.created")];
    const user = open();
    await screen.findByText("Token revoked");
    await user.selectOptions(screen.getByRole("combobox", { name: "What" }), "Webhooks");
    await vi.waitFor(() => expect(screen.queryByText("Token revoked")).toBeNull());
    expect(await screen.findByText("Webhook created")).toBeTruthy();
    await user.selectOptions(screen.getByRole("combobox", { name: "What" }), "Upstreams");
    expect(await screen.findByText("No changes match this filter.")).toBeTruthy();
    await user.type(screen.getByRole("combobox", { name: "Who" }), "Ada");
    expect(server.asked.some((query) => query.has("actor"))).toBe(false);
    await user.tab();
    await vi.waitFor(() => expect(server.asked.at(-1)?.get("actor")).toBe("Ada"));
    expect(server.asked.at(-1)?.getAll("action")).toEqual(["upstreams.reloaded"]);
  });

  it("says that there are no changes, or why the server refuses", async () => {
    open();
    expect(await screen.findByText("No changes yet.")).toBeTruthy();
    cleanup();
    server.refusal = "The operator token is required.";
    open();
    expect((await screen.findByRole("alert")).textContent).toMatch(/^The operator token is required\./);
  });
});
