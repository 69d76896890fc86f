// Stops the answer of one column.

import { labelText } from "../../logic/models/modelLabels.ts";
import { useStored } from "../../state/store.ts";
import { Button } from "../ui/Button.tsx";
import type { Column } from "./columns.ts";

interface Props extends Column {
  onFocus?: () => void;
}

export function ColumnStop({ part: { answer }, label, onFocus }: Props) {
  const isOver = useStored(answer, ({ trace }) => trace.end !== undefined);
  const stopping = useStored(answer, (state) => state.stopping);
  if (isOver) return null;
  return (
    <Button
      look="outline"
      onFocus={onFocus}
      disabled={stopping}
      aria-label={`Stop ${labelText(label)}`}
      onClick={() => void answer.stop()}
    >
      {stopping ? "Stopping" : "Stop"}
    </Button>
  );
}
