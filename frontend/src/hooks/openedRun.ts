// One run by its address: followed read-only, or read from a saved copy.

import { fetchRun, fetchSave, type Save, type SavedRun } from "@signalbox/client/requests";
import { useEffect, useState } from "react";
import { Answer } from "../state/answer/answer.ts";
import type { AnswerDeps } from "../state/answer/answerState.ts";
import type { Session } from "../state/server/session.ts";

export interface Opened {
  answer: Answer | undefined;
  save: Save | undefined;
  trouble: string | undefined;
}

/**
 * Follow the run to its end. With the operator token, this can be another user's run. Unmounting does not stop the run.
 */
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

/** The run that this one continues. Undefined if unknown or none. */
export function useContinued(session: Session, runId: string): string | undefined {
  const [continued, setContinued] = useState<string>();
  useEffect(() => {
    const abort = new AbortController();
    fetchRun(session.reader, runId, { signal: abort.signal }).then(
      (record) => setContinued(record.continues),
      // The run's own request shows this error.
      () => undefined,
    );
    return () => abort.abort();
  }, [session, runId]);
  return continued;
}

/** Build the chain of a saved run and the earlier runs that it continues. */
function savedAnswer(deps: AnswerDeps, { id, runId, model, earlier }: Save): Answer {
  const frozen = (continues: Answer | undefined, { runId, record, events }: SavedRun): Answer =>
    Answer.frozen(deps, { runId, model: record.model, continues }, events);
  return Answer.saved(deps, id, { runId, model, continues: earlier.reduce<Answer | undefined>(frozen, undefined) });
}

export function useSave(session: Session, saveId: string): Opened {
  const [opened, setOpened] = useState<Opened>({ answer: undefined, save: undefined, trouble: undefined });
  useEffect(() => {
    let left: Answer | undefined;
    let gone = false;
    const open = async () => {
      const save = await fetchSave(session.client, saveId);
      if (gone) return;
      left = savedAnswer({ client: session.client }, save);
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
