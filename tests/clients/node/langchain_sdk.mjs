// LangChain JS: `ChatOpenAI` and its agent.
import assert from "node:assert/strict";
import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";
import {
  BASE_URL, BOTH_TOOLS, CALCULATION, CITY, DESCRIPTION, MODEL, SERVER_TOOLS,
  errorOf, expectBothResults, expectCancelled, getWeather, newestRun, report,
} from "./checks.mjs";

const weather = tool(getWeather, { name: "get_weather", description: DESCRIPTION, schema: CITY });

function chat(model = MODEL, defaultHeaders = {}) {
  return new ChatOpenAI({ model, apiKey: "unused", maxRetries: 0, configuration: { baseURL: BASE_URL, defaultHeaders } });
}

await report({
  async whole() {
    const answer = await chat().invoke(CALCULATION);
    assert.equal(answer.response_metadata.finish_reason, "stop");
    assert(answer.usage_metadata.total_tokens > 0);
  },
  async stream() {
    let total;
    for await (const chunk of await chat().stream(CALCULATION)) total = total ? total.concat(chunk) : chunk;
    assert.match(total.content, /391/);
    assert(total.usage_metadata.total_tokens > 0);
  },
  async server_tool() {
    const answer = await chat().invoke(CALCULATION);
    assert.match(answer.content, /391/);
    assert.deepEqual(answer.tool_calls, []);
  },
  async client_tool() {
    const model = chat(MODEL, SERVER_TOOLS).bindTools([weather]);
    const messages = [new HumanMessage(BOTH_TOOLS)];
    const first = await model.invoke(messages);
    assert.equal(first.tool_calls.length, 1);
    messages.push(first, await weather.invoke(first.tool_calls[0]));
    expectBothResults((await model.invoke(messages)).content);
  },
  async agent() {
    const agent = createAgent({ model: chat(MODEL, SERVER_TOOLS), tools: [weather] });
    const { messages } = await agent.invoke({ messages: [new HumanMessage(BOTH_TOOLS)] });
    expectBothResults(messages.at(-1).content);
  },
  async error_before() {
    const unknown = chat("unknown/model");
    for (const call of [() => unknown.invoke("Hi"), () => unknown.stream("Hi")]) {
      const error = await errorOf(call);
      assert.equal(error.status, 404);
      assert.equal(error.code, "model_not_found");
    }
  },
  async error_after() {
    let text = "";
    const error = await errorOf(async () => {
      for await (const chunk of await chat("openai/sim-midstream-error").stream("Hi")) text += chunk.content;
    });
    assert.match(error.message, /overloaded/);
    assert(text);
  },
  async abort() {
    const controller = new AbortController();
    await errorOf(async () => {
      const stream = await chat("openai/sim-stall").stream("Hi", { signal: controller.signal });
      for await (const _ of stream) controller.abort();
    });
    await expectCancelled(await newestRun());
  },
});
