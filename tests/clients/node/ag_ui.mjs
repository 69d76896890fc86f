// A version of the client of AG-UI: HttpAgent with tools of both sides, edits, errors and a stop.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import {
  BOTH_TOOLS, CALCULATION, MODEL, URL, errorOf, expectBothResults, expectCancelled, getWeather, newestRun, report,
} from "./checks.mjs";

const packages = { 1: "@ag-ui/client", 0: "ag-ui-client0" };
const { HttpAgent } = await import(packages[process.argv[2]]);
const props = { model: MODEL, tools: ["calculate"] };
const tools = [{
  name: "get_weather",
  description: "Return the weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
}];

class Thread {
  constructor() {
    this.agent = new HttpAgent({ url: `${URL}/agui`, threadId: randomUUID() });
  }

  async send(content, input = {}, subscriber = {}) {
    this.agent.addMessage({ id: randomUUID(), role: "user", content });
    return this.run(input, subscriber);
  }

  async run(input = {}, subscriber = {}) {
    const started = performance.now();
    let ending;
    await this.agent.runAgent({ forwardedProps: props, ...input }, {
      ...subscriber,
      onRunFinishedEvent: ({ event }) => void (ending = event),
      onRunErrorEvent: ({ event }) => void (ending = event),
    });
    assert(performance.now() - started < 10_000);
    return ending;
  }

  get text() {
    return this.agent.messages.at(-1).content;
  }
}

await report({
  async server_tool() {
    const thread = new Thread();
    const ending = await thread.send(CALCULATION, { forwardedProps: { ...props, reasoning_effort: "high" } });
    assert.equal(ending.type, "RUN_FINISHED");
    assert.match(thread.text, /391/);
    assert(thread.agent.messages.some(({ role, content }) => role === "reasoning" && content));
    assert.equal(thread.agent.messages.filter(({ role }) => role === "tool").length, 1);
    assert(thread.agent.state.signalbox.cost > 0);
  },
  async client_tool() {
    const thread = new Thread();
    await thread.send(BOTH_TOOLS, { tools });
    const [call] = thread.agent.messages.at(-1).toolCalls;
    assert.equal(call.function.name, "get_weather");
    const content = getWeather(JSON.parse(call.function.arguments));
    thread.agent.addMessage({ id: randomUUID(), role: "tool", toolCallId: call.id, content });
    await thread.run({ tools });
    expectBothResults(thread.text);
    await thread.send("Thanks.", { tools });
    assert(thread.text);
  },
  async regenerate_and_edit() {
    const thread = new Thread();
    await thread.send(CALCULATION);
    const { messages } = thread.agent;
    thread.agent.setMessages(messages.slice(0, 1));
    await thread.run();
    assert.match(thread.text, /391/);
    thread.agent.setMessages([]);
    await thread.send("What is 6 * 7?");
    assert.match(thread.text, /42/);
    const { messages: nodes } = await (await fetch(`${URL}/api/conversations/${thread.agent.threadId}`)).json();
    assert.equal(nodes.length, 5);
  },
  async state_of_the_page() {
    const thread = new Thread();
    thread.agent.setState({ cart: ["tea"] });
    await thread.send(CALCULATION);
    assert.deepEqual(thread.agent.state.cart, ["tea"]);
    assert.equal(thread.agent.state.signalbox.status, "complete");
  },
  async interrupts() {
    const thread = new Thread();
    await thread.send(CALCULATION);
    const resume = [{ interruptId: "i1", status: "resolved", payload: true }];
    const error = await errorOf(() => thread.send("Hi", { resume }));
    assert.match(error.message, /never interrupts a run/);
    assert.equal((await thread.run({ resume: [] })).type, "RUN_FINISHED");
  },
  async error_before() {
    const thread = new Thread();
    const error = await errorOf(() => thread.send("Hi", { forwardedProps: { model: "unknown/model" } }));
    assert.match(error.message, /unknown\/model/);
  },
  async error_after() {
    const thread = new Thread();
    const ending = await thread.send("Hi", { forwardedProps: { model: "openai/sim-midstream-error" } });
    assert.equal(ending.type, "RUN_ERROR");
    assert(thread.text);
    assert.equal((await thread.send("Hi")).type, "RUN_FINISHED");
  },
  async abort() {
    const thread = new Thread();
    const onTextMessageContentEvent = () => void thread.agent.abortRun();
    await thread.send("Hi", { forwardedProps: { model: "openai/sim-stall" } }, { onTextMessageContentEvent });
    await expectCancelled(await newestRun());
  },
});
