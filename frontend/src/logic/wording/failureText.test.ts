import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CONTRACT_SENTENCES, failureText, TITLES } from "./failureText.ts";

const CONTRACT = readFileSync(new URL("../../../../docs/sse-contract.md", import.meta.url), "utf8");

const endings = (): Record<string, string> => {
  const rows = CONTRACT.split("<!-- table: endings -->")[1]?.split("<!-- end -->")[0] ?? "";
  return Object.fromEntries(
    [...rows.matchAll(/^\| `([A-Z_]+)` \| ([^|]+) \|/gm)].map(([, code, said]) => [code, said?.trim()]),
  );
};

describe("the title of a failure", () => {
  it("exists for every error code of the contract", () => {
    expect(Object.keys(TITLES).toSorted()).toEqual(Object.keys(endings()).toSorted());
    expect({ ...TITLES, ...CONTRACT_SENTENCES }).toEqual(endings());
    expect(Object.values(TITLES).filter((title) => /upstream/i.test(title))).toEqual([]);
  });

  it.each([
    ["UPSTREAM_OVERLOADED", "The provider is overloaded.", "OpenAI", "Come back. Later said: the host"],
    ["UPSTREAM_AUTH", "The upstream rejected the API key.", "Z.AI", "No auth credentials found"],
    ["UPSTREAM_ERROR", "The provider returned an error.", "The upstream", "x"],
  ])("%s is ours, and the provider is quoted", (code, sentence, who, words) => {
    const end = { status: "error", code, error: `${sentence} ${who} said: ${words}` };
    expect(failureText(end, "m")).toEqual({
      title: TITLES[code],
      detail: "",
      quote: { who: who === "The upstream" ? "The provider" : who, words },
    });
  });

  it.each([
    ["RATE_LIMIT", "Too many requests in a short time. It accepts requests again in about 5 hours. Groq said: no"],
    ["UPSTREAM_UNREACHABLE", "The upstream did not accept a connection in time."],
    ["BUDGET_REACHED", "The prompt alone reaches the run's cost limit."],
  ])("%s keeps what the server says beyond it", (code, error) => {
    const { title, detail } = failureText({ status: "error", code, error }, "m");
    expect(title).toBe(TITLES[code]);
    expect(detail).toMatch(/^(It accepts requests again in about 5 hours|The upstream did not|The prompt alone).*\.$/);
  });

  it("is the server's sentence if it is more complete, or if the page has none", () => {
    const unknown = "The provider stopped for a reason that Signalbox does not know: nap.";
    const words = (code: string, error: string) => failureText({ status: "error", code, error }, "m");
    expect(words("STOP_UNKNOWN", unknown)).toEqual({ title: unknown, detail: "", quote: undefined });
    expect(words("INVALID_REQUEST", "max_tokens: too large.").title).toBe("max_tokens: too large.");
    expect(words("SOMETHING_NEW", "It broke. Groq said: no")).toEqual({
      title: "It broke.",
      detail: "",
      quote: { who: "Groq", words: "no" },
    });
  });

  it("names an unknown model, and needs no message from the server", () => {
    const end = { status: "error", code: "UNKNOWN_MODEL", error: "See GET /api/models." };
    expect(failureText(end, "no-such/model").title).toBe("There is no model called \u201cno-such/model\u201d.");
    const gone = { status: "error", code: "UNKNOWN_CONVERSATION", error: "GET /api/conversations lists them." };
    expect(failureText(gone, "m")).toMatchObject({ title: "This conversation no longer exists.", detail: "" });
    expect(failureText({ status: "error", code: "STREAM_CUT" }, "m").title).toBe(TITLES.STREAM_CUT);
    expect(failureText({ status: "error" }, "m").title).toBe("Failed.");
  });
});
