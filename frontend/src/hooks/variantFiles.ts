// Whether one of several answers writes files.
import { useCallback, useSyncExternalStore } from "react";
import type { AnswerPart } from "../state/chat/chatParts.ts";
import { hasFiles } from "./filesPanel.ts";

export function useWritesFiles(parts: readonly AnswerPart[]): boolean {
  const subscribe = useCallback(
    (onChange: () => void) => {
      const stops = parts.map(({ answer }) => answer.subscribe(onChange));
      return () => {
        for (const stop of stops) stop();
      };
    },
    [parts],
  );
  const writes = () => parts.some(({ answer }) => hasFiles(answer.snapshot().trace));
  return useSyncExternalStore(subscribe, writes, writes);
}
