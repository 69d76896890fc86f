import { describe, expect, it, vi } from "vitest";
import { StoredText } from "../browserStorage.ts";
import { AccessToken, type TokenChannel } from "./accessToken.ts";

/** Tabs of one browser, each with its own storage and one shared storage. */
function browser() {
  const shared = memory();
  const ends: { said: (data: unknown) => void }[] = [];
  const channel = (): TokenChannel => {
    const end = { said: (_: unknown): void => undefined };
    ends.push(end);
    return {
      postMessage: (word) => {
        for (const other of ends) if (other !== end) other.said(word);
      },
      addEventListener: (_, listener) => {
        end.said = (data) => listener({ data });
      },
    };
  };
  const tab = (own = memory()) => {
    const token = new AccessToken({
      tab: new StoredText(own, "t"),
      browser: new StoredText(shared, "t"),
      channel: channel(),
    });
    const changed = vi.fn();
    token.follow(changed);
    return { token, changed, own };
  };
  return { tab, shared, say: (data: unknown) => ends[0]?.said(data) };
}

function memory(): Pick<Storage, "getItem" | "setItem" | "removeItem"> {
  const kept = new Map<string, string>();
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, text) => void kept.set(key, text),
    removeItem: (key) => void kept.delete(key),
  };
}

describe("the access token", () => {
  it("is kept by the tab, or remembered by the browser on request", () => {
    const { tab, shared } = browser();
    const { token, own } = tab();
    token.keep("one", false);
    expect([own.getItem("t"), shared.getItem("t"), token.isRemembered]).toEqual(["one", null, false]);
    token.keep("two", true);
    expect([own.getItem("t"), shared.getItem("t"), token.isRemembered]).toEqual([null, "two", true]);
    expect(tab().token.read()).toBe("two");
  });

  it("is shared with a new tab that needs one", () => {
    const { tab } = browser();
    tab().token.keep("secret", false);
    const fresh = tab();
    expect(fresh.token.read()).toBe("");
    expect(fresh.token.want()).toBe(true);
    expect(fresh.token.read()).toBe("secret");
    expect(fresh.changed).toHaveBeenCalledOnce();
  });

  it("is not shared with a tab that needs none", () => {
    const { tab } = browser();
    const quiet = tab();
    tab().token.keep("secret", false);
    expect(quiet.token.read()).toBe("");
    expect(quiet.changed).not.toHaveBeenCalled();
  });

  it("that was rejected is not shared, and no other tab is asked", () => {
    const { tab } = browser();
    const old = tab();
    old.token.keep("expired", false);
    expect(old.token.want()).toBe(false);
    const fresh = tab();
    fresh.token.want();
    expect(fresh.token.read()).toBe("");
  });

  it("replaces the old one in every tab", () => {
    const { tab } = browser();
    const [first, second, other] = [tab(), tab(), tab()];
    for (const { token } of [first, second]) token.keep("expired", false);
    other.token.keep("another user's", false);
    first.token.want();
    first.token.keep("renewed", false);
    expect([first, second, other].map(({ token }) => token.read())).toEqual(["renewed", "renewed", "another user's"]);
    expect(second.changed).not.toHaveBeenCalled();
  });

  it.each([true, false])("that is entered in one tab reaches all waiting tabs (remembered: %s)", (remember) => {
    const { tab } = browser();
    const [first, second, refused] = [tab(), tab(), tab()];
    refused.token.keep("expired", false);
    for (const { token } of [first, second, refused]) token.want();
    first.token.keep("secret", remember);
    expect([second, refused].map(({ token }) => token.read())).toEqual(["secret", "secret"]);
    expect(second.changed).toHaveBeenCalledOnce();
    expect(refused.changed).toHaveBeenCalledOnce();
  });

  it("that was remembered and rejected is forgotten", () => {
    const { tab, shared } = browser();
    const { token } = tab();
    token.keep("expired", true);
    token.want();
    token.keep("renewed", false);
    expect([token.read(), shared.getItem("t")]).toEqual(["renewed", null]);
  });

  it("is forgotten in all tabs that have it", () => {
    const { tab, shared } = browser();
    const [first, second] = [tab(), tab()];
    first.token.keep("secret", true);
    second.token.want();
    first.token.forget();
    expect([first.token.read(), second.token.read(), shared.getItem("t")]).toEqual(["", "", null]);
    expect(second.changed).toHaveBeenCalled();
  });

  it("ignores unknown messages", () => {
    const { tab, say } = browser();
    const { token } = tab();
    token.want();
    for (const data of [null, "token", { kind: "token", token: 1 }, { kind: "other" }]) say(data);
    expect(token.read()).toBe("");
  });
});
