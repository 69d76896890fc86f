// The files that the panel shows, from the server and from the running answer.
import type { ApiClient } from "@signalbox/client/requests";
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { fileWrites } from "../logic/files/fileWrites.ts";
import { shownFiles } from "../logic/files/shownFiles.ts";
import type { Answer } from "../state/answer/answer.ts";
import type { Chat } from "../state/chat/chat.ts";
import { idOf } from "../state/chat/chatParts.ts";
import { viewedAnswersOf, viewedPart } from "../state/chat/viewedAnswers.ts";
import { BranchFiles, type BranchFilesState } from "../state/files/branchFiles.ts";
import { useStore } from "../state/store.ts";
import type { ShownFile } from "../types/files.ts";
import type { RunTrace } from "../types/models.ts";

export interface Workspace {
  branch: BranchFiles;
  stored: BranchFilesState;
  files: readonly ShownFile[];
  /** The model is writing a file. */
  isWriting: boolean;
}

/** The page shows each change at most this often. */
const SHOWN_MS = 100;

/** The files at the end of the shown branch. Of several variants, those of the viewed one. */
export function useWorkspace(client: ApiClient, chat: Chat): Workspace {
  const { entries } = useStore(chat);
  const { slots } = useStore(viewedAnswersOf(chat));
  const last = entries.at(-1);
  const shown = last?.kind === "answer" ? viewedPart(last, slots) : undefined;
  const parts = [...entries.slice(0, shown ? -1 : undefined).map(({ part }) => part), ...(shown ? [shown] : [])];
  const nodeId = parts.map(idOf).findLast((id) => id !== undefined);
  return useBranchFiles(client, chat, shown?.answer, nodeId);
}

/** The files of a branch that ends with an answer, as its run writes them. */
export function useBranchFiles(
  client: ApiClient,
  chat: Chat,
  answer: Answer | undefined,
  nodeId: string | undefined,
): Workspace {
  const [branch] = useState(() => new BranchFiles(client, chat.id));
  useEffect(() => answer && chat.show(answer), [chat, answer]);
  const trace = useThrottled(useTrace(answer));
  const writes = useMemo(() => (trace ? fileWrites(trace) : []), [trace]);
  const written = writes.filter(({ version }) => version !== undefined).length;
  const isOver = trace?.end !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list changes when a call has written, and with the end.
  useEffect(() => {
    if (nodeId !== undefined) void branch.load(nodeId);
  }, [branch, nodeId, written, isOver]);
  const stored = useStore(branch);
  // When the run is over, everything is stored.
  const files = useMemo(() => shownFiles(stored.files, isOver ? [] : writes), [stored, writes, isOver]);
  return { branch, stored, files, isWriting: files.some(({ isGrowing }) => isGrowing) };
}

/** The trace of an answer, if there is one. */
function useTrace(answer: Answer | undefined): RunTrace | undefined {
  const subscribe = useCallback((onChange: () => void) => answer?.subscribe(onChange) ?? (() => undefined), [answer]);
  const trace = () => answer?.snapshot().trace;
  return useSyncExternalStore(subscribe, trace, trace);
}

function useThrottled<Value>(value: Value): Value {
  const [shown, setShown] = useState(value);
  const [changedAt, setChangedAt] = useState(0);
  useEffect(() => {
    if (value === shown) return;
    const show = () => {
      setShown(value);
      setChangedAt(performance.now());
    };
    const timer = setTimeout(show, Math.max(0, changedAt + SHOWN_MS - performance.now()));
    return () => clearTimeout(timer);
  }, [value, shown, changedAt]);
  return shown;
}
