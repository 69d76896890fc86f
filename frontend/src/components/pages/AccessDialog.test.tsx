// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { AccessDialog } from "./AccessDialog.tsx";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function open(session: unknown, refused = false) {
  vi.stubGlobal("fetch", async () => (session === undefined ? Response.error() : Response.json(session)));
  render(<AccessDialog open refused={refused} onToken={vi.fn()} onClose={vi.fn()} />);
}

const dialogs = { token: "Enter your access token", signIn: "Sign in" };

describe("a request without access", () => {
  it.each([
    ["asks to sign in, where people do", { signed_in: false, sign_in: "oidc" }, false, dialogs.signIn],
    ["asks to sign in behind a proxy", { signed_in: false, sign_in: "proxy" }, false, dialogs.signIn],
    ["asks for a token, where people do not sign in", { signed_in: false, sign_in: null }, false, dialogs.token],
    ["asks a person who is signed in for a token", { signed_in: true, sign_in: "oidc" }, false, dialogs.token],
    ["asks to sign in again if a stored token was refused", { signed_in: true, sign_in: "oidc" }, true, dialogs.signIn],
    ["asks for a token if the server does not say", undefined, false, dialogs.token],
  ])("%s", async (_, session, refused, title) => {
    open(session, refused);
    expect(await screen.findByRole("dialog", { name: title })).toBeDefined();
    expect(screen.getAllByRole("dialog")).toHaveLength(1);
  });

  it("can use a token instead", async () => {
    open({ signed_in: false, sign_in: "oidc" });
    (await screen.findByRole("button", { name: "Use a token" })).click();
    expect(await screen.findByRole("dialog", { name: dialogs.token })).toBeDefined();
  });
});
