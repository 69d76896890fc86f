// The contents of files as the page shows them, and why requests about files failed.
export {
  type BranchPlace,
  fetchArchive,
  fetchFiles,
  fetchFileVersions,
  restoreFile,
  writeFile,
} from "@signalbox/client/requests";

import { type ApiClient, type BranchPlace, fetchFile } from "@signalbox/client/requests";
import type { FileVersion } from "../../types/files.ts";

/** Text, or an image. */
export async function fetchContent(
  client: ApiClient,
  place: BranchPlace,
  { path, version, mediaType }: Pick<FileVersion, "path" | "version" | "mediaType">,
): Promise<string | Blob> {
  const { bytes, text } = await fetchFile(client, place, path, version);
  return mediaType.startsWith("image/") && mediaType !== "image/svg+xml"
    ? new Blob([bytes], { type: mediaType })
    : text;
}

/** Why a request about files failed, as a sentence after `what` has failed. */
export function fileTrouble(what: string, error: unknown): string {
  if ((error as { code?: string }).code === "UNKNOWN_CONVERSATION")
    return "This conversation was deleted in another tab or browser.";
  return `${what} ${error instanceof Error ? error.message : error}`;
}
