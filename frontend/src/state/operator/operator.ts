// The data of the operator page: the feature flag and the recent runs.

import { ApiError, fetchRuns, isRefusal, type RunPage } from "@signalbox/client/requests";
import { joinRuns } from "../../logic/pages/operator.ts";
import { filterParameters, isFiltered, type RunFilter } from "../../logic/pages/runFilter.ts";
import type { FlagState, LoopFlag, RunLine, UpstreamLine } from "../../types/models.ts";
import { csrfToken } from "../server/csrfToken.ts";
import { connect } from "../server/server.ts";
import { readAdminToken, runToken, writeAdminToken } from "../server/session.ts";
import { Store } from "../store.ts";
import { fetchFlag, storeOverride } from "./loopFlag.ts";
import { fetchUpstreams, reloadUpstreams } from "./upstreams.ts";

export interface OperatorState {
  /** Undefined until it is loaded. */
  flag: LoopFlag | undefined;
  /** Newest first. */
  runs: readonly RunLine[];
  /** The upstreams of upstreams.toml, if the token is the operator's. */
  upstreams: readonly UpstreamLine[];
  /** The cursor of older runs. Undefined if all are loaded. */
  next: string | undefined;
  /** The list includes all users' runs, not only those without an API token. */
  isAll: boolean;
  /** The list includes only the runs of the API token, or of the person who is signed in. */
  isOwn: boolean;
  isFetchingOlder: boolean;
  /** The filter has changed, and the runs that match it are not loaded yet. */
  isFiltering: boolean;
  /** Why the server does not accept the filter. Then there are no runs. */
  filterTrouble: FilterTrouble | undefined;
  /** When the data was last loaded, in epoch milliseconds. */
  asOf: number | undefined;
  /** Why the data may be outdated. */
  trouble: string | undefined;
  /** No further requests until the user enters a token. */
  isLocked: boolean;
  /** Why the flag was not changed. */
  refusal: string | undefined;
  tokenNeeded: boolean;
  /** The entered token was rejected. */
  tokenRefused: boolean;
  saving: boolean;
}

export interface FilterTrouble {
  /** The field that the server names. */
  field: string | undefined;
  sentence: string;
}

interface Wanted {
  state: FlagState;
  percent: number;
}

export const EVERY_MS = 5000;
/** The delay after the last typed letter. */
const TYPED_MS = 250;
const PAGE = 50;
/** The server's maximum page size. */
const MOST = 200;

const BEGINNING: OperatorState = {
  flag: undefined,
  runs: [],
  upstreams: [],
  next: undefined,
  isAll: false,
  isOwn: false,
  isFetchingOlder: false,
  isFiltering: false,
  filterTrouble: undefined,
  asOf: undefined,
  trouble: undefined,
  isLocked: false,
  refusal: undefined,
  tokenNeeded: false,
  tokenRefused: false,
  saving: false,
};

export class Operator extends Store<OperatorState> {
  readonly #client = connect(runToken);
  #wanted: Wanted | undefined;
  #refreshing = false;
  /** A token was entered during a request with another one. */
  #again = false;
  /** The user has loaded older runs, so they are kept. */
  #wantsOlder = false;
  /** The user wants to see all users' runs, which needs the operator token. */
  #wantsAll = false;

  #filter: RunFilter;
  /** The filter that the server has rejected. It is not sent again. */
  #rejected: (FilterTrouble & { filter: RunFilter }) | undefined;
  #typed: ReturnType<typeof setTimeout> | undefined;

  constructor(filter: RunFilter = {}) {
    super(BEGINNING);
    this.#filter = filter;
  }

  /** Show only the runs that match. */
  setFilter(filter: RunFilter): void {
    if (filter === this.#filter) return;
    this.#filter = filter;
    this.#wantsOlder = false;
    this.set({ isFiltering: true, filterTrouble: undefined });
    clearTimeout(this.#typed);
    this.#typed = setTimeout(() => {
      this.#again = this.#refreshing;
      void this.load();
    }, TYPED_MS);
  }

  /** Refresh now and every few seconds. A hidden page pauses and refreshes when it is shown. */
  start(): () => void {
    const look = () => {
      if (!document.hidden) void this.load();
    };
    look();
    const timer = setInterval(look, EVERY_MS);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }

  async load(): Promise<void> {
    if (!this.state.tokenNeeded && !this.state.saving && !this.state.isLocked) await this.#refresh();
  }

  /** Load the next page of older runs. */
  async loadOlder(): Promise<void> {
    const { next, isFetchingOlder } = this.state;
    if (next === undefined || isFetchingOlder) return;
    this.set({ isFetchingOlder: true });
    try {
      const older = await fetchRuns(this.#client, PAGE, next, this.#parameters());
      // A refresh in the meantime may have restarted the list. Then this page does not follow it.
      if (this.state.next === next) this.set({ runs: [...this.state.runs, ...older.runs], next: older.next });
      this.#wantsOlder = true;
    } catch (error) {
      this.#fail(error);
    }
    this.set({ isFetchingOlder: false });
  }

  /** Change the flag. Ask for the operator token first, unless there is one or an operator has signed in. */
  async setFlag(wanted: Wanted): Promise<void> {
    this.#wanted = wanted;
    if (readAdminToken() || this.state.isAll) await this.#put(wanted);
    else this.set({ tokenNeeded: true, tokenRefused: false, refusal: undefined });
  }

  /** Store the token for this tab and repeat the pending request. A rejected token is asked for again. */
  takeToken(token: string): void {
    writeAdminToken(token);
    this.#rejected = undefined;
    this.set({ tokenRefused: false });
    this.#again = this.#refreshing;
    void (this.#wanted ? this.#put(this.#wanted) : this.#refresh());
  }

  /** Throws if the file is invalid. */
  async reloadUpstreams(): Promise<void> {
    await reloadUpstreams();
    await this.#refresh();
  }

  askForToken(): void {
    this.set({ tokenNeeded: true, tokenRefused: false });
  }

  /** Show all users' runs, with the operator token. */
  showAll(): void {
    this.#wantsAll = true;
    this.askForToken();
  }

  giveUp(): void {
    if (!this.state.tokenNeeded) return;
    if (this.#wanted) this.set({ tokenNeeded: false, refusal: "Not changed: this needs the operator token." });
    else if (this.#wantsAll) this.set({ tokenNeeded: false });
    else {
      this.set({ tokenNeeded: false, isLocked: true, trouble: "You need a token to see the runs on this server." });
    }
    this.#wanted = undefined;
    this.#wantsAll = false;
  }

  async #refresh(): Promise<void> {
    if (this.#refreshing) return;
    this.#refreshing = true;
    const token = runToken();
    const filter = this.#filter;
    const isCurrent = () => token === runToken() && filter === this.#filter;
    try {
      const limit = this.#wantsOlder ? Math.min(MOST, Math.max(PAGE, this.state.runs.length)) : PAGE;
      const [flag, fresh] = await Promise.all([fetchFlag(this.#client), this.#fetchNewest(filter, limit)]);
      const upstreams = fresh.isAll ? await fetchUpstreams(this.#client) : [];
      if (isCurrent()) this.#show(flag, fresh, upstreams);
    } catch (error) {
      if (isCurrent()) this.#fail(error);
    } finally {
      this.#refreshing = false;
    }
    if (this.#again) {
      this.#again = false;
      await this.#refresh();
    }
  }

  /** The newest runs. None if the server rejects the filter: then it is only asked whose runs it would show. */
  async #fetchNewest(filter: RunFilter, limit: number): Promise<RunPage> {
    if (this.#rejected?.filter !== filter) {
      try {
        return await fetchRuns(this.#client, limit, undefined, this.#parameters());
      } catch (error) {
        if (!isFiltered(filter) || !isRejection(error)) throw error;
        this.#rejected = { filter, field: error.field, sentence: error.message };
      }
    }
    const { isAll } = await fetchRuns(this.#client, 1);
    return { runs: [], next: undefined, isAll };
  }

  #parameters() {
    return filterParameters(this.#filter, Date.now());
  }

  #show(flag: LoopFlag, fresh: RunPage, upstreams: readonly UpstreamLine[]): void {
    // A change in the meantime has newer data.
    this.set({
      ...(!this.state.saving && { flag }),
      ...(this.#wantsOlder ? joinRuns(fresh, this.state) : fresh),
      isAll: fresh.isAll,
      isOwn: !fresh.isAll && (runToken() !== "" || csrfToken() !== undefined),
      upstreams: upstreams.filter(({ name }) => name !== ""),
      asOf: Date.now(),
      isFiltering: false,
      filterTrouble: this.#rejected?.filter === this.#filter ? this.#rejected : undefined,
      trouble: undefined,
      isLocked: false,
    });
    // A server without access control ignores a wrong token, but then it does not show all users' runs.
    if (this.#wantsAll && !fresh.isAll) this.#askAgain();
    else if (!this.#wanted) this.set({ tokenNeeded: false });
    if (fresh.isAll) this.#wantsAll = false;
  }

  async #put(wanted: Wanted): Promise<void> {
    this.set({ saving: true, refusal: undefined });
    try {
      const flag = await storeOverride(this.#client, readAdminToken(), wanted);
      this.#wanted = undefined;
      this.set({ flag, saving: false, tokenNeeded: false });
      await this.#refresh(); // the operator token also shows all users' runs
    } catch (error) {
      this.set({ saving: false });
      if (isUnauthorized(error)) this.#askAgain();
      else {
        this.#wanted = undefined;
        this.set({ tokenNeeded: false, refusal: refusalOf(error) });
      }
    }
  }

  #fail(error: unknown): void {
    if (isUnauthorized(error)) this.#askAgain();
    else this.set({ tokenNeeded: this.#wanted !== undefined, trouble: sentenceOf(error) });
  }

  #askAgain(): void {
    const tokenRefused = readAdminToken() !== "";
    writeAdminToken("");
    this.set({ tokenNeeded: true, tokenRefused });
  }
}

const isUnauthorized = (error: unknown): boolean => error instanceof ApiError && error.status === 401;
/** The server does not accept the request, and would not accept it later either. */
const isRejection = (error: unknown): error is ApiError =>
  error instanceof ApiError && isRefusal(error) && [400, 403, 404, 422].includes(error.status);
const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Without a response, the outcome is unknown. The next refresh shows it. */
const refusalOf = (error: unknown): string =>
  error instanceof ApiError && error.status > 0
    ? `Not changed. ${error.message}`
    : `${sentenceOf(error)} The current setting is shown when the server responds again.`;
