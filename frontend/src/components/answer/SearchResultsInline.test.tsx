// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { scriptedAnswer } from "../../fixtures/answer.ts";
import { fixture } from "../../fixtures/read.ts";
import { call, failed, feed, found, head, line, meta, page, show } from "../../fixtures/responsePanel.tsx";
import { preloadMenu } from "../ui/Menu.tsx";

vi.mock("../markdown/Prose.tsx", () => ({ Prose: ({ text }: { text: string }) => <div>{text}</div> }));
vi.mock("../ui/Lamp.tsx", () => ({ Lamp: ({ lamp }: { lamp: string }) => <i data-lamp={lamp} /> }));

beforeAll(preloadMenu);
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

describe("searches", () => {
  it("are one line, with the number of sources and the server's numbers", () => {
    const answer = scriptedAnswer("auto", call("a", 1), call("b", 1), found("a", [page(3), page(1)]));
    show(answer);
    expect(line()[0]).toBe("running Searching 2× · 2 sources +");
    feed(answer, found("b", [page(1), page(2, { url: "https://e.example/1?utm_source=x" }), page(7)]));
    expect(line()[0]).toBe("done Searched 2× · 3 sources +");
    const links = document.querySelectorAll("[data-part=source]");
    expect([...links].map((link) => /\[\d+\]/.exec(link.textContent ?? "")?.[0])).toEqual(["[3]", "[1]", "[7]"]);
    expect(links[0]?.textContent).toContain("About 3.");
  });

  it("show what failed, was cached, was skipped or found nothing; a failure shows until the panel is opened", () => {
    show(scriptedAnswer("auto", ...fixture("clamped")));
    expect(line()[1]).toBe("failed Searched 3× · no results · 1 failed · 1 cached · 1 skipped");
    fireEvent.click(head(/^Searched/));
    expect(line()[1]).toMatch(/^done Searched.* \+$/);
    const fates = [...document.querySelectorAll("[data-part=query]")].map(
      (query) => query.lastElementChild?.textContent,
    );
    expect(fates).toEqual(["no results", "cached", "the model's request was cut off", "skipped: limit reached"]);
  });

  it("open on a failed first result, too", () => {
    const answer = scriptedAnswer("auto", call("a", 1));
    show(answer);
    feed(answer, failed("a", "No.", "TIMEOUT"));
    expect(line()[0]).toBe("failed Searched · failed +");
  });

  it("show the rest of many sources on request", () => {
    const many = Array.from({ length: 80 }, (_, index) => page(index + 1));
    const answer = scriptedAnswer("auto", call("a", 1), found("a", many));
    show(answer);
    expect(line()[0]).toContain("80 sources");
    expect(document.querySelectorAll("[data-part=source]")).toHaveLength(20);
    fireEvent.click(screen.getByRole("button", { name: "Show 60 more sources" }));
    expect(document.querySelectorAll("[data-part=source]")).toHaveLength(80);
  });
});

describe("the notice of a search", () => {
  const NOTICE = "Web search is not set up, so this server's documents and saved notes were searched instead.";

  it("shows once for a burst, also while it is closed", () => {
    const answer = scriptedAnswer();
    show(answer, {}, "closed");
    for (const id of ["a", "b"]) {
      const result = { success: true as const, result: { searched: "docs", notice: NOTICE, results: [] } };
      feed(answer, call(id, 1), { type: "tool_result", id, name: "search_web", result, ...meta, step: 1 });
    }
    expect(screen.getAllByText(NOTICE)).toHaveLength(1);
  });

  it("is left out if the search has none", () => {
    const answer = scriptedAnswer();
    show(answer);
    feed(answer, call("a", 1), found("a"));
    expect(document.querySelector("[data-part=notice]")).toBeNull();
  });
});
