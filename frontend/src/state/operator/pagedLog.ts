// A log on the operator page: refreshes the newest entries every few seconds, and loads older ones on demand.
import { joinPages, type Page } from "../../logic/pages/pagedLog.ts";
import { Store } from "../store.ts";
import { sentenceOf } from "./request.ts";

export interface LogState<Item> {
  /** Newest first. Undefined until they are loaded. */
  items: readonly Item[] | undefined;
  /** The cursor of older items. */
  next: string | undefined;
  /** Why the items may be outdated. */
  trouble: string | undefined;
  isFetchingOlder: boolean;
}

interface Source<Item> {
  /** Fetch the items before a cursor, or the newest ones. */
  fetchPage: (before: string | undefined) => Promise<Page<Item>>;
  idOf: (item: Item) => string;
}

const EVERY_MS = 5000;

export class PagedLog<Item> extends Store<LogState<Item>> {
  readonly #source: Source<Item>;

  constructor(source: Source<Item>) {
    super({ items: undefined, next: undefined, trouble: undefined, isFetchingOlder: false });
    this.#source = source;
  }

  /** Load now and every few seconds, unless the page is hidden. */
  start(): () => void {
    void this.load();
    const timer = setInterval(() => !document.hidden && void this.load(), EVERY_MS);
    return () => clearInterval(timer);
  }

  async load(): Promise<void> {
    try {
      const fresh = await this.#source.fetchPage(undefined);
      const { items = [], next } = this.state;
      this.set({ ...joinPages(fresh, { items, next }, this.#source.idOf), trouble: undefined });
    } catch (error) {
      this.set({ trouble: sentenceOf(error) });
    }
  }

  async loadOlder(): Promise<void> {
    const { next } = this.state;
    if (next === undefined || this.state.isFetchingOlder) return;
    this.set({ isFetchingOlder: true });
    try {
      const older = await this.#source.fetchPage(next);
      // A refresh in the meantime may have restarted the list. Then this page does not follow it.
      if (this.state.next === next)
        this.set({ items: [...(this.state.items ?? []), ...older.items], next: older.next });
    } catch (error) {
      this.set({ trouble: sentenceOf(error) });
    }
    this.set({ isFetchingOlder: false });
  }
}
