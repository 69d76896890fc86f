// A Signalbox server: questions, what it stores, and what runs have cost.
import type { Answer } from "./answers.ts";
import { checkBaseUrl } from "./baseUrl.ts";
import { type Call, type CallOptions, type Lines, type Open, readLines } from "./calls.ts";
import { checkServer } from "./otherServers.ts";
import { createClient } from "./requests/client.ts";
import { newIdempotencyKey } from "./requests/idempotencyKeys.ts";
import { type Catalog, fetchModels, fetchTools, type ToolCatalog } from "./requests/models.ts";
import { followRun, postChat } from "./requests/runStream.ts";
import { fetchSpend, fetchSpendCsv } from "./requests/spend.ts";
import { startVariants, type VariantError } from "./requests/variants.ts";
import { BACKOFF, type Backoff, retrying, sendUnread } from "./retries.ts";
import { Run } from "./run.ts";
import { errorOf, RunFailed, SignalboxError } from "./signalboxErrors.ts";
import { Conversations } from "./stored/conversations.ts";
import { Runs } from "./stored/runs.ts";
import { Saves } from "./stored/saves.ts";
import type { Question, VariantsQuestion } from "./types/question.ts";
import type { Spend, SpendOptions } from "./types/reports.ts";

export interface SignalboxOptions {
  /**
   * Where the server is: an absolute URL, or in a browser a path on the origin of the page, such as `/chat`, or an
   * address relative to the page, such as `.`. Default: the origin of the page.
   */
  baseUrl?: string;
  /** An access token or API token, which decides what the client may read. */
  token?: string;
  backoff?: Partial<Backoff>;
  /** Replaces the global `fetch`, for example to use a proxy. */
  fetch?: typeof globalThis.fetch;
}

export interface AskOptions extends CallOptions {
  /** The same key with the same question gives the same run, also from another process. */
  idempotencyKey?: string;
}

export type QuestionOptions = Question & AskOptions;

/** A variant has either a run or an error. */
export type VariantRun = { model: string } & (
  | {
      run: Run;
      /** The position among all runs that answer the question, from 1. */
      number: number;
      error?: undefined;
    }
  | { error: VariantError; run?: undefined; number?: undefined }
);

export interface Variants {
  conversationId: string;
  /** The message that the runs answer. The next question names the chosen run as `parent_id`. */
  messageId: string;
  /** In the order of the request. */
  variants: readonly VariantRun[];
}

export class Signalbox {
  /** The token of the next requests. Empty if there is none. */
  token: string;
  readonly runs: Runs;
  readonly conversations: Conversations;
  readonly saves: Saves;
  readonly #call: Call;
  readonly #open: Open;

  constructor({ baseUrl, token = "", backoff: given = {}, fetch = globalThis.fetch }: SignalboxOptions = {}) {
    checkBaseUrl(baseUrl);
    // The error of `fetch` would contain the token.
    if (/[^\x20-\x7e]/.test(token)) {
      throw new SignalboxError("INVALID_REQUEST", "The option token may only contain printable ASCII characters.");
    }
    this.token = token;
    const backoff = { ...BACKOFF, ...given };
    const client = createClient({
      token: () => this.token,
      ...(baseUrl !== undefined && { baseUrl }),
      // A browser or Node would follow a redirect of a POST with a GET.
      fetch: (url, init) => fetch(url, { ...init, redirect: "manual" }),
      check: checkServer,
    });
    this.#call = async ({ signal }, send) => {
      try {
        return await send(retrying(client, backoff, signal));
      } catch (error) {
        throw errorOf(error);
      }
    };
    this.#open = (context, follow) =>
      new Run({ client, requests: retrying(client, backoff), backoff, ...context }, follow);
    const lines: Lines = ({ signal }, path) =>
      readLines(retrying(client, backoff, signal, sendUnread).request(path), signal);
    this.runs = new Runs(this.#call, lines, this.#open);
    this.conversations = new Conversations(this.#call);
    this.saves = new Saves(this.#call, this.#open);
  }

  /** Ask a question. The run has an id when the promise resolves. */
  async stream(prompt: string, question: QuestionOptions): Promise<Run>;
  async stream(question: QuestionOptions): Promise<Run>;
  async stream(first: string | QuestionOptions, second?: QuestionOptions): Promise<Run> {
    const asked = typeof first === "string" ? { ...second, prompt: first } : first;
    const { signal, idempotencyKey = newIdempotencyKey(), on_disconnect = "stop", ...question } = asked;
    signal?.throwIfAborted();
    // On the server, `stop` would end the run with the first broken connection.
    const body = { ...question, on_disconnect: "continue" };
    const context = { signal, stopsOnLeaving: on_disconnect === "stop" };
    return this.#open(context, (options) => postChat(body, { ...options, key: idempotencyKey })).started();
  }

  /** Answer a question in several runs at the same time. Each is read and stopped separately. */
  async variants(asked: VariantsQuestion & AskOptions): Promise<Variants> {
    const { signal, idempotencyKey = newIdempotencyKey(), on_disconnect = "stop", ...question } = asked;
    const body = { ...question, on_disconnect: "continue" }; // as in `stream`
    const started = await this.#call({ signal }, (client) => startVariants(client, body, idempotencyKey));
    const stopsOnLeaving = on_disconnect === "stop";
    const open = (id: string) => this.#open({ signal, stopsOnLeaving, id }, (options) => followRun(id, options));
    return {
      ...started,
      variants: started.variants.map((one) =>
        one.error ? one : { model: one.model, number: one.number, run: open(one.runId) },
      ),
    };
  }

  /** Ask a question and return the complete answer. Another ending throws `RunFailed` with what arrived. */
  async ask(prompt: string, question: QuestionOptions): Promise<Answer>;
  async ask(question: QuestionOptions): Promise<Answer>;
  async ask(...asked: [string, QuestionOptions] | [QuestionOptions]): Promise<Answer> {
    const run = await (asked.length === 1 ? this.stream(asked[0]) : this.stream(...asked));
    const answer = await run.answer();
    if (answer.status !== "complete") throw new RunFailed(answer);
    return answer;
  }

  /** The models of the server, without hidden ones, and its default model. */
  models(options: CallOptions = {}): Promise<Catalog> {
    return this.#call(options, fetchModels);
  }

  /** The tools of the server, and the default limits of a run. */
  tools(options: CallOptions = {}): Promise<ToolCatalog> {
    return this.#call(options, fetchTools);
  }

  /** What runs have cost. With the operator token, the costs of all users are included. */
  spend({ signal, ...wanted }: CallOptions & SpendOptions = {}): Promise<Spend> {
    return this.#call({ signal }, (client) => fetchSpend(client, wanted));
  }

  /** The rows of `spend` as CSV. */
  spendCsv({ signal, ...wanted }: CallOptions & SpendOptions = {}): Promise<string> {
    return this.#call({ signal }, (client) => fetchSpendCsv(client, wanted));
  }
}
