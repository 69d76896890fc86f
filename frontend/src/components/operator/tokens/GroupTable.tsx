// All groups by name, with the number of their tokens.
import { dateOf, limitTexts } from "../../../logic/pages/tokens.ts";
import { plural } from "../../../logic/wording/statusAndAmounts.ts";
import type { ApiToken, Group } from "../../../types/operator.ts";
import { Button } from "../../ui/Button.tsx";
import { CELL, CellName, EmptyNote, PlainTable, ROW } from "../PlainTable.tsx";
import type { Opened } from "./TokensSection.tsx";

interface Props {
  groups: readonly Group[];
  tokens: readonly ApiToken[];
  onOpen: (opened: Opened) => void;
}

export function GroupTable({ groups, tokens, onOpen }: Props) {
  if (groups.length === 0) {
    return <EmptyNote>No groups yet. A group gives several tokens the same limits.</EmptyNote>;
  }
  const members = (name: string) =>
    tokens.filter(({ group, revoked }) => group === name && revoked === undefined).length;
  return (
    <PlainTable label="Groups" heads={["Name", "Tokens", "Limits", "Expires", "Actions"]}>
      {groups.map((group) => (
        <tr key={group.name} data-part="group" className={ROW}>
          <td className={`${CELL} font-medium wrap-anywhere`}>{group.name}</td>
          <td className={`${CELL} whitespace-nowrap`}>{plural(members(group.name), "token")}</td>
          <td className={`${CELL} wrap-anywhere`}>
            <CellName>Limits:</CellName>
            {limitTexts(group).join(" · ") || <span className="text-dim">none</span>}
          </td>
          <td className={`${CELL} whitespace-nowrap text-dim`}>
            <CellName>Expires:</CellName>
            {group.expires === undefined ? "never" : dateOf(group.expires)}
          </td>
          <td className={`${CELL} w-px`}>
            <span className="flex justify-end gap-1 narrow:justify-start">
              <Button
                look="outline"
                onClick={() => onOpen({ what: "group", group })}
                aria-label={`Change ${group.name}`}
              >
                Change
              </Button>
              <Button
                look="outline"
                onClick={() => onOpen({ what: "delete", group })}
                aria-label={`Delete ${group.name}`}
              >
                Delete
              </Button>
            </span>
          </td>
        </tr>
      ))}
    </PlainTable>
  );
}
