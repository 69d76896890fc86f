// The conversation: turns of a question and a run, kept outside React while the events come in.
import { connectionLost, emptyTrace, refused, runReducer, stoppedLocally } from "../run/reducer.ts";
import { modelWords } from "../run/view.ts";
import { type ChatEnd, type ChatOptions, followRun, postChat } from "../stream/chat.ts";
import { type ApiClient, stopRun } from "../stream/client.ts";
import { ApiError } from "../stream/errors.ts";
import { newKey } from "../stream/keys.ts";
import type { ChatBody, ChatEvent, ChatMessage, Effort, Loop, RunTrace } from "../types/models.ts";
import { type KeptTurn, keep, kept } from "./kept.ts";
import { nextFrame, type Schedule, Store } from "./store.ts";

export interface Ask {
  model: string;
  effort: Effort;
}

export interface Turn extends Ask {
  id: string;
  /** The name under which it is asked once, however often it is sent. */
  key: string;
  /** Empty where only the run is known: its address tells no words. */
  question: string;
  trace: RunTrace;
  startedAt: number;
  /** When it was asked, in epoch milliseconds. */
  asked: number;
  /** It was asked before the page was loaded: only the server's times tell how long it took. */
  restored: boolean;
  /** The stop was asked for, and its end has not come yet. */
  stopping: boolean;
  /** The connection dropped and is being taken up again. */
  resuming: boolean;
}

export interface ChatState {
  turns: readonly Turn[];
}

interface Live {
  turnId: string;
  abort: AbortController;
  /** Runs out when a stopped run does not say its own end. */
  grace?: ReturnType<typeof setTimeout>;
}

export interface ChatDeps {
  client: ApiClient;
  onUnauthorized?: () => void;
  schedule?: Schedule;
  now?: () => number;
  /** How long a stopped run may take to say its own end. */
  stopGraceMs?: number;
  askDelays?: readonly number[];
  resumeDelays?: readonly number[];
  /** Where the conversation is kept over a reload. */
  box?: Storage | undefined;
}

/** A question that nobody answered is asked again by itself only while whoever asked it may still be waiting. */
const ASKED_MS = 60_000;

export class Chat extends Store<ChatState> {
  readonly #deps: ChatDeps;
  readonly #now: () => number;
  #live: Live | undefined;
  #turns = 0;

  constructor(deps: ChatDeps) {
    super({ turns: [] }, deps.schedule ?? nextFrame);
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
  }

  /** Show what was kept before the page was loaded anew, and follow the run that was under way. */
  async restore(): Promise<void> {
    const { box } = this.#deps;
    if (!box || this.state.turns.length > 0) return;
    this.set({ turns: kept(box).map((turn) => this.#keptTurn(turn)) });
    const last = this.state.turns.at(-1);
    if (last && !last.trace.end) await this.#resume(last);
    this.flush();
  }

  /** Show one run from its first event, and follow it to its end: whoever asked it is somewhere else. */
  async watch(runId: string): Promise<void> {
    if (this.state.turns.length > 0) return;
    const turn = this.#newTurn("", { model: "", effort: "auto" });
    const shown: Turn = { ...turn, trace: { ...turn.trace, runId }, restored: true };
    this.set({ turns: [shown] });
    await this.#resume(shown);
  }

  /** Keep the conversation as it stands. */
  save(): void {
    const { box } = this.#deps;
    if (box)
      keep(
        this.state.turns.map(({ key, question, model, effort, trace, asked }) => ({
          key,
          question,
          model,
          effort,
          trace,
          asked,
        })),
        box,
      );
  }

  get running(): boolean {
    return this.#live !== undefined;
  }

  /** Ask a question in this conversation. Resolves when its run is over. */
  async send(question: string, ask: Ask): Promise<void> {
    const text = question.trim();
    if (!text || this.running) return;
    const turn = this.#newTurn(text, ask);
    const body = bodyOf(this.state.turns, text, ask);
    this.set({ turns: [...this.state.turns, turn] });
    await this.#run(turn, body);
  }

  /** Ask the last question again, in place of its answer. */
  async retry(ask?: Ask): Promise<void> {
    const last = this.state.turns.at(-1);
    if (!last || this.running) return;
    const earlier = this.state.turns.slice(0, -1);
    const { model, effort } = ask ?? last;
    const turn = this.#newTurn(last.question, { model, effort });
    this.set({ turns: [...earlier, turn] });
    await this.#run(turn, bodyOf(earlier, last.question, { model, effort }));
  }

  /**
   * End the run: the server stops it and says how it ended; when that takes too long, the page ends it itself. What
   * came is kept.
   */
  async stop(): Promise<void> {
    const live = this.#live;
    if (!live) return;
    this.#patch(live.turnId, { stopping: true });
    this.flush();
    const runId = this.#turn(live.turnId)?.trace.runId;
    if (!runId) return live.abort.abort();
    live.grace = setTimeout(() => live.abort.abort(), this.#deps.stopGraceMs ?? 2000);
    try {
      await stopRun(this.#deps.client, runId);
    } catch {
      if (this.#live === live) live.abort.abort();
    }
  }

  /** Start a new conversation; nobody should pay for the rest of a run that nobody reads. */
  clear(): void {
    const live = this.#live;
    const runId = live && this.#turn(live.turnId)?.trace.runId;
    if (runId) stopRun(this.#deps.client, runId, { keepalive: true }).catch(() => undefined);
    live?.abort.abort();
    this.#live = undefined;
    this.set({ turns: [] });
    this.save();
    this.flush();
  }

  #newTurn(question: string, { model, effort }: Ask): Turn {
    this.#turns += 1;
    const trace = emptyTrace(model);
    const id = `turn-${this.#turns}`;
    const key = newKey();
    const then = { startedAt: this.#now(), asked: Date.now(), restored: false };
    return { id, key, question, model, effort, trace, ...then, stopping: false, resuming: false };
  }

  #keptTurn({ asked, trace, ...turn }: KeptTurn): Turn {
    const startedAt = this.#now() - (Date.now() - asked);
    return {
      ...this.#newTurn(turn.question, turn),
      ...(turn.key && { key: turn.key }),
      trace,
      asked,
      startedAt,
      restored: true,
    };
  }

  async #run(turn: Turn, body: ChatBody): Promise<void> {
    await this.#follow(turn, (options) => postChat(body, options));
  }

  /** The events come again from the first; where the run is not known any more, what was kept stays. */
  async #resume(turn: Turn): Promise<void> {
    const { runId, model } = turn.trace;
    if (!runId) return this.#askAgain(turn);
    this.#patch(turn.id, { trace: { ...emptyTrace(model), runId } });
    await this.#follow(turn, (options) => followRun(runId, options));
    const now = this.#turn(turn.id)?.trace;
    if (now?.items.length === 0 && now.end?.local) this.#patch(turn.id, { trace: connectionLost(turn.trace) });
    this.save();
  }

  /** The page went before its question was answered: under its key it is still one question, whether it came through. */
  async #askAgain(turn: Turn): Promise<void> {
    if (Date.now() - turn.asked > ASKED_MS) return this.#end(turn, "lost");
    await this.#run(turn, bodyOf(this.state.turns.slice(0, -1), turn.question, turn));
  }

  async #follow(turn: Turn, start: (options: ChatOptions) => Promise<ChatEnd>): Promise<void> {
    const live: Live = { turnId: turn.id, abort: new AbortController() };
    this.#live = live;
    this.save();
    this.flush();
    try {
      this.#end(turn, await start(this.#options(turn, live)));
    } catch (error) {
      this.#refuse(turn, error);
    } finally {
      clearTimeout(live.grace);
      if (this.#live === live) this.#live = undefined;
      this.save();
      this.flush();
    }
  }

  #options(turn: Turn, live: Live): ChatOptions {
    return {
      client: this.#deps.client,
      signal: live.abort.signal,
      key: turn.key,
      ...(this.#deps.askDelays && { askDelays: this.#deps.askDelays }),
      ...(this.#deps.resumeDelays && { resumeDelays: this.#deps.resumeDelays }),
      onStart: (runId, loop) => {
        this.#trace(turn, (trace) => ({ ...trace, runId, ...(isLoop(loop) && { loop }) }));
        this.save();
      },
      onEvent: (event) => this.#event(turn, event),
      onConnection: (state) => this.#patch(turn.id, { resuming: state === "resuming" }),
    };
  }

  #event(turn: Turn, event: ChatEvent): void {
    const ms = this.#now() - turn.startedAt;
    this.#trace(turn, (before) => {
      const trace = runReducer(before, event);
      if (turn.restored) return event.type === "done" ? { ...trace, ...serverMs(trace) } : trace;
      return { ...trace, firstEventMs: before.firstEventMs ?? ms, ...(event.type === "done" && { totalMs: ms }) };
    });
  }

  #end(turn: Turn, end: ChatEnd): void {
    if (end === "done") return;
    const close = end === "aborted" ? stoppedLocally : connectionLost;
    const passed = turn.restored ? undefined : { totalMs: this.#now() - turn.startedAt };
    this.#trace(turn, (trace) => ({ ...close(trace), ...passed }));
  }

  #refuse(turn: Turn, error: unknown): void {
    const reason = error instanceof ApiError ? error : new ApiError(0, "PAGE_ERROR", String(error));
    this.#trace(turn, (trace) => refused(trace, reason));
    if (reason.status === 401) this.#deps.onUnauthorized?.();
  }

  #turn(id: string): Turn | undefined {
    return this.state.turns.find((turn) => turn.id === id);
  }

  #trace(turn: Turn, change: (trace: RunTrace) => RunTrace): void {
    const trace = this.#turn(turn.id)?.trace;
    if (trace) this.#patch(turn.id, { trace: change(trace) });
  }

  #patch(id: string, change: Partial<Turn>): void {
    this.set({ turns: this.state.turns.map((turn) => (turn.id === id ? { ...turn, ...change } : turn)) });
  }
}

const isLoop = (text: string): text is Loop => text === "v2" || text === "legacy";

const serverMs = ({ firstAt, lastAt }: RunTrace): { totalMs?: number } =>
  firstAt === undefined || lastAt === undefined ? {} : { totalMs: lastAt - firstAt };

/** The whole conversation, as the API wants it. A resumable run goes on while the connection is away. */
function bodyOf(turns: readonly Turn[], question: string, { model, effort }: Ask): ChatBody {
  const messages: ChatMessage[] = [...turns.flatMap(messagesOf), { role: "user", content: question }];
  return { model, messages, on_disconnect: "continue", ...(effort !== "auto" && { reasoning: { effort } }) };
}

function messagesOf(turn: Turn): ChatMessage[] {
  const words = modelWords(turn.trace);
  const asked: ChatMessage = { role: "user", content: turn.question };
  return words ? [asked, { role: "assistant", content: words }] : [asked];
}
