// Requests for the files of a conversation.
import type { BranchFile, FileContent, FileVersion } from "../types/files.ts";
import type { ApiClient } from "./client.ts";
import { fields, list, number, readBody, text, time, unreadable } from "./jsonFields.ts";

/** A branch of a conversation. Without a node, its current one. */
export interface BranchPlace {
  conversationId: string;
  nodeId: string | undefined;
}

type Query = Readonly<Record<string, string | number | undefined>>;

function addressOf({ conversationId, nodeId }: BranchPlace, folder: string, path = "", query: Query = {}): string {
  const names = path.split("/").map(encodeURIComponent).join("/");
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ node_id: nodeId, ...query }))
    if (value !== undefined) parameters.set(name, String(value));
  const place = `/api/conversations/${encodeURIComponent(conversationId)}/${folder}${path && `/${names}`}`;
  return parameters.size ? `${place}?${parameters}` : place;
}

/** The newest version of each file, without deleted files. */
export async function fetchFiles(client: ApiClient, place: BranchPlace): Promise<readonly BranchFile[]> {
  const { files } = await readBody(await client.request(addressOf(place, "files")));
  return list(files).map((file) => ({ ...parseVersion(file), versions: number(fields(file).versions) ?? 1 }));
}

/** All versions of a file, the newest first. */
export async function fetchFileVersions(
  client: ApiClient,
  place: BranchPlace,
  path: string,
): Promise<readonly FileVersion[]> {
  const { versions } = await readBody(await client.request(addressOf(place, "file-versions", path)));
  return list(versions).map(parseVersion);
}

/** Without a version, the newest one. */
export async function fetchFile(
  client: ApiClient,
  place: BranchPlace,
  path: string,
  version?: number,
): Promise<FileContent> {
  const response = await client.request(addressOf(place, "files", path, { version }));
  const found = Number(response.headers.get("x-file-version"));
  if (!found) throw unreadable();
  const bytes = new Uint8Array(await response.arrayBuffer());
  return {
    version: found,
    bytes,
    get text() {
      return new TextDecoder().decode(bytes);
    },
  };
}

/** Throws ApiError FILE_CHANGED if the newest version is another one than `base`. Undefined replaces any version. */
export const writeFile = (
  client: ApiClient,
  place: BranchPlace,
  path: string,
  content: string | Uint8Array<ArrayBuffer> | Blob,
  base?: number,
): Promise<FileVersion> =>
  change(client, addressOf(place, "files", path, { base_version: base }), { method: "PUT", body: content });

/** Add a version that deletes the file. `base` is as for `writeFile`. */
export const deleteFile = (client: ApiClient, place: BranchPlace, path: string, base?: number): Promise<FileVersion> =>
  change(client, addressOf(place, "files", path, { base_version: base }), { method: "DELETE" });

export const restoreFile = (
  client: ApiClient,
  place: BranchPlace,
  path: string,
  version: number,
): Promise<FileVersion> =>
  change(client, addressOf(place, "file-versions", path), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ version }),
  });

/** The files of the branch as a zip archive. */
export async function fetchArchive(client: ApiClient, place: BranchPlace): Promise<Blob> {
  const response = await client.request(addressOf(place, "files.zip"));
  if (!response.headers.get("content-type")?.startsWith("application/zip")) throw unreadable();
  return response.blob();
}

async function change(client: ApiClient, address: string, init: RequestInit): Promise<FileVersion> {
  const version = parseVersion(await readBody(await client.request(address, init)));
  if (!version.version) throw unreadable();
  return version;
}

function parseVersion(value: unknown): FileVersion {
  const version = fields(value);
  return {
    path: text(version.path),
    version: number(version.version) ?? 0,
    mediaType: text(version.media_type),
    size: number(version.size) ?? 0,
    author: version.author === "person" ? "person" : "model",
    created: time(version.created) ?? 0,
    nodeId: text(version.node_id),
    isDeleted: version.is_deleted === true,
  };
}
