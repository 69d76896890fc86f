// A Signalbox server: questions, runs, conversations and saves.
import type { Answer } from "./answers.ts";
import { checkBaseUrl } from "./baseUrl.ts";
import { checkServer } from "./otherServers.ts";
import { type ApiClient, createClient } from "./requests/client.ts";
import {
  chooseLeaf,
  createConversation,
  deleteConversation,
  exportConversation,
  fetchConversation,
  fetchConversations,
  renameConversation,
} from "./requests/conversations.ts";
import { newIdempotencyKey } from "./requests/idempotencyKeys.ts";
import { type Catalog, fetchModels, fetchTools, type ToolCatalog } from "./requests/models.ts";
import { deleteRun, fetchRuns } from "./requests/runList.ts";
import { fetchTrace, type RunTrace } from "./requests/runRecords.ts";
import { followRun, followSave, postChat } from "./requests/runStream.ts";
import { deleteSave, fetchSave, fetchSaves, type Save, saveRun } from "./requests/savedRuns.ts";
import { startVariants, type VariantError } from "./requests/variants.ts";
import { BACKOFF, type Backoff, retrying } from "./retries.ts";
import { Run, type RunContext, type StoppedRun, stopAt } from "./run.ts";
import { errorOf, RunFailed, SignalboxError } from "./signalboxErrors.ts";
import type { Conversation, ConversationLine, RunLine, SaveLine } from "./types/api.ts";
import type { Question, VariantsQuestion } from "./types/question.ts";

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

export interface CallOptions {
  /** Aborts the call. The call rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
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

/** Sends short requests, with retries and typed errors. */
type Call = <T>(options: CallOptions, send: (client: ApiClient) => Promise<T>) => Promise<T>;
type Follow = ConstructorParameters<typeof Run>[1];
type Open = (context: Pick<RunContext, "stopsOnLeaving" | "signal" | "id">, follow: Follow) => Run;

const PAGE = 100;

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
    this.runs = new Runs(this.#call, this.#open);
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
}

/** The runs of the token's owner. */
export class Runs {
  readonly #call: Call;
  readonly #open: Open;

  /** @internal */
  constructor(call: Call, open: Open) {
    this.#call = call;
    this.#open = open;
  }

  /** All runs, the newest first, or only those with one of these statuses. */
  list({ status = [], ...options }: CallOptions & { status?: readonly string[] } = {}): AsyncGenerator<RunLine> {
    const filter = status.map((one) => ["status", one] as const);
    return pages(async (before) => {
      const { runs, next } = await this.#call(options, (client) => fetchRuns(client, PAGE, before, filter));
      return { lines: runs, next };
    });
  }

  /** A run with its attempts (requests to the provider), tool calls and costs. */
  trace(runId: string, options: CallOptions = {}): Promise<RunTrace> {
    return this.#call(options, (client) => fetchTrace(client, runId));
  }

  /** Read the events of a run, after the one with the `seq` `after`. Leaving the loop does not stop the run. */
  follow(runId: string, { after = 0, signal }: CallOptions & { after?: number } = {}): Run {
    const lastEventId = after > 0 ? { lastEventId: `${runId}:${after}` } : {};
    return this.#open({ signal, stopsOnLeaving: false, id: runId }, (options) =>
      followRun(runId, { ...options, ...lastEventId }),
    );
  }

  /** Stop a run. Everything that arrived is kept. */
  stop(runId: string, options: CallOptions = {}): Promise<StoppedRun> {
    return this.#call(options, (client) => stopAt(client, runId));
  }

  /** Stop a run that belongs to no conversation, and delete everything stored about it. */
  delete(runId: string, options: CallOptions = {}): Promise<void> {
    return this.#call(options, (client) => deleteRun(client, runId));
  }
}

/** The conversations of the token's owner. A question adds to one with `conversation_id` and `parent_id`. */
export class Conversations {
  readonly #call: Call;

  /** @internal */
  constructor(call: Call) {
    this.#call = call;
  }

  /** All conversations, the most recently used first, or those that contain a text. */
  list({ search = "", ...options }: CallOptions & { search?: string } = {}): AsyncGenerator<ConversationLine> {
    return pages((before) =>
      this.#call(options, (client) => fetchConversations(client, { search, limit: PAGE, ...(before && { before }) })),
    );
  }

  /** A conversation with all its branches. */
  get(id: string, options: CallOptions = {}): Promise<Conversation> {
    return this.#call(options, (client) => fetchConversation(client, id));
  }

  /** Create an empty conversation, or return the one that has this id. */
  create({
    title,
    id = newIdempotencyKey(),
    ...options
  }: CallOptions & { title?: string; id?: string } = {}): Promise<Pick<Conversation, "id" | "title">> {
    return this.#call(options, (client) => createConversation(client, id, title));
  }

  rename(id: string, title: string, options: CallOptions = {}): Promise<void> {
    return this.#call(options, (client) => renameConversation(client, id, title));
  }

  /** Select the branch that the next question follows, by the id of its last node. */
  select(id: string, leafId: string, options: CallOptions = {}): Promise<void> {
    return this.#call(options, (client) => chooseLeaf(client, id, leafId));
  }

  /** The selected branch as Markdown. */
  async export(id: string, options: CallOptions = {}): Promise<string> {
    return (await this.#call(options, (client) => exportConversation(client, id, "markdown"))).text;
  }

  /** Stop the active runs of a conversation, and delete it with its runs. Saves are kept. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#call(options, (client) => deleteConversation(client, id));
  }
}

/** Snapshots of finished runs. */
export class Saves {
  readonly #call: Call;
  readonly #open: Open;

  /** @internal */
  constructor(call: Call, open: Open) {
    this.#call = call;
    this.#open = open;
  }

  /** Save a run. After `ConnectionLost`, look for the save in `list` before you save the run again. */
  create(
    runId: string,
    { title, data, ...options }: CallOptions & { title?: string; data?: Readonly<Record<string, unknown>> } = {},
  ): Promise<SaveLine> {
    return this.#call(options, (client) => saveRun(client, runId, { title, data }));
  }

  /** All saves, the newest first. */
  list(options: CallOptions = {}): AsyncGenerator<SaveLine> {
    return pages((before) =>
      this.#call(options, (client) => fetchSaves(client, { limit: PAGE, ...(before && { before }) })),
    );
  }

  /** A save with its question, trace and events. */
  get(id: string, options: CallOptions = {}): Promise<Save> {
    return this.#call(options, (client) => fetchSave(client, id));
  }

  /** Read the events of the saved run. */
  events(id: string, { signal }: CallOptions = {}): Run {
    return this.#open({ signal, stopsOnLeaving: false }, (options) => followSave(id, options));
  }

  /** Delete a save. Its run is kept. */
  delete(id: string, options: CallOptions = {}): Promise<void> {
    return this.#call(options, (client) => deleteSave(client, id));
  }
}

async function* pages<Line>(
  fetchPage: (before: string | undefined) => Promise<{ lines: readonly Line[]; next: string | undefined }>,
): AsyncGenerator<Line> {
  let before: string | undefined;
  do {
    const { lines, next } = await fetchPage(before);
    yield* lines;
    before = next;
  } while (before !== undefined);
}
