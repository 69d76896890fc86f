// The owner of the runs, by the names of the API tokens.
import { useEffect, useState } from "react";
import { fetchTokens } from "../../../state/operator/tokenRequests.ts";
import type { ApiToken } from "../../../types/operator.ts";
import { SelectField } from "../SelectField.tsx";

interface Props {
  /** Undefined for all owners, empty for runs without an API token. */
  owner: string | undefined;
  onChange: (owner: string | undefined) => void;
}

const ALL = "*";

export function OwnerField({ owner, onChange }: Props) {
  const [tokens, setTokens] = useState<readonly ApiToken[]>([]);
  useEffect(() => {
    // Without the names, the owners of the address remain. The list of runs shows why the server does not respond.
    fetchTokens().then(setTokens, () => undefined);
  }, []);
  const names = tokens.map(({ id, name }) => [id, name] as const);
  const isListed = owner === undefined || owner === "" || tokens.some(({ id }) => id === owner);
  return (
    <SelectField
      label="API token"
      value={owner ?? ALL}
      options={[[ALL, "All"], ["", "None"], ...names, ...(isListed ? [] : [[owner, owner] as const])]}
      onChange={(value) => onChange(value === ALL ? undefined : value)}
    />
  );
}
