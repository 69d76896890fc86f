// The filter of the runs. All its fields are in the page's address.
import { statusText } from "../../../logic/pages/operator.ts";
import { type FilterField, isFiltered, type RunFilter, withField } from "../../../logic/pages/runFilter.ts";
import { protocolLabel } from "../../../logic/wording/protocolLabel.ts";
import type { FilterTrouble } from "../../../state/operator/operator.ts";
import type { RunLine } from "../../../types/models.ts";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../Field.tsx";
import { SelectField } from "../SelectField.tsx";
import { OwnerField } from "./OwnerField.tsx";
import { PeriodFields } from "./PeriodFields.tsx";

interface Props {
  filter: RunFilter;
  /** The shown runs, whose values are suggested. */
  runs: readonly RunLine[];
  isOperator: boolean;
  /** Why the server does not accept the filter. */
  trouble: FilterTrouble | undefined;
  onChange: (filter: RunFilter) => void;
}

const STATUSES = ["running", "complete", "error", "cancelled", "interrupted", "length", "content_filter"] as const;
const PROTOCOLS = ["v1.1", "chat-completions", "ai-sdk", "assistant-ui", "assistant-transport", "ag-ui"] as const;

const CHOICES = [
  {
    field: "status",
    label: "Status",
    options: [
      ["", "All statuses"],
      ...STATUSES.map((status) => [status, statusText({ status, code: undefined })] as const),
    ],
  },
  {
    field: "loop",
    label: "Loop",
    options: [
      ["", "Both loops"],
      ["v2", "V2"],
      ["legacy", "Legacy"],
    ],
  },
  {
    field: "protocol",
    label: "Protocol",
    options: [["", "All protocols"], ...PROTOCOLS.map((one) => [one, protocolLabel(one)] as const)],
  },
] as const;

const TEXTS = [
  { field: "model", label: "Model", placeholder: "maker/model" },
  { field: "code", label: "Code", placeholder: "UPSTREAM_TIMEOUT" },
  { field: "tool", label: "Tool", placeholder: "search_web" },
  { field: "q", label: "Text in your conversations", placeholder: "" },
] as const;

export function RunFilters({ filter, runs, isOperator, trouble, onChange }: Props) {
  const set = (field: FilterField, value: string | undefined) => onChange(withField(filter, field, value));
  const atField = TEXTS.find(({ field }) => field === trouble?.field)?.field;
  const reason = trouble && (
    <span role="alert" className="text-red-ink">
      {trouble.sentence}
    </span>
  );
  return (
    <search className="grid grid-cols-4 gap-3 rounded-md border border-edge p-4 narrow:grid-cols-2 narrow:p-3">
      {CHOICES.map(({ field, ...rest }) => (
        <SelectField key={field} {...rest} value={filter[field] ?? ""} onChange={(value) => set(field, value)} />
      ))}
      <PeriodFields filter={filter} onChange={onChange} />
      {TEXTS.map(({ field, ...rest }) => (
        <Field
          key={field}
          {...rest}
          suggestions={valuesOf(runs, field)}
          value={filter[field] ?? ""}
          onChange={(event) => set(field, event.target.value)}
          {...(atField === field && { hint: reason, "aria-invalid": true })}
        />
      ))}
      {isOperator && <OwnerField owner={filter.owner} onChange={(owner) => set("owner", owner)} />}
      {isFiltered(filter) && (
        <Button look="outline" size="medium" className="self-end justify-self-start" onClick={() => onChange({})}>
          Clear filters
        </Button>
      )}
      {!atField && reason && <p className="col-span-full text-small">{reason}</p>}
    </search>
  );
}

function valuesOf(runs: readonly RunLine[], field: FilterField): readonly string[] {
  if (field !== "model" && field !== "code") return [];
  return [...new Set(runs.flatMap((run) => run[field] ?? []))].toSorted();
}
