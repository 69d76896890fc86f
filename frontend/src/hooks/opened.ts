// One run by its address: followed read-only, or read from the copy that somebody has kept.
import { useEffect, useState } from "react";
import { fetchSave, type Save } from "../stream/saves.ts";
import { Answer } from "./answer.ts";
import type { Session } from "./session.ts";

export interface Opened {
  answer: Answer | undefined;
  save: Save | undefined;
  trouble: string | undefined;
}

/** Follow the run to its end, also another's, where this tab has the operator's token; leaving leaves the run alone. */
export function useRun(session: Session, runId: string): Answer {
  const [answer] = useState(() =>
    Answer.named({ client: session.reader, onUnauthorized: () => session.askForToken() }, runId),
  );
  useEffect(() => {
    void answer.load();
    return () => answer.leave();
  }, [answer]);
  return answer;
}

export function useSave(session: Session, saveId: string): Opened {
  const [opened, setOpened] = useState<Opened>({ answer: undefined, save: undefined, trouble: undefined });
  useEffect(() => {
    let left: Answer | undefined;
    let gone = false;
    const open = async () => {
      const save = await fetchSave(session.client, saveId);
      if (gone) return;
      left = Answer.kept({ client: session.client }, saveId, save);
      setOpened({ answer: left, save, trouble: undefined });
      await left.load();
    };
    open().catch((error: unknown) => {
      const trouble = error instanceof Error ? error.message : String(error);
      if (!gone) setOpened({ answer: undefined, save: undefined, trouble });
    });
    return () => {
      gone = true;
      left?.leave();
    };
  }, [session, saveId]);
  return opened;
}
