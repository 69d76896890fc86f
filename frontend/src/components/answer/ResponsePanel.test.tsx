// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { scriptedAnswer } from "../../fixtures/answer.ts";
import { eventsOf, fixture, fixtures } from "../../fixtures/read.ts";
import type { AnswerActions } from "../../logic/answer/answerActions.ts";
import type { PanelChoice } from "../../logic/answer/openPanels.ts";
import { connectionLost, refused } from "../../logic/trace/reducer.ts";
import type { ChatEvent } from "../../types/models.ts";
import { preloadMenu } from "../ui/Menu.tsx";
import { ResponsePanel } from "./ResponsePanel.tsx";

const drawn = vi.hoisted(() => ({ lamps: 0, texts: [] as string[] }));
vi.mock("../markdown/Prose.tsx", () => ({
  Prose: ({ text, sources }: { text: string; sources: ReadonlyMap<number, unknown> }) => {
    drawn.texts.push(text);
    return <div data-sources={[...sources.keys()].join()}>{text}</div>;
  },
}));
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

const NO_ACTIONS: AnswerActions = {
  onRetry: undefined,
  onRetryWith: undefined,
  onStop: () => undefined,
  onContinue: undefined,
  limits: {},
  onLimit: undefined,
  onInspect: () => undefined,
  onSave: undefined,
  onNew: undefined,
  onToken: undefined,
};

type Fed = ReturnType<typeof scriptedAnswer>;

const show = (answer: Fed, actions: Partial<AnswerActions> = {}, panels: PanelChoice = "automatic") =>
  render(<ResponsePanel answer={answer} panels={panels} actions={{ ...NO_ACTIONS, ...actions }} />);

const feed = (answer: Fed, ...events: readonly ChatEvent[]) => act(() => answer.feed(...events));

/** The line as text: each stop with its lamp and sentence, and `+` if its panel is open. */
const line = (): string[] =>
  [...document.querySelectorAll<HTMLElement>("[data-part=stop], [data-part=answer], [data-part=end]")].map((stop) => {
    if (stop.dataset.part !== "stop") return stop.dataset.part ?? "";
    const head = stop.querySelector("button[aria-expanded]");
    const words = (head ?? stop.querySelector("p"))?.textContent ?? "";
    return `${stop.dataset.lamp} ${words}${head?.getAttribute("aria-expanded") === "true" ? " +" : ""}`;
  });

const head = (name: RegExp) => screen.getByRole("button", { name });

const meta = { category: "search", visibility: "primary" } as const;
const think = (content: string, step: number): ChatEvent => ({ type: "reasoning", content, step });
const say = (content: string): ChatEvent => ({ type: "content", content });
const call = (id: string, step: number, over: object = {}): ChatEvent => ({
  type: "tool_calls",
  calls: [{ id, name: "search_web", arguments: JSON.stringify({ query: `about ${id}` }), ...meta, ...over }],
  step,
});
const found = (id: string, results: readonly object[] = [], over: object = {}): ChatEvent => ({
  type: "tool_result",
  id,
  name: "search_web",
  result: { success: true, result: { results } },
  ...meta,
  ...over,
});
const failed = (id: string, error: string, code: string, over: object = {}): ChatEvent => ({
  type: "tool_result",
  id,
  name: "search_web",
  result: { success: false, error, code },
  ...meta,
  ...over,
});
const page = (n: number, over: object = {}) => ({
  n,
  title: `Page ${n}`,
  url: `https://e.example/${n}`,
  snippet: `About ${n}.`,
  ...over,
});
const done = (over: object = {}): ChatEvent => ({ type: "done", done: true, status: "complete", ...over }) as ChatEvent;

describe("the first moment", () => {
  it("has a lamp lit before the first byte, and a placeholder where reasoning was asked for", () => {
    show(scriptedAnswer());
    expect(line()).toEqual(["running Waiting for the model"]);
    cleanup();
    show(scriptedAnswer("high"));
    expect(line()).toEqual(["running Thinking"]);
  });

  it("counts the seconds that it takes", () => {
    show(scriptedAnswer());
    act(() => vi.advanceTimersByTime(3000));
    expect(line()).toEqual(["running Waiting for the model · 3 s"]);
  });
});

describe("a server that knows the contract's minimum alone", () => {
  const bare = { id: "a", name: "search_web" };
  const announced: ChatEvent = { type: "tool_calls", calls: [{ ...bare, arguments: '{"query":"tides"}' }] };
  const result: ChatEvent = { type: "tool_result", ...bare, result: { success: true, result: { results: [page(1)] } } };

  it.each([
    ["says where a call is shown when it starts", [announced, { type: "tool_executing", ...bare, ...meta }, result]],
    ["says it with the result", [announced, { type: "tool_executing", ...bare }, { ...result, ...meta }]],
    ["never says it", [announced, { type: "tool_executing", ...bare }, result]],
    ["gives the result another id", [announced, { ...result, id: "b" }]],
  ] as [string, ChatEvent[]][])("%s: the search panel is shown", (_, events) => {
    const answer = scriptedAnswer();
    show(answer);
    feed(answer, ...events);
    expect(line()[0]).toBe("done Searched · 1 source +");
    expect(screen.getByText("tides")).toBeDefined();
    expect(screen.getByText("Page 1")).toBeDefined();
  });
});

describe("the focus", () => {
  it("goes from reasoning to search to the answer", () => {
    const answer = scriptedAnswer("high");
    show(answer);
    feed(answer, think("First I look.", 1));
    expect(line()).toEqual(["running Thinking +"]);
    feed(answer, call("a", 1));
    expect(line()).toEqual(["done Thought +", "running Searching"]);
    act(() => vi.advanceTimersByTime(349));
    expect(line()[0]).toBe("done Thought +");
    act(() => vi.advanceTimersByTime(2));
    expect(line()).toEqual(["done Thought", "running Searching"]);
    feed(answer, found("a", [page(1)]));
    expect(line()).toEqual(["done Thought", "done Searched · 1 source +", "running Thinking"]);
    feed(answer, think("Good.", 2));
    expect(line()).toEqual(["done Thought", "done Searched · 1 source +", "running Thinking +"]);
    feed(answer, say("It is so [1]."));
    expect(line()).toEqual(["done Thought", "done Searched · 1 source", "done Thought", "answer"]);
    feed(answer, done());
    expect(line().slice(-2)).toEqual(["answer", "end"]);
  });

  it("waits as long as reasoning goes on after the call", () => {
    const answer = scriptedAnswer();
    show(answer);
    feed(answer, think("a", 1), call("x", 1));
    act(() => vi.advanceTimersByTime(300));
    feed(answer, think("b", 1));
    act(() => vi.advanceTimersByTime(300));
    expect(line()[0]).toBe("running Thinking +");
    act(() => vi.advanceTimersByTime(51));
    expect(line()[0]).toBe("running Thinking");
  });

  it("leaves a panel alone that the reader has touched, also when it is shown again", () => {
    const answer = scriptedAnswer();
    const { unmount } = show(answer);
    feed(answer, think("First I look.", 1));
    fireEvent.click(head(/^Thinking/));
    expect(line()).toEqual(["running Thinking"]);
    feed(answer, think(" And more.", 1));
    expect(line()).toEqual(["running Thinking"]);
    feed(answer, call("a", 1), found("a", [page(1)]));
    fireEvent.click(head(/^Thought/));
    unmount();
    show(answer);
    expect(line().slice(0, 2)).toEqual(["done Thought +", "done Searched · 1 source +"]);
    feed(answer, say("It is so."), done());
    expect(line().slice(0, 2)).toEqual(["done Thought +", "done Searched · 1 source"]);
  });

  it("follows the reader's setting for reasoning", () => {
    const answer = scriptedAnswer("auto", ...fixture("tools"));
    show(answer, {}, "open");
    expect(
      line()
        .filter((stop) => stop.includes("Thought"))
        .every((stop) => stop.endsWith("+")),
    ).toBe(true);
    cleanup();
    const live = scriptedAnswer();
    show(live, {}, "closed");
    feed(live, think("a", 1));
    expect(line()).toEqual(["running Thinking"]);
  });
});

describe("reasoning", () => {
  it("loses no text over two rounds of search", () => {
    const answer = scriptedAnswer();
    show(answer, {}, "open");
    feed(answer, think("one ", 1), think("and two", 1), call("a", 1), found("a"));
    feed(answer, think("three", 2), call("b", 2), found("b"), think("four", 3), say("Done."));
    const texts = () => screen.getAllByRole("group", { name: "Reasoning" }).map((block) => block.textContent);
    expect(texts()).toEqual(["one and two", "three", "four"]);
    feed(answer, done());
    expect(texts()).toEqual(["one and two", "three", "four"]);
  });

  it("says when the provider hides it, and leaves no empty block", () => {
    show(scriptedAnswer("auto", ...fixture("hidden-reasoning")));
    expect(line()[0]).toMatch(/^done Thought.* · not shown by the provider$/);
    cleanup();
    const answer = scriptedAnswer("high", think("", 1));
    show(answer);
    expect(line()).toEqual(["running Thinking"]);
    feed(answer, say("Hello."), done());
    expect(line()).toEqual(["answer", "end"]);
  });
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

describe("searches", () => {
  it("are one line, with the same count as there are sources, and the server's numbers", () => {
    const answer = scriptedAnswer("auto", call("a", 1), call("b", 1), found("a", [page(3), page(1)]));
    show(answer);
    expect(line()[0]).toBe("running Searching 2× · 2 sources +");
    feed(answer, found("b", [page(1), page(2, { url: "https://e.example/1?utm_source=x" }), page(7)]));
    expect(line()[0]).toBe("done Searched 2× · 3 sources +");
    const links = document.querySelectorAll("[data-part=source]");
    expect([...links].map((link) => /\[\d+\]/.exec(link.textContent ?? "")?.[0])).toEqual(["[3]", "[1]", "[7]"]);
    expect(links[0]?.textContent).toContain("About 3.");
  });

  it("say what failed, was cached, was not run or found nothing; a failure is seen until it is looked at", () => {
    show(scriptedAnswer("auto", ...fixture("clamped")));
    expect(line()[1]).toBe("failed Searched 3× · no results · 1 failed · 1 cached · 1 skipped");
    fireEvent.click(head(/^Searched/));
    expect(line()[1]).toMatch(/^done Searched.* \+$/);
    const fates = [...document.querySelectorAll("[data-part=query]")].map(
      (query) => query.lastElementChild?.textContent,
    );
    expect(fates).toEqual(["no results", "cached", "the model's request was cut off", "skipped: limit reached"]);
  });

  it("open on a first result that failed, too", () => {
    const answer = scriptedAnswer("auto", call("a", 1));
    show(answer);
    feed(answer, failed("a", "No.", "TIMEOUT"));
    expect(line()[0]).toBe("failed Searched · failed +");
  });

  it("show the rest of many sources when asked", () => {
    const many = Array.from({ length: 80 }, (_, index) => page(index + 1));
    const answer = scriptedAnswer("auto", call("a", 1), found("a", many));
    show(answer);
    expect(line()[0]).toContain("80 sources");
    expect(document.querySelectorAll("[data-part=source]")).toHaveLength(20);
    fireEvent.click(screen.getByRole("button", { name: "Show 60 more sources" }));
    expect(document.querySelectorAll("[data-part=source]")).toHaveLength(80);
  });
});

describe("other tools", () => {
  const other = { category: "other", visibility: "secondary", name: "read_url" };

  it("never show when they are hidden, at any moment of any run", () => {
    for (const [, bytes] of fixtures) {
      const events = eventsOf(bytes);
      const hidden = events.flatMap((event) =>
        event.type === "tool_calls"
          ? event.calls.filter((one) => one.visibility === "hidden").map(({ name }) => name)
          : [],
      );
      if (hidden.length === 0) continue;
      const answer = scriptedAnswer("auto");
      show(answer, {}, "open");
      for (const event of events) {
        feed(answer, event);
        for (const name of hidden) expect(document.body.innerHTML).not.toContain(name);
      }
      cleanup();
    }
  });

  it("are one line of chips; a failure bubbles up and tells its reason, never an empty table", () => {
    const answer = scriptedAnswer(
      "auto",
      call("a", 1, other),
      call("b", 1, other),
      call("c", 1, { ...other, name: "save" }),
    );
    show(answer);
    feed(
      answer,
      found("a", [], other),
      failed("b", "The page answered 404.", "TOOL_FAILED", other),
      found("c", [], other),
    );
    expect(line()[0]).toBe("failed Used Read url×2 Save · 1 failed");
    expect(document.querySelectorAll("[data-part=chip]")).toHaveLength(2);
    fireEvent.click(head(/^Used/));
    expect(line()[0]).toBe("done Used Read url×2 Save · 1 failed +");
    const [, card] = document.querySelectorAll<HTMLElement>("[data-part=tool]");
    expect(card?.textContent).toContain("The page answered 404.");
    expect(card?.querySelector("table")).toBeNull();
  });

  it("show any tool's values as a table where they are one, and only addresses for browsers as links", () => {
    const result = [
      { name: "a", at: "https://e.example/a" },
      { name: "b", at: "javascript:alert(1)" },
    ];
    const event: ChatEvent = { ...(found("a", [], other) as object), result: { success: true, result } } as ChatEvent;
    show(scriptedAnswer("auto", call("a", 1, other), event, say("x")));
    fireEvent.click(head(/^Used/));
    const card = within(document.querySelector<HTMLElement>("[data-part=tool]") as HTMLElement);
    expect(card.getAllByRole("columnheader").map((cell) => cell.textContent)).toEqual(["name", "at"]);
    expect(card.getAllByRole("link").map((link) => link.getAttribute("href"))).toEqual(["https://e.example/a"]);
    expect(card.getByText("about a")).toBeTruthy();
  });

  it("cut long JSON until it is asked for", () => {
    const result = { deep: { text: "x".repeat(3000) } };
    const event: ChatEvent = { ...(found("a", [], other) as object), result: { success: true, result } } as ChatEvent;
    show(scriptedAnswer("auto", call("a", 1, other), event, say("x")));
    fireEvent.click(head(/^Used/));
    const box = screen.getByRole("region", { name: /^Result/ });
    expect(box.textContent?.length).toBeLessThan(1000);
    fireEvent.click(screen.getByRole("button", { name: /more characters$/ }));
    expect(box.textContent).toContain("x".repeat(3000));
  });

  it("that the end cut short are stopped or failed, with no lamp left running", () => {
    const answer = scriptedAnswer("auto", call("a", 1, other));
    show(answer);
    act(() => answer.show({ trace: connectionLost(answer.state.trace) }));
    expect(line()).toEqual(["failed Used Read url · failed", "end"]);
    expect(document.querySelectorAll("[data-lamp=running]")).toHaveLength(0);
  });
});

const errorBox = () => document.querySelector<HTMLElement>("[data-part=error]") as HTMLElement;

describe("warnings and errors", () => {
  it("warn once each, above the line, and never inside the answer", () => {
    show(scriptedAnswer("auto", ...fixture("clamped")));
    const warnings = screen.getByRole("list", { name: "Warnings" });
    expect(within(warnings).getAllByRole("listitem")).toHaveLength(2);
  });

  it("stand in a box of their own with what fits, and wait where the host asked for it", () => {
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

  it("have no button for what cannot be done", () => {
    show(scriptedAnswer("auto", ...fixture("rate-limit")));
    expect(within(errorBox()).queryAllByRole("button")).toEqual([]);
  });

  it("say what the connection does", () => {
    const answer = scriptedAnswer("auto", say("Half"));
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

  it("say quietly when an old run's events cannot be had", () => {
    const answer = scriptedAnswer("auto", say("Old."), done());
    show(answer);
    act(() => answer.show({ known: "failed" }));
    expect(document.body.textContent).toContain("The steps of this answer are no longer on the server.");
  });
});

describe("the end", () => {
  it("tells what answered, how long it took and what it cost, and which loop it was and why", () => {
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

  it("tells of no first token where none came", () => {
    const answer = scriptedAnswer("auto", ...fixture("rate-limit"));
    act(() => answer.show({ trace: { ...answer.state.trace, firstEventMs: 340 } }));
    show(answer);
    expect(document.body.textContent).not.toContain("first token");
  });

  it("marks an amount that is estimated", () => {
    show(scriptedAnswer("auto", say("x"), done({ cost: 0.5, cost_estimated: true })));
    expect(document.querySelector("[data-fact=cost]")?.textContent).toContain("about $0.5000");
  });
});

describe("a token", () => {
  it("of the answer draws nothing again but the text that grows", () => {
    const events = fixture("tools");
    const answer = scriptedAnswer("auto", ...events.slice(0, -2));
    show(answer, {}, "open");
    drawn.lamps = 0;
    drawn.texts = [];
    feed(answer, say(" more"));
    expect(drawn).toEqual({ lamps: 0, texts: [expect.stringMatching(/café {2}more$/)] });
  });

  it("of reasoning draws nothing again but its block", () => {
    const answer = scriptedAnswer("auto", think("a", 1), call("x", 1), found("x", [page(1)]), think("b", 2));
    show(answer, {}, "open");
    drawn.lamps = 0;
    drawn.texts = [];
    feed(answer, think("c", 2));
    expect(drawn).toEqual({ lamps: 1, texts: ["bc"] });
  });

  it("leaves the sources of a text the same until a call brings another", () => {
    show(scriptedAnswer("auto", ...fixture("tools")));
    const [first] = document.querySelectorAll("[data-sources]");
    expect(first?.getAttribute("data-sources")).toBe("2,3,1");
  });
});

describe("the notice of a search", () => {
  const NOTICE = "Web search is not set up, so this server's documents and saved notes were searched instead.";

  it("is read once for a burst, also while it is closed", () => {
    const answer = scriptedAnswer();
    show(answer, {}, "closed");
    for (const id of ["a", "b"]) {
      const result = { success: true as const, result: { searched: "docs", notice: NOTICE, results: [] } };
      feed(answer, call(id, 1), { type: "tool_result", id, name: "search_web", result, ...meta, step: 1 });
    }
    expect(screen.getAllByText(NOTICE)).toHaveLength(1);
  });

  it("is left out where the search says nothing about itself", () => {
    const answer = scriptedAnswer();
    show(answer);
    feed(answer, call("a", 1), found("a"));
    expect(document.querySelector("[data-part=notice]")).toBeNull();
  });
});
