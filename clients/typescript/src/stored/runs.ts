// The runs that the server stores.
import { type Call, type CallOptions, type Lines, type Open, PAGE, pages } from "../calls.ts";
import { deleteRun, fetchRuns, parseRun } from "../requests/runList.ts";
import { fetchTrace, type RunTrace } from "../requests/runRecords.ts";
import { exportAddress, fetchRunStats, filterParameters } from "../requests/runReports.ts";
import { followRun } from "../requests/runStream.ts";
import { type Run, type StoppedRun, stopAt } from "../run.ts";
import type { RunLine } from "../types/api.ts";
import type { RunFilter, RunStats, StatsOptions } from "../types/reports.ts";

/** The runs of the token's owner. */
export class Runs {
  readonly #call: Call;
  readonly #lines: Lines;
  readonly #open: Open;

  /** @internal */
  constructor(call: Call, lines: Lines, open: Open) {
    this.#call = call;
    this.#lines = lines;
    this.#open = open;
  }

  /** The runs that match all filters, the newest first. They are requested page by page. */
  list({ signal, ...filter }: CallOptions & RunFilter = {}): AsyncGenerator<RunLine> {
    const parameters = filterParameters(filter);
    return pages(async (before) => {
      const { runs, next } = await this.#call({ signal }, (client) => fetchRuns(client, PAGE, before, parameters));
      return { lines: runs, next };
    });
  }

  /**
   * The same runs as `list`, but from one response. If the connection breaks, the loop throws `ConnectionLost`, because an
   * export cannot be resumed.
   */
  async *export({ signal, ...filter }: CallOptions & RunFilter = {}): AsyncGenerator<RunLine> {
    for await (const line of this.#lines({ signal }, exportAddress(filter))) yield* parseRun(line);
  }

  /**
   * Count the runs that match all filters, by time and loop. Without `since`, the statistics begin a day before `until`.
   * Without `until`, they end now.
   */
  stats({ signal, ...wanted }: CallOptions & StatsOptions = {}): Promise<RunStats> {
    return this.#call({ signal }, (client) => fetchRunStats(client, wanted));
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
