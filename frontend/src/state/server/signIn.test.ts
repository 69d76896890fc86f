// @vitest-environment jsdom
import { ApiError } from "@signalbox/client/requests";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openChat } from "../../fixtures/chat.ts";
import { UnconfirmedMessages } from "../chat/unconfirmedMessages.ts";
import { accessToken } from "./accessToken.ts";
import { csrfHeaders, csrfToken } from "./csrfToken.ts";
import { connect } from "./server.ts";
import { fetchPerson, goToSignIn, signInAddress, signOut } from "./signIn.ts";

const sent: [string, RequestInit][] = [];
let body: unknown = {};

beforeEach(() => {
  sent.length = 0;
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    sent.push([url, init]);
    return init.method === "POST" ? new Response(null, { status: 204 }) : Response.json(body);
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  // biome-ignore lint/suspicious/noDocumentCookie: jsdom has no Cookie Store
  document.cookie = "signalbox-csrf=; max-age=0";
  sessionStorage.clear();
  localStorage.clear();
});

const setCookie = (value: string) => {
  // biome-ignore lint/suspicious/noDocumentCookie: as above
  document.cookie = `signalbox-csrf=${value}`;
};

describe("the CSRF token", () => {
  it("is in a cookie, and over https in one that belongs to this host alone", () => {
    expect(csrfToken("")).toBeUndefined();
    expect(csrfToken("a=b; signalbox-csrf=x")).toBe("x");
    expect(csrfToken("signalbox-csrf=old; __Host-signalbox-csrf=y")).toBe("y");
    expect(csrfToken("not-signalbox-csrf=x")).toBeUndefined();
  });

  it("is sent with requests that change something", async () => {
    expect(csrfHeaders({ method: "POST" })).toEqual({});
    setCookie("x");
    const client = connect(() => "");
    await client.request("/api/chat", { method: "POST", headers: { "content-type": "application/json" } });
    await client.request("/api/runs");
    const [post, get] = sent.map(([, init]) => new Headers(init.headers));
    expect([post?.get("x-csrf-token"), post?.get("content-type")]).toEqual(["x", "application/json"]);
    expect(get?.has("x-csrf-token")).toBe(false);
  });
});

describe("a person", () => {
  it("is known from the session, without a token", async () => {
    accessToken.keep("a-token", false);
    body = { signed_in: true, name: "Ada", role: "operator", sign_in: "oidc" };
    expect(await fetchPerson()).toEqual({ signedIn: true, name: "Ada", isOperator: true, signIn: "oidc" });
    expect(new Headers(sent[0]?.[1].headers).has("authorization")).toBe(false);
    body = null;
    expect(await fetchPerson()).toEqual({ signedIn: false, name: "", isOperator: false, signIn: undefined });
  });

  it("comes back to the same chat, where rejected messages are sent", async () => {
    const { server, chat } = openChat({ box: sessionStorage });
    server.refuse = () => new ApiError(401, "UNAUTHORIZED", "You are not signed in.");
    await chat.send("first");
    accessToken.keep("expired", true);
    const go = vi.fn();
    goToSignIn(go);
    expect(go).toHaveBeenCalledWith(expect.stringMatching(/^\/auth\/login\?next=%2F/));
    expect(new UnconfirmedMessages(sessionStorage, "c1").all().map(({ promised }) => promised)).toEqual([true]);
    expect(accessToken.read()).toBe("");
  });

  it("leaves with the whole address of the page", () => {
    const there = new URL("https://chat.example.org/chat/?id=1#end") as unknown as Location;
    expect(signInAddress(there)).toBe("/auth/login?next=%2Fchat%2F%3Fid%3D1%23end");
  });

  it("signs out, and then the page is loaded again", async () => {
    const reload = vi.fn();
    await signOut(reload);
    expect([sent[0]?.[0], sent[0]?.[1].method, reload.mock.calls.length]).toEqual(["/auth/logout", "POST", 1]);
  });
});
