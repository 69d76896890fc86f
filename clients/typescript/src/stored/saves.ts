// The snapshots that the server stores.
import { type Call, type CallOptions, type Open, PAGE, pages } from "../calls.ts";
import { followSave } from "../requests/runStream.ts";
import { deleteSave, fetchSave, fetchSaves, type Save, saveRun } from "../requests/savedRuns.ts";
import type { Run } from "../run.ts";
import type { SaveLine } from "../types/api.ts";

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
