// The operator's view of the server: how the lever stands, the last runs, and pulling.
import { joinRuns } from "../run/operator.ts";
import { createClient } from "../stream/client.ts";
import { ApiError } from "../stream/errors.ts";
import { fetchLever, fetchRuns, pullLever } from "../stream/operator.ts";
import type { Lever, LeverState, RunLine } from "../types/models.ts";
import { readAdminToken, readToken, writeAdminToken } from "./session.ts";
import { Store } from "./store.ts";

export interface OperatorState {
  /** Undefined until the server has told. */
  lever: Lever | undefined;
  /** The newest first. */
  runs: readonly RunLine[];
  /** Where older runs begin; undefined: all are shown. */
  next: string | undefined;
  isFetchingOlder: boolean;
  /** When the server last told all this, in epoch milliseconds. */
  asOf: number | undefined;
  /** Why what is shown may be old. */
  trouble: string | undefined;
  /** Nobody asks again until the reader gives a token. */
  isLocked: boolean;
  /** Why the lever was not pulled. */
  refusal: string | undefined;
  tokenNeeded: boolean;
  /** The token that was entered is not the one. */
  tokenRefused: boolean;
  pulling: boolean;
}

interface Wanted {
  state: LeverState;
  percent: number;
}

export const EVERY_MS = 5000;
const PAGE = 50;
/** The server's limit for one page. */
const MOST = 200;

const BEGINNING: OperatorState = {
  lever: undefined,
  runs: [],
  next: undefined,
  isFetchingOlder: false,
  asOf: undefined,
  trouble: undefined,
  isLocked: false,
  refusal: undefined,
  tokenNeeded: false,
  tokenRefused: false,
  pulling: false,
};

export class Operator extends Store<OperatorState> {
  readonly #client = createClient({ token: () => readAdminToken() || readToken() });
  #wanted: Wanted | undefined;
  #reading = false;
  /** The reader asked for older runs: they are kept behind the newest. */
  #wantsOlder = false;

  constructor() {
    super(BEGINNING);
  }

  /** Read now and then every few seconds; a hidden page rests and reads at once when it is seen again. */
  watch(): () => void {
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
    if (!this.state.tokenNeeded && !this.state.pulling && !this.state.isLocked) await this.#read();
  }

  /** Add the page behind the last run that is shown. */
  async loadOlder(): Promise<void> {
    const { next, isFetchingOlder } = this.state;
    if (next === undefined || isFetchingOlder) return;
    this.set({ isFetchingOlder: true });
    try {
      const older = await fetchRuns(this.#client, PAGE, next);
      // A read in the meantime may have begun anew with the newest; the page does not follow those.
      if (this.state.next === next) this.set({ runs: [...this.state.runs, ...older.runs], next: older.next });
      this.#wantsOlder = true;
    } catch (error) {
      this.#fail(error);
    }
    this.set({ isFetchingOlder: false });
  }

  /** Pull the lever; without the operator's token, ask for it first. */
  async pull(wanted: Wanted): Promise<void> {
    this.#wanted = wanted;
    if (readAdminToken()) await this.#put(wanted);
    else this.set({ tokenNeeded: true, tokenRefused: false, refusal: undefined });
  }

  /** Keep the token for this tab and do what was asked for; a wrong one is asked for again. */
  takeToken(token: string): void {
    writeAdminToken(token);
    this.set({ tokenRefused: false });
    void (this.#wanted ? this.#put(this.#wanted) : this.#read());
  }

  askForToken(): void {
    this.set({ tokenNeeded: true, tokenRefused: false });
  }

  giveUp(): void {
    if (!this.state.tokenNeeded) return;
    if (this.#wanted) this.set({ tokenNeeded: false, refusal: "Nothing was pulled: that takes the operator's token." });
    else {
      this.set({ tokenNeeded: false, isLocked: true, trouble: "This server shows its runs with a token only." });
    }
    this.#wanted = undefined;
  }

  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      const limit = this.#wantsOlder ? Math.min(MOST, Math.max(PAGE, this.state.runs.length)) : PAGE;
      const [lever, fresh] = await Promise.all([fetchLever(this.#client), fetchRuns(this.#client, limit)]);
      const joined = this.#wantsOlder ? joinRuns(fresh, this.state) : fresh;
      // A pull that began in the meantime knows better how the lever stands.
      this.set({
        ...(!this.state.pulling && { lever }),
        ...joined,
        asOf: Date.now(),
        trouble: undefined,
        isLocked: false,
      });
      if (!this.#wanted) this.set({ tokenNeeded: false });
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#reading = false;
    }
  }

  async #put(wanted: Wanted): Promise<void> {
    this.set({ pulling: true, refusal: undefined });
    try {
      const lever = await pullLever(this.#client, readAdminToken(), wanted);
      this.#wanted = undefined;
      this.set({ lever, pulling: false, tokenNeeded: false });
    } catch (error) {
      this.set({ pulling: false });
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
const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Without an answer nobody knows what became of the pull; the next look tells. */
const refusalOf = (error: unknown): string =>
  error instanceof ApiError && error.status > 0
    ? `Nothing was pulled. ${error.message}`
    : `${sentenceOf(error)} Whether the lever was pulled is seen when it answers again.`;
