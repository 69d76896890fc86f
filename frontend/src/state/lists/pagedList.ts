// A list that the server sends page by page. It is refreshed in the background and follows changes in other tabs.
import type { ApiClient } from "@signalbox/client/requests";
import { ApiError } from "@signalbox/client/requests";
import { ownKey } from "../../logic/baseUrl.ts";
import { type Schedule, Store } from "../store.ts";

export interface PagedListState<Line> {
  lines: readonly Line[];
  state: "loading" | "ready" | "failed";
  /** The error, as a sentence. */
  trouble: string | undefined;
  /** The server has more lines. */
  hasMore: boolean;
}

/** Runs a function after a delay. The result cancels it. */
export type Later = (run: () => void, ms: number) => () => void;

const inTime: Later = (run, ms) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/** The used part of a BroadcastChannel. */
export interface Channel {
  onmessage: ((event: MessageEvent) => unknown) | null;
  postMessage(message: unknown): void;
  close(): void;
}

const openChannel = (): Channel | null =>
  typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(ownKey("signalbox"));

export interface PagedListOptions {
  client: ApiClient;
  later?: Later;
  /** Null disables communication with other tabs. */
  channel?: Channel | null;
  schedule?: Schedule;
}

export interface PageWanted {
  before?: string;
  limit: number;
  signal: AbortSignal;
}

export interface Page<Line> {
  lines: readonly Line[];
  next: string | undefined;
}

const PAGE = 50;
const NEXT_PAGE = 100;
const LARGEST_PAGE = 200;
const POLL_MS = 5000;

export abstract class PagedList<Line extends { id: string }, State extends PagedListState<Line>> extends Store<State> {
  protected readonly client: ApiClient;
  protected readonly later: Later;
  readonly #channel: Channel | null;
  /** The lines as the server sent them, without pending changes. */
  #serverLines: readonly Line[] = [];
  #next: string | undefined;
  readonly #removed = new Set<string>();
  /** The latest requests for the list and for its next page. Responses to older ones are ignored. */
  #reading: AbortController | undefined;
  #readingMore: AbortController | undefined;
  #stopPolling: (() => void) | undefined;

  /** The name of this list in messages to other tabs. */
  readonly #kind: string;

  protected constructor(kind: string, state: State, options: PagedListOptions) {
    super(state, options.schedule);
    this.#kind = kind;
    this.client = options.client;
    this.later = options.later ?? inTime;
    this.#channel = options.channel === undefined ? openChannel() : options.channel;
    if (!this.#channel) return;
    this.#channel.onmessage = ({ data }) => {
      if ((data as { changed?: unknown } | null)?.changed === kind && this.#reading) void this.#fetchLines();
    };
  }

  protected abstract fetch(wanted: PageWanted): Promise<Page<Line>>;
  protected abstract erase(id: string): Promise<unknown>;
  /** The sort key, largest first. */
  protected abstract orderOf(line: Line): number;
  /** Whether the server may change this line without a request from the page. */
  protected abstract isChanging(line: Line): boolean;
  /** Apply pending changes to a line. */
  protected withPendingChanges(line: Line): Line {
    return line;
  }

  /** Load the list unless it is loaded. */
  loadOnce(): void {
    if (!this.#reading) void this.load();
  }

  /** Load the list and report failures. The current lines stay until then. */
  load(): Promise<void> {
    this.put({ state: "loading", trouble: undefined });
    return this.#fetchLines();
  }

  /** Refresh the list silently, here and in other tabs. */
  touch(): Promise<void> {
    this.#notifyTabs();
    return this.#fetchLines();
  }

  async more(): Promise<void> {
    const before = this.#next;
    if (before === undefined || this.#readingMore) return;
    const asking = new AbortController();
    this.#readingMore = asking;
    this.put({ trouble: undefined });
    try {
      const page = await this.fetch({ before, limit: NEXT_PAGE, signal: asking.signal });
      if (asking !== this.#readingMore) return;
      const known = new Set(this.#serverLines.map(({ id }) => id));
      this.#serverLines = [...this.#serverLines, ...page.lines.filter(({ id }) => !known.has(id))];
      this.#next = page.next;
      this.show();
    } catch (error) {
      if (asking === this.#readingMore)
        this.put({ trouble: `The rest of the list could not be loaded. ${wordsOf(error)}` });
    } finally {
      if (asking === this.#readingMore) this.#readingMore = undefined;
    }
  }

  /** Remove a line at once. If the server rejects that, it returns with an error. */
  async remove(id: string): Promise<boolean> {
    this.#removed.add(id);
    this.put({ trouble: undefined });
    this.show();
    try {
      await this.erase(id);
    } catch (error) {
      if (!isGone(error)) {
        this.#removed.delete(id);
        this.show();
        this.put({ trouble: `Deleting failed. ${wordsOf(error)}` });
        return false;
      }
    }
    this.#serverLines = this.#serverLines.filter((line) => line.id !== id);
    this.#notifyTabs();
    return true;
  }

  dismiss(): void {
    this.put({ trouble: undefined });
  }

  /** Stop all timers, requests and messages. */
  close(): void {
    this.#stopPolling?.();
    this.#reading?.abort();
    this.#readingMore?.abort();
    [this.#reading, this.#readingMore] = [undefined, undefined];
    this.#channel?.close();
  }

  /** Load another list in place of this one. */
  protected replace(): Promise<void> {
    this.#readingMore?.abort();
    [this.#readingMore, this.#next] = [undefined, undefined];
    this.put({ state: "loading", trouble: undefined });
    return this.#fetchLines(true);
  }

  /** Apply a confirmed change to a line. */
  protected amend(id: string, change: Partial<Line>): void {
    this.#serverLines = this.#serverLines.map((line) => (line.id === id ? { ...line, ...change } : line));
    this.#notifyTabs();
    void this.#fetchLines();
  }

  protected show(): void {
    const lines = this.#serverLines
      .filter(({ id }) => !this.#removed.has(id))
      .map((line) => this.withPendingChanges(line));
    this.put({ lines, hasMore: this.#next !== undefined });
  }

  protected put(change: Partial<PagedListState<Line>>): void {
    this.set(change as Partial<State>);
  }

  async #fetchLines(isAnother = false): Promise<void> {
    this.#reading?.abort();
    const asking = new AbortController();
    this.#reading = asking;
    const limit = isAnother ? PAGE : Math.min(Math.max(this.#serverLines.length, PAGE), LARGEST_PAGE);
    try {
      const page = await this.fetch({ limit, signal: asking.signal });
      if (asking !== this.#reading) return;
      this.#merge(page, isAnother);
      this.show();
      this.put({ state: "ready" });
    } catch (error) {
      if (asking !== this.#reading) return;
      // A failed refresh does not remove the lines.
      if (this.state.state === "loading") this.put({ state: "failed", trouble: wordsOf(error) });
    }
    this.#poll();
  }

  /** Replace the first lines. Later lines and the cursor stay. */
  #merge({ lines, next }: Page<Line>, isAnother: boolean): void {
    const last = lines.at(-1);
    const fresh = new Set(lines.map(({ id }) => id));
    const isBehind = (line: Line) => last !== undefined && this.#isBefore(last, line) && !fresh.has(line.id);
    const tail = isAnother || next === undefined ? [] : this.#serverLines.filter(isBehind);
    const old = new Map(this.#serverLines.map((line) => [line.id, line]));
    if (tail.length === 0) this.#next = next;
    this.#serverLines = [...lines.map((line) => sameOr(old.get(line.id), line)), ...tail];
  }

  #isBefore(one: Line, other: Line): boolean {
    const [first, second] = [this.orderOf(one), this.orderOf(other)];
    return first === second ? one.id > other.id : first > second;
  }

  #poll(): void {
    this.#stopPolling?.();
    const isMoving = this.#serverLines.slice(0, LARGEST_PAGE).some((line) => this.isChanging(line));
    this.#stopPolling = isMoving ? this.later(() => void this.#fetchLines(), POLL_MS) : undefined;
  }

  #notifyTabs(): void {
    this.#channel?.postMessage({ changed: this.#kind });
  }
}

/** Return the old object if nothing has changed, so that its row is not rendered again. */
function sameOr<Line extends object>(old: Line | undefined, line: Line): Line {
  if (!old) return line;
  const names = Object.keys(line) as (keyof Line)[];
  return names.every((name) => old[name] === line[name]) ? old : line;
}

export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404;
