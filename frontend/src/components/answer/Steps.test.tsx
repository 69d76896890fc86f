// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { scriptedAnswer } from "../../fixtures/answer.ts";
import { call, done, failed, feed, found, head, line, page, say, show, think } from "../../fixtures/responsePanel.tsx";
import { preloadMenu } from "../ui/Menu.tsx";

const drawn = vi.hoisted(() => ({ lamps: 0 }));
vi.mock("../markdown/Prose.tsx", () => ({ Prose: ({ text }: { text: string }) => <div>{text}</div> }));
vi.mock("../ui/Lamp.tsx", () => ({
  Lamp: ({ lamp }: { lamp: string }) => {
    drawn.lamps += 1;
    return <i data-lamp={lamp} />;
  },
}));

beforeAll(preloadMenu);
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

describe("the steps of a long run", () => {
  const research = [
    ...[think("one", 1), call("a", 1), found("a", [page(1), page(2)])],
    ...[think("two", 2), call("b", 2), found("b", [page(2), page(3)]), think("three", 3)],
  ];
  const ROW = /^2 searches ?· 3 sources/;
  const rows = () => document.querySelectorAll("[data-part=steps] [data-part=stop]:not([data-kind=steps])").length;
  const folded = () => document.querySelectorAll("[data-part=steps] > [inert] [data-part=stop]").length;

  it("fold into one row when the answer begins, which opens and stays so when it is shown again", () => {
    const answer = scriptedAnswer();
    const { unmount } = show(answer);
    feed(answer, ...research);
    expect(folded()).toBe(0);
    feed(answer, say("It is so [1]."));
    expect(head(ROW).getAttribute("aria-expanded")).toBe("false");
    expect(folded()).toBe(5);
    fireEvent.click(head(ROW));
    expect([head(ROW).getAttribute("aria-expanded"), folded()]).toEqual(["true", 0]);
    unmount();
    show(answer);
    feed(answer, say(" And more."), done());
    expect([head(ROW).getAttribute("aria-expanded"), folded(), rows()]).toEqual(["true", 0, 5]);
  });

  it("stay as they are where the reader is among them", () => {
    const [pressed, focused] = [scriptedAnswer(), scriptedAnswer()];
    show(pressed);
    feed(pressed, ...research);
    fireEvent.click(screen.getAllByRole("button", { name: /^Thought/ })[0] as HTMLElement);
    feed(pressed, say("So."), done());
    expect(folded()).toBe(0);
    cleanup();
    show(focused);
    feed(focused, ...research);
    screen.getAllByRole("button", { name: /^Thought/ })[0]?.focus();
    feed(focused, say("So."), done());
    expect(folded()).toBe(0);
    expect(document.activeElement?.textContent).toMatch(/^Thought/);
  });

  it("stay open where reasoning is always open, and are not made before they are opened", () => {
    const answer = scriptedAnswer("auto", ...research, say("So."), done());
    show(answer, {}, "open");
    expect([rows(), folded()]).toEqual([5, 0]);
    cleanup();
    show(answer);
    expect(rows()).toBe(0);
    fireEvent.click(head(ROW));
    expect(rows()).toBe(5);
  });

  it("tell a failure in their row", () => {
    show(scriptedAnswer("auto", ...research, call("c", 3), failed("c", "No.", "TIMEOUT"), say("So."), done()));
    expect(line()[0]).toBe("failed 3 searches · 3 sources · 1 failed");
    fireEvent.click(head(/^3 searches/));
    expect(line()[0]).toBe("done 3 searches · 3 sources · 1 failed +");
  });

  it("are not drawn again by a token of the answer", () => {
    const answer = scriptedAnswer("auto", ...research, say("So"));
    show(answer);
    drawn.lamps = 0;
    feed(answer, say(" more"));
    expect(drawn.lamps).toBe(0);
  });
});
