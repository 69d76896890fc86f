// Downloads the runs that match a filter.
import { filterParameters, type RunFilter } from "../../logic/pages/runFilter.ts";
import { saveBlob } from "../download.ts";
import { connect } from "../server/server.ts";
import { runToken } from "../server/session.ts";

/** A link could not send the token, so the file is fetched first. */
export async function exportRuns(filter: RunFilter): Promise<void> {
  const query = new URLSearchParams(filterParameters(filter, Date.now()).map(([name, value]) => [name, value]));
  const response = await connect(runToken).request(`/api/runs.ndjson?${query}`);
  saveBlob("runs.ndjson", await response.blob());
}
