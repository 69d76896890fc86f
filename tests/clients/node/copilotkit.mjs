// CopilotKit: its core, which runs an agent, executes the page's tools and runs the agent again with their results.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { CopilotKitCore } from "@copilotkit/core";
import { HttpAgent } from "ag-ui-client0";
import {
  BOTH_TOOLS, CALCULATION, CITY, DESCRIPTION, MODEL, URL, expectBothResults, expectCancelled, getWeather, newestRun, report,
} from "./checks.mjs";

const props = { model: MODEL, tools: ["calculate"] };

class Chat {
  errors = [];
  executed = [];

  constructor() {
    this.agent = new HttpAgent({ url: `${URL}/agui`, threadId: randomUUID() });
    const handler = async (city) => {
      this.executed.push(city);
      return getWeather(city);
    };
    this.core = new CopilotKitCore({
      agents__unsafe_dev_only: { default: this.agent }, // without CopilotKit's runtime in between
      properties: props,
      tools: [{ name: "get_weather", description: DESCRIPTION, parameters: CITY, handler }],
    });
    this.core.subscribe({ onError: ({ code, error }) => void this.errors.push(`${code}: ${error.message}`) });
  }

  async send(content, properties = {}) {
    this.core.setProperties({ ...props, ...properties });
    this.agent.addMessage({ id: randomUUID(), role: "user", content });
    await this.core.runAgent({ agent: this.agent });
    return this.agent.messages.at(-1).content;
  }
}

await report({
  async server_tool() {
    const chat = new Chat();
    assert.match(await chat.send(CALCULATION), /391/);
    assert.equal(chat.agent.state.signalbox.status, "complete");
    assert.deepEqual(chat.errors, []);
  },
  async client_tool() {
    const chat = new Chat();
    expectBothResults(await chat.send(BOTH_TOOLS));
    assert.deepEqual(chat.executed, [{ city: "Lisbon" }]);
    assert(await chat.send("Thanks."));
    assert.deepEqual(chat.errors, []);
  },
  async error_before() {
    const chat = new Chat();
    await chat.send("Hi", { model: "unknown/model" });
    assert.match(chat.errors.join(), /agent_run_failed: .*unknown\/model/);
    assert(await chat.send("Hi"));
  },
  async error_after() {
    const chat = new Chat();
    assert(await chat.send("Hi", { model: "openai/sim-midstream-error" }));
    assert.match(chat.errors.join(), /agent_run_error_event: .*overloaded/);
    assert(await chat.send("Hi"));
  },
  async stop() {
    const chat = new Chat();
    chat.agent.subscribe({ onTextMessageContentEvent: () => void chat.core.stopAgent({ agent: chat.agent }) });
    await chat.send("Hi", { model: "openai/sim-stall" });
    await expectCancelled(await newestRun());
  },
});
