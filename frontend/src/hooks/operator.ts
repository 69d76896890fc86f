// The operator's view of the server: how the lever stands, the last runs, and pulling.
import { createClient } from "../stream/client.ts";
import { ApiError } from "../stream/errors.ts";
import { fetchLever, fetchRuns, pullLever } from "../stream/operator.ts";
import type { Lever, LeverState, RunLine } from "../types/models.ts";
import { readAdminToken, readToken, writeAdminToken } from "./session.ts";
import { Store } from "./store.ts";

export interface OperatorState {
  /** Undefined until the server has told. */
  lever: Lever | undefined;
  runs: readonly RunLine[];
  trouble: string | undefined;
  tokenNeeded: boolean;
  pulling: boolean;
}

interface Wanted {
  state: LeverState;
  percent: number;
}

export class Operator extends Store<OperatorState> {
  readonly #client = createClient({ token: () => readAdminToken() || readToken() });
  #wanted: Wanted | undefined;

  constructor() {
    super({ lever: undefined, runs: [], trouble: undefined, tokenNeeded: false, pulling: false });
  }

  async load(): Promise<void> {
    if (this.state.tokenNeeded || this.state.pulling) return;
    try {
      const [lever, runs] = await Promise.all([fetchLever(this.#client), fetchRuns(this.#client)]);
      this.set({ lever, runs, trouble: undefined });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Pull the lever; without the operator's token, ask for it first. */
  async pull(wanted: Wanted): Promise<void> {
    this.#wanted = wanted;
    if (!readAdminToken()) return this.set({ tokenNeeded: true });
    this.set({ pulling: true });
    try {
      const lever = await pullLever(this.#client, readAdminToken(), wanted);
      this.#wanted = undefined;
      this.set({ lever, pulling: false, trouble: undefined });
    } catch (error) {
      this.set({ pulling: false });
      this.#fail(error);
    }
  }

  /** Keep the token for this tab and do what was asked for. */
  takeToken(token: string): void {
    writeAdminToken(token);
    this.set({ tokenNeeded: false, trouble: undefined });
    void (this.#wanted ? this.pull(this.#wanted) : this.load());
  }

  giveUp(): void {
    if (!this.state.tokenNeeded) return;
    this.#wanted = undefined;
    this.set({ tokenNeeded: false, trouble: "Nothing was pulled: that takes the operator's token." });
  }

  #fail(error: unknown): void {
    if (error instanceof ApiError && error.status === 401) {
      writeAdminToken("");
      this.set({ tokenNeeded: true });
    } else this.set({ trouble: error instanceof Error ? error.message : String(error) });
  }
}
