// Requests about the files of a conversation.
import type { ApiClient } from "@signalbox/client/requests";
import type { FileVersion } from "../../types/files.ts";

/** A branch of a conversation. Without a node, its current one. */
export interface BranchPlace {
  conversationId: string;
  nodeId: string | undefined;
}

type Query = Readonly<Record<string, string | number | undefined>>;

function address({ conversationId, nodeId }: BranchPlace, folder: string, path = "", query: Query = {}): string {
  const names = path.split("/").map(encodeURIComponent).join("/");
  const given = Object.entries({ node_id: nodeId, ...query }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const search = given.length > 0 ? `?${new URLSearchParams(given)}` : "";
  return `/api/conversations/${encodeURIComponent(conversationId)}/${folder}${path ? `/${names}` : ""}${search}`;
}

type Json = Readonly<Record<string, unknown>>;

const parsed = (value: Json): FileVersion => ({
  path: String(value.path),
  version: Number(value.version),
  mediaType: String(value.media_type),
  size: Number(value.size),
  author: value.author === "person" ? "person" : "model",
  created: Number(value.created) * 1000,
  nodeId: String(value.node_id),
  isDeleted: value.is_deleted === true,
});

const listed = (value: unknown): readonly FileVersion[] => (Array.isArray(value) ? value.map(parsed) : []);

export async function fetchFiles(client: ApiClient, place: BranchPlace): Promise<readonly FileVersion[]> {
  return listed(((await (await client.request(address(place, "files"))).json()) as Json).files);
}

export async function fetchVersions(
  client: ApiClient,
  place: BranchPlace,
  path: string,
): Promise<readonly FileVersion[]> {
  return listed(((await (await client.request(address(place, "file-versions", path))).json()) as Json).versions);
}

/** Text, or an image. */
export async function fetchContent(
  client: ApiClient,
  place: BranchPlace,
  { path, version, mediaType }: Pick<FileVersion, "path" | "version" | "mediaType">,
): Promise<string | Blob> {
  const response = await client.request(address(place, "files", path, { version }));
  return mediaType.startsWith("image/") && mediaType !== "image/svg+xml" ? response.blob() : response.text();
}

/** Throws ApiError FILE_CHANGED if the newest version is another one than `base`. Undefined replaces any version. */
export async function writeFile(
  client: ApiClient,
  place: BranchPlace,
  path: string,
  text: string,
  base: number | undefined,
): Promise<void> {
  const body = new Blob([text], { type: "text/plain" });
  await client.request(address(place, "files", path, { base_version: base }), { method: "PUT", body });
}

export async function restoreVersion(
  client: ApiClient,
  place: BranchPlace,
  { path, version }: Pick<FileVersion, "path" | "version">,
): Promise<void> {
  await client.request(address(place, "file-versions", path), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ version }),
  });
}

export async function fetchArchive(client: ApiClient, place: BranchPlace): Promise<Blob> {
  return (await client.request(address(place, "files.zip"))).blob();
}

/** Why a request about files failed, as a sentence after `what` has failed. */
export function fileTrouble(what: string, error: unknown): string {
  if ((error as { code?: string }).code === "UNKNOWN_CONVERSATION")
    return "This conversation was deleted in another tab or browser.";
  return `${what} ${error instanceof Error ? error.message : error}`;
}
