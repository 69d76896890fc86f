// The time of the runs: a period that ends now, or a beginning and an end.
import { PERIODS, type RunFilter, withField } from "../../../logic/pages/runFilter.ts";
import { Field } from "../Field.tsx";
import { SelectField } from "../SelectField.tsx";

interface Props {
  filter: RunFilter;
  onChange: (filter: RunFilter) => void;
}

const CUSTOM = "custom";

export function PeriodFields({ filter, onChange }: Props) {
  const isCustom = filter.since !== undefined || filter.until !== undefined;
  const choose = (value: string) => {
    const { since: _, until: __, period: ___, ...others } = filter;
    onChange(value === CUSTOM ? { ...others, since: startOfToday() } : withField(others, "period", value));
  };
  return (
    <>
      <SelectField
        label="Started"
        value={isCustom ? CUSTOM : (filter.period ?? "")}
        options={[
          ["", "At any time"],
          ...PERIODS.map(({ value, words }) => [value, words] as const),
          [CUSTOM, "From … to …"],
        ]}
        onChange={choose}
      />
      {isCustom &&
        (["since", "until"] as const).map((field) => (
          <Field
            key={field}
            label={field === "since" ? "From" : "To"}
            type="datetime-local"
            value={filter[field] ?? ""}
            onChange={(event) => onChange(withField(filter, field, event.target.value))}
          />
        ))}
    </>
  );
}

/** In local time, as the field has it. */
function startOfToday(): string {
  const now = new Date();
  const two = (n: number) => String(n).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}T00:00`;
}
