// The preview frame in a component, and what it reports.
import { useCallback, useEffect, useRef, useState } from "react";
import { kindOf } from "../../logic/files/shownFiles.ts";
import { FrameStage } from "../../state/files/frameStage.ts";
import type { ShownFile } from "../../types/files.ts";
import type { FrameFile, LogLevel } from "../../types/previewFrame.ts";

export interface LogLine {
  id: number;
  level: LogLevel;
  text: string;
}

export interface Stage {
  /** Attach it to the box that shows the frame. */
  ref: (box: HTMLElement | null) => void;
  isHung: boolean;
  isEmpty: boolean;
  lines: readonly LogLine[];
  /** A link to another website that waits for the reader's consent. */
  link: string | undefined;
  dropLink: () => void;
  reload: () => void;
  print: () => void;
}

const MOST_LINES = 200;
let logged = 0;

export function useStage(
  files: readonly ShownFile[],
  entry: string | undefined,
  onOpen: (path: string) => void,
): Stage {
  const [stage, setStage] = useState<FrameStage>();
  const [isHung, setHung] = useState(false);
  const [isEmpty, setEmpty] = useState(true);
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  const [link, setLink] = useState<string>();
  const open = useRef(onOpen);
  useEffect(() => {
    open.current = onOpen;
  });
  const ref = useCallback((box: HTMLElement | null) => {
    if (!box) return;
    const made = new FrameStage(box, {
      onHung: setHung,
      onEmpty: setEmpty,
      onOpen: (path) => open.current(path),
      // One question at a time: the page in the frame could ask without end.
      onLink: (url) => setLink((waiting) => waiting ?? url),
      onLog: (level, text) => {
        logged += 1;
        const line = { id: logged, level, text };
        setLines((before) => [...before.slice(1 - MOST_LINES), line]);
      },
      onFresh: () => setLines([]),
    });
    setStage(made);
    return () => {
      made.end();
      setStage(undefined);
    };
  }, []);
  useEffect(() => {
    if (stage && entry !== undefined && kindOf(entry) === "page") showFiles(stage, files, entry);
  }, [stage, files, entry]);
  return {
    ref,
    isHung,
    isEmpty,
    lines,
    link,
    dropLink: () => setLink(undefined),
    reload: () => stage?.reload(),
    print: () => stage?.print(),
  };
}

/** A page is shown once all of its files are loaded. */
function showFiles(stage: FrameStage, files: readonly ShownFile[], entry: string): void {
  const isDraft = files.some(({ isGrowing }) => isGrowing);
  const loaded = files.flatMap(({ path, content }): [string, FrameFile][] =>
    content === undefined ? [] : [[path, content]],
  );
  const map = new Map(loaded);
  if (map.has(entry) && (isDraft || loaded.length === files.length)) stage.show({ files: map, entry, isDraft });
}
