// The section "Tokens": API tokens, and the groups whose limits they share.
import { useEffect, useState } from "react";
import { Tokens } from "../../../state/operator/tokens.ts";
import { useStore } from "../../../state/store.ts";
import type { ApiToken, Group } from "../../../types/operator.ts";
import { PageAlert } from "../../pages/PageFrame.tsx";
import { Button } from "../../ui/Button.tsx";
import { ConfirmDialog } from "../ConfirmDialog.tsx";
import { LoadingNote } from "../PlainTable.tsx";
import { RotateDialog } from "../RotateDialog.tsx";
import { SecretDialog } from "../SecretDialog.tsx";
import { GroupForm } from "./GroupForm.tsx";
import { GroupTable } from "./GroupTable.tsx";
import { TokenForm } from "./TokenForm.tsx";
import { TokenTable } from "./TokenTable.tsx";

/** What the user is changing. `undefined` as value: something new. */
export type Opened =
  | { what: "token"; token: ApiToken | undefined }
  | { what: "rotate" | "revoke"; token: ApiToken }
  | { what: "group"; group: Group | undefined }
  | { what: "delete"; group: Group };

const GRACE = [
  [0, "Reject it at once"],
  [3600, "Accept it for 1 hour"],
  [86_400, "Accept it for 1 day"],
  [604_800, "Accept it for 7 days"],
] as const;

export function TokensSection() {
  const [tokens] = useState(() => new Tokens());
  const { tokens: listed, groups, trouble, secret } = useStore(tokens);
  const [opened, setOpened] = useState<Opened>();
  useEffect(() => void tokens.load(), [tokens]);

  const open = (what: Opened) => {
    tokens.forgetRefusal();
    setOpened(what);
  };
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      {trouble && <PageAlert>{trouble} Reload the page to try again.</PageAlert>}
      <section aria-labelledby="tokens-title" className="grid gap-3">
        <header className="flex items-center gap-2">
          <h2 id="tokens-title" className="me-auto font-semibold text-title">
            API tokens
          </h2>
          <Button look="primary" size="medium" onClick={() => open({ what: "token", token: undefined })}>
            Create token
          </Button>
        </header>
        {!listed && !trouble && <LoadingNote />}
        {listed && <TokenTable tokens={listed} onOpen={open} />}
      </section>
      <section aria-labelledby="groups-title" className="grid gap-3">
        <header className="flex items-center gap-2">
          <h2 id="groups-title" className="me-auto font-semibold text-title">
            Groups
          </h2>
          <Button look="outline" size="medium" onClick={() => open({ what: "group", group: undefined })}>
            Create group
          </Button>
        </header>
        {listed && <GroupTable groups={groups} tokens={listed} onOpen={open} />}
      </section>
      {opened && <OpenedDialog tokens={tokens} opened={opened} onClose={() => setOpened(undefined)} />}
      {secret && (
        <SecretDialog
          title={`The token of ${secret.name}`}
          description="Copy it now. It cannot be shown again. If it is lost, rotate the token."
          text={secret.text}
          copy="Copy token"
          onClose={() => tokens.forgetSecret()}
        />
      )}
    </div>
  );
}

function OpenedDialog({ tokens, opened, onClose }: { tokens: Tokens; opened: Opened; onClose: () => void }) {
  const { groups, refusal, isSaving } = useStore(tokens);
  /** Close the dialog if the server has made the change. */
  const done = (change: Promise<boolean>) => void change.then((made) => made && onClose());
  const form = { refusal, isSaving, onClose };
  switch (opened.what) {
    case "token": {
      const { token } = opened;
      const save = (fields: object) =>
        done(token ? tokens.change(token.id, { ...fields }) : tokens.create({ ...fields }));
      return <TokenForm {...form} token={token} groups={groups} onSave={save} />;
    }
    case "group":
      return (
        <GroupForm
          {...form}
          group={opened.group}
          taken={groups.map(({ name }) => name)}
          onSave={(name, fields) => done(tokens.putGroup(name, fields))}
        />
      );
    case "rotate":
      return (
        <RotateDialog
          {...form}
          title={`Rotate ${opened.token.name}?`}
          description="The token gets a new text. Its conversations, limits and costs stay."
          label="The former text"
          choices={GRACE}
          onRotate={(grace) => done(tokens.rotate(opened.token.id, grace))}
        />
      );
    case "revoke":
      return (
        <ConfirmDialog
          {...form}
          title={`Revoke ${opened.token.name}?`}
          action="Revoke"
          onConfirm={() => done(tokens.revoke(opened.token.id))}
        >
          The server rejects this token within a second. Conversations and runs stay. This cannot be undone.
        </ConfirmDialog>
      );
    case "delete":
      return (
        <ConfirmDialog
          {...form}
          title={`Delete ${opened.group.name}?`}
          action="Delete"
          onConfirm={() => done(tokens.deleteGroup(opened.group.name))}
        >
          Its limits no longer apply. A group with valid tokens cannot be deleted.
        </ConfirmDialog>
      );
  }
}
