// All API tokens, the newest first.
import { dateOf, limitTexts, tokenStatus } from "../../../logic/pages/tokens.ts";
import type { ApiToken } from "../../../types/operator.ts";
import { Button } from "../../ui/Button.tsx";
import { Lamp } from "../../ui/Lamp.tsx";
import { CELL, CellName, EmptyNote, PlainTable, ROW } from "../PlainTable.tsx";
import type { Opened } from "./TokensSection.tsx";

interface Props {
  tokens: readonly ApiToken[];
  onOpen: (opened: Opened) => void;
}

export function TokenTable({ tokens, onOpen }: Props) {
  if (tokens.length === 0) {
    return <EmptyNote>No API tokens yet. Create one for each person or program that uses this server.</EmptyNote>;
  }
  return (
    <PlainTable label="API tokens" heads={["Name", "Status", "Group", "Limits", "Created", "Actions"]}>
      {tokens.toReversed().map((token) => (
        <Row key={token.id} token={token} onOpen={onOpen} />
      ))}
    </PlainTable>
  );
}

function Row({ token, onOpen }: { token: ApiToken; onOpen: Props["onOpen"] }) {
  const { lamp, words } = tokenStatus(token, Date.now());
  const isRevoked = token.revoked !== undefined;
  return (
    <tr data-part="token" className={`${ROW} ${isRevoked ? "text-dim" : ""}`}>
      <td className={`${CELL} wrap-anywhere`}>
        <span className="font-medium">{token.name}</span>
        <br />
        <code className="text-dim text-tiny">{token.id}</code>
      </td>
      <td className={CELL}>
        <span className="flex items-center gap-2">
          <Lamp lamp={lamp} /> {words}
        </span>
        {!isRevoked && token.formerUntil !== undefined && token.formerUntil > Date.now() && (
          <span className="text-dim text-tiny">
            Former text accepted until {new Date(token.formerUntil).toLocaleString()}
          </span>
        )}
      </td>
      <td className={`${CELL} wrap-anywhere`}>
        <CellName>Group:</CellName>
        {token.group ?? <span className="text-dim">none</span>}
      </td>
      <td className={`${CELL} wrap-anywhere`}>
        <CellName>Limits:</CellName>
        {limitTexts(token).join(" · ") || <span className="text-dim">none</span>}
      </td>
      <td className={`${CELL} whitespace-nowrap text-dim`}>
        <CellName>Created</CellName>
        {dateOf(token.created)}
        <br />
        <span className="text-tiny">{token.lastUsed ? `Last used ${dateOf(token.lastUsed)}` : "Not used yet"}</span>
      </td>
      <td className={`${CELL} w-px`}>
        {!isRevoked && (
          <span className="flex justify-end gap-1 narrow:justify-start">
            <Button look="outline" onClick={() => onOpen({ what: "token", token })} aria-label={`Change ${token.name}`}>
              Change
            </Button>
            <Button
              look="outline"
              onClick={() => onOpen({ what: "rotate", token })}
              aria-label={`Rotate ${token.name}`}
            >
              Rotate
            </Button>
            <Button
              look="outline"
              onClick={() => onOpen({ what: "revoke", token })}
              aria-label={`Revoke ${token.name}`}
            >
              Revoke
            </Button>
          </span>
        )}
      </td>
    </tr>
  );
}
