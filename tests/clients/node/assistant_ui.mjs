// Drives assistant-ui's transport runtime without a page: conversation, tools of both sides, edit, reload, stop, resume.
import assert from "node:assert/strict";
import { JSDOM } from "jsdom";
import { errorOf, expectCancelled, newestRun, report, URL } from "./checks.mjs";

// Only the DOM: jsdom's AbortSignal breaks Node's fetch.
const { window } = new JSDOM("<!doctype html><div id=root></div>", { url: URL });
for (const name of ["window", "document", "HTMLElement", "Element", "Node", "MutationObserver", "DocumentFragment"]) {
  globalThis[name] = name === "window" ? window : window[name];
}
globalThis.requestAnimationFrame = (work) => setTimeout(work, 0);
globalThis.cancelAnimationFrame = clearTimeout;
globalThis.IS_REACT_ACT_ENVIRONMENT = false;

const { createElement } = await import("react");
const { createRoot } = await import("react-dom/client");
const ui = await import("@assistant-ui/react");
const { convertLangChainMessages } = await import("@assistant-ui/react-langgraph");

const converter = ui.unstable_createMessageConverter(convertLangChainMessages);
const PROTOCOLS = ["data-stream", "assistant-transport"];
const errors = [];
console.error = (...words) => errors.push(words.join(" "));
console.warn = () => {};

function humanOf(command) {
  return command.type === "add-message" ? [{ type: "human", content: command.message.parts }] : [];
}

/** A page with one thread. */
class Page {
  constructor(protocol, { tool, ...options } = {}) {
    this.finished = 0;
    this.failures = [];
    this.states = [];
    this.options = {
      api: `${URL}/assistant?protocol=${protocol}`,
      resumeApi: `${URL}/assistant/resume?protocol=${protocol}`,
      protocol,
      initialState: { messages: [] },
      headers: {},
      capabilities: { edit: true },
      onFinish: () => this.finished++,
      onError: (error) => this.failures.push(error.message),
      ...options,
      body: { model: "openai/sim", ...options.body },
      converter: (state, { pendingCommands, isSending }) => {
        this.state = state;
        const messages = [...(state?.messages ?? []), ...pendingCommands.flatMap(humanOf)];
        return { messages: converter.toThreadMessages(messages, isSending), isRunning: isSending };
      },
    };
    const Tool = () => (ui.useAssistantTool(tool), null);
    const App = () => {
      this.runtime = ui.useAssistantTransportRuntime(this.options);
      const inside = tool ? [createElement(Tool, { key: "tool" })] : [];
      return createElement(ui.AssistantRuntimeProvider, { runtime: this.runtime }, ...inside);
    };
    this.root = createRoot(window.document.createElement("div"));
    this.root.render(createElement(App));
  }

  async until(holds, what) {
    const deadline = performance.now() + 10_000;
    while (!holds()) {
      assert(performance.now() < deadline, `${what}: ${JSON.stringify(this.state)?.slice(0, 1500)} ${this.failures}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  get messages() {
    return this.runtime.thread.getState().messages;
  }

  async settled(finished) {
    await this.until(() => this.finished >= finished && !this.runtime.thread.getState().isRunning, "it never ends");
  }

  async ask(text) {
    await this.until(() => this.runtime, "no runtime");
    const before = this.finished;
    this.runtime.thread.append(text);
    await this.settled(before + 1);
  }
}

function textOf(message) {
  return message.content.filter((part) => part.type === "text").map((part) => part.text).join("");
}

function callsOf(message) {
  return message.content.filter((part) => part.type === "tool-call");
}

const weather = {
  toolName: "get_weather",
  description: "Return the weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: async ({ city }) => ({ city, text: "21 degrees and sunny" }),
};

function checksOf(protocol) {
  return {
    async "a conversation"() {
      const page = new Page(protocol);
      await page.ask("What is 17 * 23?");
      await page.ask("And what is 2 + 3?");
      assert.deepEqual(page.messages.map((one) => one.role), ["user", "assistant", "user", "assistant"]);
      const [, answer] = page.messages;
      const [call] = callsOf(answer);
      assert.deepEqual([call.toolName, call.args.expression, call.isError], ["calculate", "17 * 23", false]);
      assert.match(call.result, /391/);
      assert.match(textOf(answer), /391/);
      assert.equal(answer.status.type, "complete");
      assert.equal(answer.metadata.custom.run.status, "complete");
      assert(answer.content.some((part) => part.type === "reasoning"));
      assert.deepEqual(page.failures, []);
    },
    async "parallel calls, one of them the page's"() {
      const page = new Page(protocol, { tool: weather, body: { config: { tools: ["calculate"] } } });
      await page.ask("Use get_weather for Lisbon, then calculate 17 * 23.");
      await page.until(() => /sunny/.test(textOf(page.messages.at(-1))), "no answer");
      await page.settled(2);
      const answer = page.messages.at(-1);
      assert.equal(page.messages.length, 2);
      assert.deepEqual(callsOf(answer).map((call) => call.toolName).sort(), ["calculate", "get_weather"]);
      assert(callsOf(answer).every((call) => call.result !== undefined && !call.isError));
      assert.match(textOf(answer), /391/);
      assert.deepEqual(page.failures, []);
    },
    async "a table of products"() {
      const page = new Page(protocol);
      await page.ask("Find me a red mug under 20 dollars");
      const [call] = callsOf(page.messages[1]);
      assert.equal(call.toolName, "search_products");
      assert.match(call.artifact.surfaceId, /^products-/);
      assert(call.artifact.data.length > 0);
      assert(call.artifact.data.every(({ price }) => typeof price === "number" && price <= 20));
      assert.doesNotMatch(JSON.stringify(call.result), /surfaceId/);
      assert.deepEqual(page.failures, []);
    },
    async "an edit"() {
      const page = new Page(protocol);
      await page.ask("What is 2 + 3?");
      await page.ask("What is 17 * 23?");
      const before = page.finished;
      page.runtime.thread.getMessageById(page.messages[2].id).composer.beginEdit();
      const composer = page.runtime.thread.getMessageById(page.messages[2].id).composer;
      composer.setText("What is 10 * 10?");
      composer.send();
      await page.settled(before + 1);
      assert.equal(page.messages.length, 4);
      assert.match(textOf(page.messages[2]), /10 \* 10/);
      assert.match(textOf(page.messages[3]), /100/);
      assert.equal(page.state.messages.filter((one) => one.type === "human").length, 2);
    },
    async "a reload"() {
      let send;
      const page = new Page(protocol);
      await page.ask("What is 2 + 3?");
      const [question, first] = page.messages;
      ({ sendCommand: send } = Object.values({ x: page.runtime.thread.getState().extras })[0]);
      const before = page.finished;
      send({ type: "reload", parentId: question.id });
      await page.settled(before + 1);
      assert.equal(page.messages.length, 2);
      assert.equal(page.messages[0].id, question.id);
      assert.notEqual(page.messages[1].id, first.id);
    },
    async "a stop"() {
      const page = new Page(protocol, { body: { model: "openai/sim-stall" } });
      await page.until(() => page.runtime, "no runtime");
      page.runtime.thread.append("Write a long text");
      await page.until(() => page.messages.length === 2 && textOf(page.messages[1]).length > 0, "no text");
      page.runtime.thread.cancelRun();
      await expectCancelled(await newestRun());
      await page.settled(1);
      page.options.body.model = "openai/sim";
      await page.ask("What is 2 + 3?");
      assert.match(textOf(page.messages.at(-1)), /5/);
      assert.equal(page.messages[1].status.reason, "cancelled");
    },
    async "a reload of the page in mid-answer"() {
      const threadId = `resumed-${protocol}`;
      const body = { threadId, onDisconnect: "continue", model: "openai/sim-stall" };
      const page = new Page(protocol, { body });
      await page.until(() => page.runtime, "no runtime");
      page.runtime.thread.append("Write a long text");
      await page.until(() => page.messages.length === 2 && textOf(page.messages[1]).length > 0, "no text");
      page.root.unmount();
      const initialState = await (await fetch(`${URL}/assistant/state?threadId=${threadId}`)).json();
      assert.equal(initialState.run?.status, "running");
      const resumeStateApi = `${URL}/assistant/resume-state?threadId=${threadId}`;
      const again = new Page(protocol, { body, initialState, resumeStateApi });
      await again.until(() => again.runtime, "no runtime");
      again.runtime.thread.resumeRun({ parentId: null });
      await again.until(() => again.messages.length === 2 && textOf(again.messages[1]).length > 0, "no replay");
      await fetch(`${URL}/api/runs/${initialState.run.id}/stop`, { method: "POST" });
      await again.settled(1);
      assert.deepEqual(again.failures, []);
      const stored = await (await fetch(`${URL}/assistant/state?threadId=${threadId}`)).json();
      assert.deepEqual(again.state.messages, stored.messages);
      assert.equal(again.state.run.status, "cancelled");
      const before = again.finished;
      again.runtime.thread.resumeRun({ parentId: null }); // nothing runs any more
      await again.settled(before + 1);
      assert.deepEqual(again.failures, []);
    },
    async "errors"() {
      const page = new Page(protocol, { body: { model: "openai/sim-error-402" } });
      await page.ask("Hi");
      assert.equal(page.failures.length, 1);
      assert.match(page.failures[0], /credit/i);
      assert.equal(page.state.run.code, "UPSTREAM_CREDITS");
      assert.equal(page.messages.at(-1).status.reason, "error");
      page.options.body.model = "no/such-model";
      await page.ask("Again");
      assert.match(page.failures[1], /Status 422: .*UNKNOWN_MODEL/);
      page.options.body.model = "openai/sim";
      await page.ask("What is 2 + 3?");
      assert.match(textOf(page.messages.at(-1)), /5/);
      assert.equal(page.failures.length, 2);
    },
  };
}

const checks = Object.fromEntries(
  PROTOCOLS.flatMap((protocol) =>
    Object.entries(checksOf(protocol)).map(([name, check]) => [`${protocol}: ${name}`, check]),
  ),
);
checks["nothing was reported to the console"] = async () => assert.deepEqual(errors, []);
await report(checks);
