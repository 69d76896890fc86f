// @vitest-environment jsdom
// Counts what a token costs: which components render, what is parsed, how often, and what is fetched.
import { act, cleanup, render } from "@testing-library/react";
import { type ComponentProps, type ComponentType, memo, Profiler } from "react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { textOf } from "../e2e/bench/texts.ts";
import type { ChatView as View } from "./components/chat/ChatView.tsx";
import { parseCounts } from "./components/markdown/parseCount.ts";
import { preloadMenu } from "./components/ui/Menu.tsx";
import { content, done, ScriptedServer, settle } from "./fixtures/server.ts";
import { blocksOf } from "./logic/markdown/blocks.ts";
import { Chat } from "./state/chat/chat.ts";

/** The id of an answer that had none when it was first rendered. */
const ASKED = "asked";

/** Everything that rendered: a question by its text, an answer by its run's id. */
const drawn = vi.hoisted(() => [] as string[]);

/** The same component, reporting each render of it or of its children. */
const watched = vi.hoisted(() => <Props extends object>(Part: ComponentType<Props>, idOf: (props: Props) => string) => {
  const Watched = (props: Props) => (
    <Profiler id={idOf(props)} onRender={(id) => drawn.push(id)}>
      <Part {...props} />
    </Profiler>
  );
  return memo(Watched);
});

vi.mock("./components/answer/ResponsePanel.tsx", async (original) => {
  const { ResponsePanel } = await original<typeof import("./components/answer/ResponsePanel.tsx")>();
  return { ResponsePanel: watched(ResponsePanel, ({ answer }) => answer.runId || "asked") };
});
vi.mock("./components/chat/QuestionRow.tsx", async (original) => {
  const { QuestionRow } = await original<typeof import("./components/chat/QuestionRow.tsx")>();
  return { QuestionRow: watched(QuestionRow, ({ entry }) => entry.part.text) };
});

const ROW_PX = 100;
const VIEW_PX = 800;
/** Visible rows, and those that the list keeps mounted around them. */
const MOST_ROWS = 40;

let frames: FrameRequestCallback[] = [];

/** Render the newest state. */
const frame = () =>
  act(() => {
    const due = frames;
    frames = [];
    for (const run of due) run(performance.now());
  });

/** jsdom has no layout, so every row gets this height. */
class Sizes {
  readonly #tell: ResizeObserverCallback;

  constructor(tell: ResizeObserverCallback) {
    this.#tell = tell;
  }

  observe(target: Element): void {
    const height = target.tagName === "MAIN" ? VIEW_PX : ROW_PX;
    const entry = { target, contentRect: { width: 600, height } } as ResizeObserverEntry;
    queueMicrotask(() => this.#tell([entry], this as unknown as ResizeObserver));
  }

  unobserve(): void {
    // Heights are constant.
  }

  disconnect(): void {
    // Heights are constant.
  }
}

let ChatView: typeof View;

beforeAll(async () => {
  vi.stubGlobal("ResizeObserver", Sizes);
  Object.defineProperty(HTMLElement.prototype, "offsetParent", { get: () => document.body });
  const chat = await import("./components/chat/ChatView.tsx");
  ({ ChatView } = chat);
  // Loaded before the count starts.
  await Promise.all([chat.Rows.preload(), preloadMenu(), import("./components/markdown/Markdown.tsx")]);
});

beforeEach(() => {
  frames = [];
  vi.stubGlobal("requestAnimationFrame", (run: FrameRequestCallback) => frames.push(run));
  vi.stubGlobal("cancelAnimationFrame", () => undefined);
});

afterEach(cleanup);

const NOTHING = () => undefined;
const ACTIONS: ReturnType<ComponentProps<typeof View>["actionsOf"]> = {
  onRetry: undefined,
  onRetryWith: undefined,
  onStop: () => undefined,
  onContinue: undefined,
  limits: {},
  onLimit: undefined,
  onInspect: NOTHING,
  onSave: NOTHING,
  onNew: NOTHING,
  onToken: NOTHING,
};

/** A conversation as the server's JSON. */
function conversationOf(turns: number): object {
  const nodes = Array.from({ length: turns }, (_, turn) => [
    { id: `q${turn}`, parent_id: turn ? `a${turn - 1}` : null, role: "user", text: `question ${turn}` },
    {
      ...{ id: `a${turn}`, parent_id: `q${turn}`, role: "assistant", text: `answer **${turn}**` },
      ...{ run_id: `a${turn}`, status: "complete", model: "m", loop: "v2", steps: 1 },
    },
  ]).flat();
  return { id: "c", title: "t", leaf_id: `a${turns - 1}`, messages: nodes };
}

async function openChat(turns: number) {
  const server = new ScriptedServer();
  server.conversation = conversationOf(turns);
  const chat = new Chat("c", {
    client: server,
    asking: () => ({ models: ["m"], system: "", fields: () => ({}) }),
    stream: { slots: { acquire: async () => NOTHING } },
  });
  await chat.open();
  const shown = render(
    <ChatView
      chat={chat}
      models={[]}
      panels="automatic"
      actionsOf={actionsOf}
      editing={undefined}
      onEdit={NOTHING}
      onAsked={NOTHING}
      empty={null}
    >
      {null}
    </ChatView>,
  );
  await act(settle);
  frame();
  await act(settle);
  return { server, chat, ...shown };
}

const actionsOf = () => ACTIONS;

/** A chat with a running answer. Earlier renders are not counted. */
async function asked(turns = 3) {
  const opened = await openChat(turns);
  void opened.chat.send("the last question");
  await act(settle);
  const [run] = opened.server.asked;
  if (!run) throw new Error("nothing was asked");
  await run.send(content("It "));
  frame();
  await act(settle);
  frame();
  drawn.length = 0;
  return { ...opened, run };
}

describe("a token", () => {
  it("renders only its own answer", async () => {
    const { run, container } = await asked();
    const texts = container.textContent;
    for (const word of ["goes ", "on ", "and on."]) {
      await run.send(content(word));
      frame();
    }
    expect(texts).toContain("question 2");
    expect(container.textContent).toContain("It goes on and on.");
    expect(drawn).toEqual([ASKED, ASKED, ASKED]);
  });

  it("is rendered in the next frame, together with earlier ones", async () => {
    const { run, container } = await asked();
    await run.send(...Array.from({ length: 1_000 }, (_, n) => content(`${n} `)));
    expect(drawn).toEqual([]);
    frame();
    expect(drawn).toEqual([ASKED]);
    expect(container.textContent).toContain("998 999");
  });
});

describe("an answer of thousands of tokens", () => {
  const PER_FRAME = 10;

  async function written(tokens: readonly string[]) {
    const { run, unmount } = await asked(1);
    parseCounts.parses = parseCounts.characters = 0;
    let shown = 0;
    for (let at = 0; at < tokens.length; at += PER_FRAME) {
      await run.send(content(tokens.slice(at, at + PER_FRAME).join("")));
      frame();
      shown += 1;
    }
    await run.send(done());
    frame();
    unmount();
    return { ...parseCounts, frames: shown, draws: drawn.length };
  }

  it("is parsed in proportion to its length", async () => {
    const tokens = textOf("realistic", 4_000);
    const half = tokens.slice(0, 2_000);
    const [short, long] = [await written(half), await written(tokens)];
    const settled = blocksOf(half.join("")).length;
    expect(settled).toBeGreaterThan(40);
    // One parse for the growing block per frame, and two for each finished block.
    expect(short.parses).toBeLessThan(short.frames + 2 * settled);
    expect(short.draws).toBeLessThanOrEqual(short.frames + 3);
    expect(short.characters / half.join("").length).toBeLessThan(12);
    expect(long.characters / short.characters).toBeLessThan(2.2);
    expect(long.parses / short.parses).toBeLessThan(2.2);
  }, 60_000);
});

describe("a conversation of 1,000 messages", () => {
  it("renders and fetches only visible messages", async () => {
    const { server, container } = await openChat(500);
    const rows = () => container.querySelectorAll("[data-part=response], [data-part=question]").length;
    expect(rows()).toBeGreaterThan(VIEW_PX / ROW_PX);
    expect(rows()).toBeLessThan(MOST_ROWS);
    // Answers are fetched two at a time until all visible ones are loaded.
    for (let fed = 0; fed < server.followed.length; fed++) {
      expect(server.followed.length - fed).toBeLessThanOrEqual(2);
      await act(async () => server.followed[fed]?.connection.send(content("Answer."), done()));
      frame();
      await act(settle);
    }
    expect(server.followed.length).toBeGreaterThan(VIEW_PX / ROW_PX / 2);
    expect(server.followed.length).toBeLessThan(MOST_ROWS / 2);
  });
});
