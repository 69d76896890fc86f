// The benchmark's upstream, which sends what the message asks for at a given rate.
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Kind, textOf } from "./texts.ts";

/** How often a paced answer is written. */
const BEAT_MS = 10;

export class Upstream {
  /** The number of tokens sent since the last `reset`. */
  sent = 0;
  /** The models in its catalogue. */
  models: readonly object[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      if (request.method === "GET")
        return void response.setHeader("content-type", "application/json").end(JSON.stringify({ data: this.models }));
      const body: Buffer[] = [];
      request.on("data", (chunk: Buffer) => body.push(chunk));
      request.on("end", () => this.#answer(Buffer.concat(body).toString(), response));
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((ready) => void this.#server.listen(0, "127.0.0.1", ready));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api/v1`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** The last message selects the answer: `say KIND TOKENS RATE`. Rate 0 sends everything at once. */
  #answer(body: string, response: ServerResponse): void {
    const asked = [...body.matchAll(/say (\w+) (\d+) (\d+)/g)].at(-1) ?? [];
    const [, kind = "words", count = "40", rate = "0"] = asked;
    const tokens = textOf(kind as Kind, Number(count));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const perSecond = Number(rate);
    if (!perSecond) {
      this.#end(response, tokens);
      return;
    }
    const began = performance.now();
    let at = 0;
    const beat = setInterval(() => {
      const due = Math.min(tokens.length, Math.ceil(((performance.now() - began) / 1000) * perSecond));
      response.write(tokens.slice(at, due).map(chunk).join(""));
      this.sent += due - at;
      at = due;
      if (at < tokens.length && !response.destroyed) return;
      clearInterval(beat);
      this.#end(response, []);
    }, BEAT_MS);
  }

  #end(response: ServerResponse, tokens: readonly string[]): void {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: tokens.length,
      total_tokens: 100 + tokens.length,
      cost: 0.001,
    };
    response.write(tokens.map(chunk).join(""));
    this.sent += tokens.length;
    response.write(frame({ choices: [{ index: 0, delta: { content: "" }, finish_reason: "stop" }] }));
    response.end(`${frame({ choices: [], usage })}data: [DONE]\n\n`);
  }
}

const frame = (what: object): string =>
  `data: ${JSON.stringify({ id: "gen-bench", object: "chat.completion.chunk", model: "bench/model", provider: "Bench", ...what })}\n\n`;

const chunk = (content: string): string =>
  frame({ choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }] });
