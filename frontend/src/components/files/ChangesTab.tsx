// The versions of a file, what each has changed, and a button that restores it.
import { useEffect, useMemo, useState } from "react";
import { countsOf, diffLines, hunksOf } from "../../logic/files/lineDiff.ts";
import type { BranchFiles } from "../../state/files/branchFiles.ts";
import { fetchFileVersions, fileTrouble, restoreFile } from "../../state/files/fileRequests.ts";
import type { FileVersion } from "../../types/files.ts";
import { Button } from "../ui/Button.tsx";
import { Diff } from "./Diff.tsx";

interface Props {
  branch: BranchFiles;
  path: string;
  /** The newest version: the list is loaded again when it changes. */
  version: number;
}

export function ChangesTab({ branch, path, version }: Props) {
  const { versions, trouble } = useVersions(branch, path, version);
  const [chosen, choose] = useState<number>();
  const [notice, setNotice] = useState("");
  const [isRestoring, setRestoring] = useState(false);
  const shown = versions.find((one) => one.version === chosen) ?? versions[0];
  const restore = async (old: FileVersion) => {
    setRestoring(true);
    try {
      await restoreFile(branch.client, branch.place, old.path, old.version);
      await branch.load();
      choose(undefined);
      setNotice(`Version ${old.version} is restored.`);
    } catch (error) {
      setNotice(fileTrouble("The version was not restored.", error));
    } finally {
      setRestoring(false);
    }
  };
  if (!shown) return <p className="p-4 text-dim text-small">{trouble ?? "This file has no stored version yet."}</p>;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-edge border-b px-3 py-2">
        <select
          aria-label="Version"
          value={shown.version}
          onChange={({ target }) => choose(Number(target.value))}
          className="h-7 narrow:h-8 min-w-0 rounded-sm border border-edge bg-ground px-1.5 text-small"
        >
          {versions.map((one) => (
            <option key={one.version} value={one.version}>
              {labelOf(one)}
            </option>
          ))}
        </select>
        <span role="status" className="flex-1 text-dim text-tiny">
          {notice}
        </span>
        <Button
          look="outline"
          disabled={isRestoring || shown.version === versions[0]?.version || shown.isDeleted}
          onClick={() => void restore(shown)}
        >
          Restore this version
        </Button>
      </div>
      <VersionDiff branch={branch} now={shown} old={versions.find((one) => one.version === shown.version - 1)} />
    </div>
  );
}

const clock = (ms: number): string => new Date(ms).toLocaleTimeString(undefined, { timeStyle: "short" });

const labelOf = ({ version, author, created, isDeleted }: FileVersion): string =>
  `Version ${version} · ${author === "person" ? "by you" : "by the model"} · ${clock(created)}${isDeleted ? " · deleted" : ""}`;

function useVersions(branch: BranchFiles, path: string, version: number) {
  // Two variants can have the same path and version.
  const { nodeId } = branch.place;
  const [state, setState] = useState<{ versions: readonly FileVersion[]; trouble?: string }>({ versions: [] });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the place is that of this node.
  useEffect(() => {
    if (version === 0) return;
    let isCurrent = true;
    fetchFileVersions(branch.client, branch.place, path).then(
      (versions) => isCurrent && setState({ versions }),
      (error: unknown) =>
        isCurrent && setState({ versions: [], trouble: fileTrouble("The versions could not be loaded.", error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [branch, nodeId, path, version]);
  return { trouble: undefined, ...state };
}

function VersionDiff({ branch, now, old }: { branch: BranchFiles; now: FileVersion; old: FileVersion | undefined }) {
  const after = useContent(branch, now);
  const before = useContent(branch, old);
  const lines = useMemo(
    () => (typeof after === "string" && typeof before === "string" ? diffLines(before, after) : undefined),
    [before, after],
  );
  const failed = [after, before].find((content) => content instanceof Error);
  if (failed)
    return (
      <p role="alert" className="p-4 text-dim text-small">
        {fileTrouble("The changes could not be loaded.", failed)}
      </p>
    );
  if (after instanceof Blob || before instanceof Blob)
    return <p className="p-4 text-dim text-small">Images have no differences by lines.</p>;
  if (!lines) return <p className="p-4 text-dim text-small">Loading…</p>;
  return <Diff hunks={hunksOf(lines)} counts={countsOf(lines)} />;
}

type Content = string | Blob | Error;

/** The content of a version, or why it could not be loaded. Undefined while it loads. Without a version, it is empty. */
function useContent(branch: BranchFiles, version: FileVersion | undefined): Content | undefined {
  const [loaded, setLoaded] = useState<{ version: FileVersion; content: Content }>();
  useEffect(() => {
    let isCurrent = true;
    if (version)
      void branch.contentOf(version).then(
        (content) => isCurrent && setLoaded({ version, content }),
        (error: Error) => isCurrent && setLoaded({ version, content: error }),
      );
    return () => {
      isCurrent = false;
    };
  }, [branch, version]);
  if (!version) return "";
  return loaded?.version === version ? loaded.content : undefined;
}
