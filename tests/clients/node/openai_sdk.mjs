// The `openai` package: whole answers and streams, its tool runner, errors, an abort.
import assert from "node:assert/strict";
import OpenAI, { APIError, BadRequestError, NotFoundError } from "openai";
import {
  BASE_URL, BOTH_TOOLS, CALCULATION, CITY, DESCRIPTION, MODEL,
  errorOf, expectBothResults, expectCancelled, getWeather, report,
} from "./checks.mjs";
import { z } from "zod";

const client = new OpenAI({ baseURL: BASE_URL, apiKey: "unused", maxRetries: 0 });
const completions = client.chat.completions;
const messages = [{ role: "user", content: CALCULATION }];
const parameters = z.toJSONSchema(CITY);
const calculate = { type: "signalbox:calculate" };

await report({
  async whole() {
    const answer = await completions.create({ model: MODEL, messages, reasoning_effort: "low" });
    assert.equal(answer.choices[0].finish_reason, "stop");
    assert(answer.usage.total_tokens > 0);
    assert(answer.choices[0].message.reasoning_content);
  },
  async stream() {
    const options = { include_usage: true };
    const stream = completions.stream({ model: MODEL, messages, stream_options: options });
    const answer = await stream.finalChatCompletion();
    assert.match(answer.choices[0].message.content, /391/);
    assert(answer.usage.total_tokens > 0);
  },
  async server_tool() {
    const { message } = (await completions.create({ model: MODEL, messages })).choices[0];
    assert.match(message.content, /391/);
    assert.equal(message.tool_calls, undefined);
  },
  async client_tool() {
    const request = { model: MODEL, tools: [tool(), calculate], messages: [{ role: "user", content: BOTH_TOOLS }] };
    const { message, finish_reason } = (await completions.create(request)).choices[0];
    assert.equal(finish_reason, "tool_calls");
    const [call] = message.tool_calls;
    const content = getWeather(JSON.parse(call.function.arguments));
    request.messages.push(message, { role: "tool", tool_call_id: call.id, content });
    expectBothResults((await completions.create(request)).choices[0].message.content);
  },
  async agent() {
    const named = { ...tool().function, function: getWeather, parse: JSON.parse };
    const tools = [{ type: "function", function: named }];
    const request = { model: MODEL, messages: [{ role: "user", content: BOTH_TOOLS }] };
    for (const stream of [false, true]) {
      const headers = { "x-signalbox-tools": "calculate" };
      expectBothResults(await completions.runTools({ ...request, tools, stream }, { headers }).finalContent());
    }
  },
  async models() {
    const ids = [];
    for await (const model of client.models.list()) ids.push(model.id);
    assert(ids.includes(MODEL));
  },
  async error_before() {
    for (const stream of [false, true]) {
      const unknown = await errorOf(() => completions.create({ model: "unknown/model", messages, stream }));
      assert(unknown instanceof NotFoundError);
      assert.equal(unknown.code, "model_not_found");
      const many = await errorOf(() => completions.create({ model: MODEL, messages, stream, n: 2 }));
      assert(many instanceof BadRequestError);
      assert.equal(many.param, "n");
    }
  },
  async error_after() {
    let text = "";
    const error = await errorOf(async () => {
      const request = { model: "openai/sim-midstream-error", messages, stream: true };
      for await (const chunk of await completions.create(request)) text += chunk.choices[0].delta.content ?? "";
    });
    assert(error instanceof APIError);
    assert.match(error.message, /overloaded/);
    assert(text);
  },
  async abort() {
    const stream = await completions.create({ model: "openai/sim-stall", messages, stream: true });
    let runId;
    for await (const chunk of stream) {
      runId = chunk.id;
      break;
    }
    await expectCancelled(runId);
  },
});

function tool() {
  return { type: "function", function: { name: "get_weather", description: DESCRIPTION, parameters } };
}
