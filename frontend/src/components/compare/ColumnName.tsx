// The head of a column: its lamp, the model, its maker, and the provider once it is known.
import { useStored } from "../../state/store.ts";
import { Lamp } from "../ui/Lamp.tsx";
import { type Column, lampOf, providerOf } from "./columns.ts";

interface Props extends Column {
  /** The maker is below the model, to save width. */
  stacked?: boolean;
}

export function ColumnName({ part: { answer }, label: { name, maker }, stacked = false }: Props) {
  const lamp = useStored(answer, lampOf);
  const provider = useStored(answer, providerOf);
  const via = provider && provider !== maker ? `via ${provider}` : "";
  return (
    <>
      <Lamp lamp={lamp} spoken />
      <span data-stacked={stacked} className="group/name min-w-0 truncate text-start">
        <span className="font-semibold text-ink group-data-[stacked=true]/name:block group-data-[stacked=true]/name:truncate">
          {name}
        </span>
        <span className="text-dim group-data-[stacked=true]/name:text-tiny">
          {maker && !stacked && " · "}
          {[maker, via].filter(Boolean).join(" ")}
        </span>
      </span>
    </>
  );
}
