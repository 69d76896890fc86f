// The section "Sessions": the people who are signed in. The operator can end each session.
import { useEffect, useState } from "react";
import { endSession, sessionList } from "../../../state/operator/sessions.ts";
import { useStore } from "../../../state/store.ts";
import type { Session } from "../../../types/sessions.ts";
import { PageAlert } from "../../pages/PageFrame.tsx";
import { Button } from "../../ui/Button.tsx";
import { ConfirmDialog } from "../ConfirmDialog.tsx";
import { CELL, CellName, EmptyNote, LoadingNote, PlainTable, ROW } from "../PlainTable.tsx";

export function SessionsSection() {
  const [sessions, setSessions] = useState(sessionList);
  const { items, next, trouble, isFetchingOlder } = useStore(sessions);
  const [ending, setEnding] = useState<Session>();
  useEffect(() => sessions.start(), [sessions]);
  return (
    <section aria-labelledby="sessions-title" className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <h2 id="sessions-title" className="font-semibold text-title">
        Sessions
      </h2>
      <p className="max-w-measure text-dim text-small">
        People who are signed in. After the end of a session, the person has to sign in again.
      </p>
      {trouble && <PageAlert>{trouble} Retrying every 5 seconds.</PageAlert>}
      {!items && !trouble && <LoadingNote />}
      {items?.length === 0 && <EmptyNote>No active sessions. Without a sign-in service, there are none.</EmptyNote>}
      {items && items.length > 0 && <Table sessions={items} onEnd={setEnding} />}
      {next !== undefined && (
        <Button
          look="outline"
          size="medium"
          className="justify-self-end"
          disabled={isFetchingOlder}
          onClick={() => void sessions.loadOlder()}
        >
          {isFetchingOlder ? "Loading…" : "Load older sessions"}
        </Button>
      )}
      {ending && (
        <EndDialog
          session={ending}
          onClose={() => setEnding(undefined)}
          // A refresh keeps the older pages, so the ended session could stay.
          onEnded={() => setSessions(sessionList())}
        />
      )}
    </section>
  );
}

function Table({ sessions, onEnd }: { sessions: readonly Session[]; onEnd: (session: Session) => void }) {
  return (
    <PlainTable label="Sessions" heads={["Person", "Role", "Signed in", "Last used", "Ends", "Actions"]}>
      {sessions.map((session) => (
        <Row key={session.id} session={session} onEnd={() => onEnd(session)} />
      ))}
    </PlainTable>
  );
}

function Row({ session, onEnd }: { session: Session; onEnd: () => void }) {
  const { name, owner, isOperator, created, used, ends, isCurrent } = session;
  const times = [
    ["Signed in", created],
    ["Last used", used],
    ["Ends", ends],
  ] as const;
  return (
    <tr data-part="session" className={ROW}>
      <th scope="row" className={`${CELL} text-start font-medium wrap-anywhere`}>
        {name || owner}
        {isCurrent && <span className="ms-2 font-normal text-dim text-tiny">this session</span>}
        {name && <code className="block font-normal text-dim text-tiny">{owner}</code>}
      </th>
      <td className={CELL}>{isOperator ? "Operator" : "User"}</td>
      {times.map(([what, ms]) => (
        <td key={what} className={CELL}>
          <CellName>{what}:</CellName>
          <time dateTime={new Date(ms).toISOString()}>{new Date(ms).toLocaleString()}</time>
        </td>
      ))}
      <td className={`${CELL} w-px`}>
        <span className="flex justify-end narrow:justify-start">
          <Button look="outline" aria-label={`End the session of ${name || owner}`} onClick={onEnd}>
            End
          </Button>
        </span>
      </td>
    </tr>
  );
}

interface EndProps {
  session: Session;
  onClose: () => void;
  onEnded: () => void;
}

function EndDialog({ session, onClose, onEnded }: EndProps) {
  const [refusal, setRefusal] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  const end = async () => {
    setSaving(true);
    try {
      await endSession(session.id);
    } catch (error) {
      setSaving(false);
      setRefusal(error instanceof Error ? error.message : String(error));
      return;
    }
    onClose();
    onEnded();
  };
  return (
    <ConfirmDialog
      title={`End the session of ${session.name || session.owner}?`}
      action="End"
      refusal={refusal}
      isSaving={isSaving}
      onClose={onClose}
      onConfirm={() => void end()}
    >
      {session.isCurrent
        ? "This page uses this session. You have to sign in again."
        : "The person has to sign in again within a second. Conversations and runs stay."}
    </ConfirmDialog>
  );
}
