// Whole chats of the AI SDK's `useChat` against /api/ai/chat.
import assert from "node:assert/strict";
import { BOTH_TOOLS, CALCULATION, URL, expectBothResults, expectCancelled, getWeather, newestRun, report } from "./checks.mjs";
import { Chat, DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } from "./ai_sdk_versions.mjs";

const API = `${URL}/api/ai/chat`;
const SOON = 2000;
const WEATHER = {
  name: "get_weather",
  description: "Return the weather of a city.",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

let chats = 0;

/** Make a chat. `body` can be changed between two messages; `requests` are the bodies that were posted. */
function newChat(body = {}, options = {}) {
  const requests = [];
  const sent = { model: "openai/sim", tools: [], ...body };
  const transport = new DefaultChatTransport({
    api: API,
    body: () => sent,
    fetch: (url, init) => {
      if (init.method === "POST") requests.push(JSON.parse(init.body));
      return fetch(url, init);
    },
  });
  const chat = new Chat({ id: `${process.argv[2]}/${++chats}`, transport, onError() {}, ...options });
  return { chat, body: sent, requests };
}

const partsOf = (chat, type) => chat.lastMessage.parts.filter((part) => part.type === type);
const textOf = (chat) => partsOf(chat, "text").map((part) => part.text).join("");
const pathOf = (chat, end) => `${API}/${encodeURIComponent(chat.id)}/${end}`;

/** Wait until something holds. */
async function until(holds) {
  const deadline = performance.now() + SOON;
  while (!holds()) {
    assert(performance.now() < deadline, `not within ${SOON} ms: ${holds}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function stop(chat) {
  return (await (await fetch(pathOf(chat, "stop"), { method: "POST" })).json()).stopped;
}

/** Make a chat with a client tool whose outputs are given at once. */
function withWeather(body = {}) {
  const calls = [];
  const made = newChat({ tools: ["calculate"], clientTools: [WEATHER], ...body }, {
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    onToolCall({ toolCall }) {
      calls.push(toolCall);
      const { toolName, toolCallId, input } = toolCall;
      if (made.beforeOutput) made.beforeOutput();
      made.chat.addToolResult({ tool: toolName, toolCallId, output: getWeather({ city: input.city ?? "Lisbon" }) });
    },
  });
  return Object.assign(made, { calls });
}

/** Begin an answer that stalls, and lose the connection behind its first words; return a page that is opened anew. */
async function lose(chat, sending) {
  await until(() => chat.lastMessage?.role === "assistant" && textOf(chat));
  await chat.stop();
  await sending;
  return new Chat({ id: chat.id, messages: chat.messages.slice(0, -1), transport: chat.transport, onError() {} });
}

await report({
  async conversation() {
    const { chat } = newChat({ model: "deepseek/sim", tools: ["calculate"] });
    await chat.sendMessage({ text: CALCULATION });
    assert.equal(chat.status, "ready");
    assert.match(textOf(chat), /391/);
    assert(partsOf(chat, "reasoning").length > 0);
    const [call] = partsOf(chat, "dynamic-tool");
    assert.deepEqual([call.state, call.output.result, call.providerExecuted], ["output-available", 391, true]);
    const [run] = Object.values(chat.lastMessage.metadata.runs);
    assert(run.cost > 0 && run.usage.totalTokens > 0);
    await chat.sendMessage({ text: "Thanks." });
    assert.deepEqual(chat.messages.map((message) => message.role), ["user", "assistant", "user", "assistant"]);
  },
  async sources() {
    const { chat } = newChat({ tools: ["search_web"] });
    await chat.sendMessage({ text: "What is the tool loop?" });
    const sources = partsOf(chat, "source-url");
    assert(sources.length > 0);
    for (const { sourceId } of sources) assert(textOf(chat).includes(`[${sourceId}]`));
  },
  async client_tool() {
    const { chat, calls, requests } = withWeather();
    await chat.sendMessage({ text: BOTH_TOOLS });
    await until(() => chat.status === "ready" && textOf(chat));
    expectBothResults(textOf(chat));
    assert.deepEqual([calls.length, requests.length, chat.messages.length], [1, 2, 2]);
    assert.equal(partsOf(chat, "tool-get_weather").length, 1);
    assert.equal(Object.keys(chat.lastMessage.metadata.runs).length, 2);
    await chat.sendMessage({ text: "Thanks." });
    assert.deepEqual([chat.messages.length, chat.error], [4, undefined]);
  },
  async no_loop() {
    for (const model of ["openai/sim", "openai/sim-midstream-error", "openai/sim-error-402"]) {
      const { chat, requests } = withWeather({ model });
      await chat.sendMessage({ text: CALCULATION });
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(requests.length, 1);
    }
  },
  async regenerate_and_edit() {
    const { chat } = newChat();
    await chat.sendMessage({ text: "One" });
    const first = chat.lastMessage.id;
    await chat.regenerate();
    assert.notEqual(chat.lastMessage.id, first);
    await chat.sendMessage({ text: "Uno", messageId: chat.messages[0].id });
    assert.equal(chat.messages.length, 2);
    const stored = await (await fetch(`${URL}/api/runs?limit=1`)).json();
    const conversation = stored.runs[0].conversation_id;
    const { messages } = await (await fetch(`${URL}/api/conversations/${conversation}`)).json();
    assert.deepEqual(messages.map(({ role, text }) => (role === "user" ? text : role)), [
      "One", "assistant", "assistant", "Uno", "assistant",
    ]);
  },
  async resume() {
    const { chat } = newChat({ model: "openai/sim-stall" });
    const page = await lose(chat, chat.sendMessage({ text: "Hello!" }));
    const resuming = page.resumeStream();
    await until(() => page.lastMessage?.role === "assistant" && textOf(page));
    assert.equal(page.status, "streaming");
    assert.equal((await stop(page)).length, 1);
    await resuming;
    assert.deepEqual([page.status, page.error, page.messages.length], ["ready", undefined, 2]);
    await page.resumeStream();
    assert.deepEqual([page.status, page.messages.length], ["ready", 2]);
  },
  async resume_the_second_leg() {
    const made = withWeather();
    made.beforeOutput = () => (made.body.model = "openai/sim-stall");
    const sending = made.chat.sendMessage({ text: BOTH_TOOLS });
    const page = await lose(made.chat, sending);
    const resuming = page.resumeStream();
    await until(() => page.lastMessage?.role === "assistant" && textOf(page));
    const [call] = partsOf(page, "tool-get_weather");
    assert.equal(call.state, "output-available");
    assert.equal(page.messages.length, 2);
    assert.equal((await stop(page)).length, 1);
    await resuming;
    assert.equal(page.status, "ready");
  },
  async stop() {
    const { chat, body } = newChat({ model: "openai/sim-stall" });
    const sending = chat.sendMessage({ text: "Hello!" });
    await until(() => chat.lastMessage?.role === "assistant" && textOf(chat));
    const run = await newestRun();
    await stop(chat);
    await sending;
    await expectCancelled(run);
    assert.deepEqual([chat.status, chat.error], ["ready", undefined]);
    body.model = "openai/sim";
    await chat.sendMessage({ text: "Go on." });
    assert.deepEqual([chat.status, chat.messages.length], ["ready", 4]);
  },
  async error_before() {
    const { chat, body } = newChat({ model: "no/such" });
    await chat.sendMessage({ text: "Hello!" });
    assert.equal(chat.status, "error");
    assert.match(chat.error.message, /^The model list has no model/);
    body.model = "openai/sim";
    await chat.regenerate();
    assert.deepEqual([chat.status, chat.messages.length], ["ready", 2]);
  },
  async error_after() {
    const { chat, body } = newChat({ model: "openai/sim-midstream-error" });
    await chat.sendMessage({ text: "Hello!" });
    assert.equal(chat.status, "error");
    assert.match(chat.error.message, /overloaded/);
    assert(textOf(chat));
    assert.equal(Object.values(chat.lastMessage.metadata.runs)[0].status, "error");
    body.model = "openai/sim";
    await chat.sendMessage({ text: "Go on." });
    assert.deepEqual([chat.status, chat.messages.length], ["ready", 4]);
  },
});
