// The list of saved answers: load, save, delete.
import { deleteSave, fetchSaves, keepRun } from "../../stream/savedRuns.ts";
import type { SaveLine } from "../../types/api.ts";
import { Listing, type ListingOptions, type ListingState, type Page, type PageWanted } from "./pagedList.ts";

export type SavesState = ListingState<SaveLine>;

export class Saves extends Listing<SaveLine, SavesState> {
  constructor(options: ListingOptions) {
    super("saves", { lines: [], state: "loading", trouble: undefined, hasMore: false }, options);
  }

  /** Save a finished run. Throws ApiError, which the caller shows. */
  async keep(runId: string, title?: string, data?: Readonly<Record<string, unknown>>): Promise<SaveLine> {
    const line = await keepRun(this.client, runId, { title, data });
    void this.touch();
    return line;
  }

  protected fetch(wanted: PageWanted): Promise<Page<SaveLine>> {
    return fetchSaves(this.client, wanted);
  }

  protected erase(id: string): Promise<unknown> {
    return deleteSave(this.client, id);
  }

  protected orderOf(line: SaveLine): number {
    return line.created;
  }

  protected isMoving(): boolean {
    return false;
  }
}
