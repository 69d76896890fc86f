// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { scriptedAnswer } from "../../fixtures/answer.ts";
import { fixture } from "../../fixtures/read.ts";
import { addText, done, feed, line, show } from "../../fixtures/responsePanel.tsx";
import { refused } from "../../logic/trace/reducer.ts";
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

const errorBox = () => document.querySelector<HTMLElement>("[data-part=error]") as HTMLElement;

describe("warnings and errors", () => {
  it("warn once each, above the line, and never inside the answer", () => {
    show(scriptedAnswer("auto", ...fixture("clamped")));
    const warnings = screen.getByRole("list", { name: "Warnings" });
    expect(within(warnings).getAllByRole("listitem")).toHaveLength(2);
  });

  it("have a box with matching buttons, which wait if the provider asked for a delay", () => {
    const onRetry = vi.fn();
    const answer = scriptedAnswer("auto");
    show(answer, { onRetry, onRetryWith: () => undefined });
    feed(answer, ...fixture("rate-limit"));
    const box = errorBox();
    expect(box.textContent).toContain("Too many requests in a short time.");
    expect(box.textContent).toContain("RATE_LIMIT");
    expect(screen.queryByRole("list", { name: "Warnings" })).toBeNull();
    // The countdown is outside the alert: a screen reader would read it every second.
    expect(within(box).getByRole("alert").textContent).not.toContain("Retry in");
    const retry = within(box).getByRole("button", { name: "Retry in 42 s" });
    expect(retry.hasAttribute("disabled")).toBe(true);
    act(() => vi.advanceTimersByTime(41_500));
    expect(retry.textContent).toBe("Retry in 1 s");
    act(() => vi.advanceTimersByTime(600));
    fireEvent.click(within(box).getByRole("button", { name: "Retry" }));
    expect(onRetry).toHaveBeenCalledOnce();
    expect(within(box).getByRole("button", { name: "Choose another model" })).toBeTruthy();
    expect(screen.getAllByRole("button", { name: "Retry" })).toHaveLength(1);
  });

  it.each([
    ["UPSTREAM_CREDITS", ["Add credits", "Choose another model"]],
    ["UNAUTHORIZED", ["Enter token"]],
    ["UNKNOWN_MESSAGE", ["New chat"]],
    ["SOMETHING_NEW", ["Retry", "Choose another model"]],
  ])("offer for %s: %j", (code, names) => {
    const answer = scriptedAnswer();
    const act1 = () => undefined;
    show(answer, { onRetry: act1, onRetryWith: act1, onNew: act1, onToken: act1 });
    act(() => answer.show({ trace: refused(answer.state.trace, { code, message: "No." }) }));
    const box = errorBox();
    const shown = [...within(box).queryAllByRole("link"), ...within(box).queryAllByRole("button")];
    expect(shown.map((button) => button.textContent)).toEqual(names);
  });

  it("have no button for steps without an action", () => {
    show(scriptedAnswer("auto", ...fixture("rate-limit")));
    expect(within(errorBox()).queryAllByRole("button")).toEqual([]);
  });

  it("show the state of the connection", () => {
    const answer = scriptedAnswer("auto", addText("Half"));
    show(answer);
    act(() => answer.show({ connection: "resuming" }));
    expect(line()).toEqual(["answer", "waiting Connection lost. Reconnecting…"]);
    act(() => answer.show({ connection: "polling" }));
    expect(line()[1]).toContain("Updated once a second");
    act(() => answer.show({ stopping: true }));
    expect(line()[1]).toBe("waiting Stopping");
    feed(answer, done({ status: "cancelled" }));
    expect(line()).toEqual(["answer", "end"]);
  });

  it("show a quiet notice if an old run's events are not available", () => {
    const answer = scriptedAnswer("auto", addText("Old."), done());
    show(answer);
    act(() => answer.show({ known: "failed" }));
    expect(document.body.textContent).toContain("The steps of this answer are no longer on the server.");
  });
});

describe("the end", () => {
  it("shows model, time and cost, and in a tooltip the loop and its reason", () => {
    const answer = scriptedAnswer("auto", ...fixture("tools"));
    act(() => answer.show({ trace: { ...answer.state.trace, totalMs: 0, firstEventMs: 340 } }));
    show(answer);
    const facts = [...document.querySelectorAll("[data-fact]")].map((fact) => [
      fact.getAttribute("data-fact"),
      fact.firstChild === null ? "" : fact.textContent,
    ]);
    expect(Object.fromEntries(facts)).toMatchObject({
      model: "openai/sim via Simulator",
      time: "0 ms, first token after 340 ms",
      tokens: expect.stringContaining("1,020 tokens"),
      cost: "would cost $0.0012, simulated answers are free",
    });
    // "would cost" already says that the run was simulated.
    expect(Object.fromEntries(facts)).not.toHaveProperty("simulated");
    const details = screen.getByRole("button", { name: "Run details" });
    expect(details.title).toBe("Loop v2, set by the operator");
  });

  it("shows no time to the first token if there was none", () => {
    const answer = scriptedAnswer("auto", ...fixture("rate-limit"));
    act(() => answer.show({ trace: { ...answer.state.trace, firstEventMs: 340 } }));
    show(answer);
    expect(document.body.textContent).not.toContain("first token");
  });

  it("marks an estimated cost", () => {
    show(scriptedAnswer("auto", addText("x"), done({ cost: 0.5, cost_estimated: true })));
    expect(document.querySelector("[data-fact=cost]")?.textContent).toContain("about $0.5000");
  });
});
