// Whether the shown branch has files, and whether the panel with them is open.
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { makesImages, writesFiles } from "../logic/files/writesFiles.ts";
import type { Answer } from "../state/answer/answer.ts";
import type { Chat } from "../state/chat/chat.ts";
import type { Entry } from "../state/chat/chatParts.ts";
import { viewedAnswersOf } from "../state/chat/viewedAnswers.ts";
import type { Settings } from "../state/settings.ts";
import { useStore } from "../state/store.ts";
import type { RunTrace } from "../types/models.ts";
import { useMediaQuery, WIDE } from "./mediaQuery.ts";

export interface FilesPanelState {
  hasFiles: boolean;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
}

/** A trace is immutable. Only that of a running answer changes. */
const known = new WeakMap<RunTrace, boolean>();

/** Whether a run has made files, or is writing one. */
export function hasFiles(trace: RunTrace): boolean {
  const has =
    known.get(trace) ??
    (isWriting(trace) ||
      trace.items.some((item) => item.kind === "call" && (writesFiles(item.name) || makesImages(item.name))));
  known.set(trace, has);
  return has;
}

const isWriting = ({ previews = [] }: RunTrace): boolean => previews.some(({ name }) => writesFiles(name));

/** The panel opens when the first file of a chat is being written, unless the reader has closed it before. */
export function useFilesPanel(settings: Settings, chat: Chat): FilesPanelState {
  const { entries } = useStore(chat);
  const isWide = useMediaQuery(WIDE);
  const [isOpen, show] = useState(false);
  const subscribe = useCallback(
    (onChange: () => void) => {
      const stops = answersIn(entries).map((answer) => answer.subscribe(onChange));
      return () => {
        for (const stop of stops) stop();
      };
    },
    [entries],
  );
  const someTrace = (is: (trace: RunTrace) => boolean) => () =>
    answersIn(entries).some((answer) => is(answer.snapshot().trace));
  const has = useSyncExternalStore(subscribe, someTrace(hasFiles));
  const writes = useSyncExternalStore(subscribe, someTrace(isWriting));
  useEffect(() => {
    if (writes && isWide && settings.state.filesPanel) show(true);
  }, [writes, isWide, settings]);
  const setOpen = useCallback(
    (open: boolean) => {
      settings.change({ filesPanel: open });
      show(open);
    },
    [settings],
  );
  const { opened } = useStore(viewedAnswersOf(chat));
  const handled = useRef(opened);
  useEffect(() => {
    if (opened !== handled.current) setOpen(true);
    handled.current = opened;
  }, [opened, setOpen]);
  return { hasFiles: has, isOpen, setOpen };
}

/** The answers of the branch, with all variants. */
const answersIn = (entries: readonly Entry[]): readonly Answer[] =>
  entries.flatMap((entry) =>
    entry.kind === "answer" ? [...new Set([entry.part, ...entry.beside])].map(({ answer }) => answer) : [],
  );
