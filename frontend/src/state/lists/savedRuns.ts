// The list of saved answers: load, save, delete.
import { deleteSave, fetchSaves, saveRun } from "@signalbox/client/requests";
import type { SaveLine } from "../../types/api.ts";
import { type Page, PagedList, type PagedListOptions, type PagedListState, type PageWanted } from "./pagedList.ts";

export type SavedRunsState = PagedListState<SaveLine>;

export class SavedRuns extends PagedList<SaveLine, SavedRunsState> {
  constructor(options: PagedListOptions) {
    super("saves", { lines: [], state: "loading", trouble: undefined, hasMore: false }, options);
  }

  /** Save a finished run. Throws ApiError, which the caller shows. */
  async save(runId: string, title?: string, data?: Readonly<Record<string, unknown>>): Promise<SaveLine> {
    const line = await saveRun(this.client, runId, { title, data });
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

  protected isChanging(): boolean {
    return false;
  }
}
