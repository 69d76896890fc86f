// Stops the run of an answer: asks the server until it confirms, and then waits for the last events.

import { type ApiClient, ApiError, stopRun } from "@signalbox/client/requests";

export interface StopTimes {
  /** How long a stopped run may take to send its `done`. */
  stopGraceMs?: number;
  /** How long a stopped message keeps its connection to receive the id of its run. */
  unnamedMs?: number;
  /** Delays before each stop request. */
  stopDelays?: readonly number[];
}

export interface StoppedAnswer {
  isOver: () => boolean;
  /** Whether a stop over this connection is still needed. */
  isNeeded: (abort: AbortController) => boolean;
  /** End the answer on the page. */
  end: () => void;
  /** No request was confirmed. */
  onFailed: () => void;
}

const STOP_GRACE_MS = 2000;
const UNNAMED_MS = 8000;
const STOP_DELAYS = [0, 500, 1000, 2000, 4000] as const;

export class RunStop {
  readonly #client: ApiClient;
  readonly #times: StopTimes;
  readonly #answer: StoppedAnswer;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(deps: StopTimes & { client: ApiClient }, answer: StoppedAnswer) {
    this.#client = deps.client;
    this.#times = deps;
    this.#answer = answer;
  }

  /** Repeat the request. The answer only counts as stopped once the server confirms it. */
  async onServer(runId: string, abort: AbortController): Promise<void> {
    clearTimeout(this.#timer);
    for (const delay of this.#times.stopDelays ?? STOP_DELAYS) {
      await new Promise((resolve) => setTimeout(resolve, delay));
      if (!this.#answer.isNeeded(abort)) return;
      if (!(await isStopped(this.#client, runId))) continue;
      if (this.#answer.isOver()) abort.abort();
      else this.#timer = setTimeout(() => abort.abort(), this.#times.stopGraceMs ?? STOP_GRACE_MS);
      return;
    }
    this.#answer.onFailed();
  }

  /** End an answer that gets no run id in time. Its connection stays a little longer, because it may bring the id. */
  withoutId(abort: AbortController): void {
    this.#timer = setTimeout(() => {
      this.#answer.end();
      this.#timer = setTimeout(() => abort.abort(), this.#times.unnamedMs ?? UNNAMED_MS);
    }, this.#times.stopGraceMs ?? STOP_GRACE_MS);
  }

  /** The connection has ended. */
  settled(): void {
    clearTimeout(this.#timer);
  }
}

/** Request a stop. A run that no longer exists counts as stopped. */
async function isStopped(client: ApiClient, runId: string): Promise<boolean> {
  try {
    await stopRun(client, runId);
    return true;
  } catch (error) {
    return error instanceof ApiError && error.status === 404;
  }
}
