// The limits of a token or a group as fields of a form.
import { type FormTexts, limitFields } from "../../../logic/pages/tokens.ts";
import type { Limits } from "../../../types/operator.ts";
import { Field } from "../Field.tsx";

const FIELDS = [
  { name: "budget_day", label: "Budget per day (USD)", type: "number", min: 0, step: "any" },
  { name: "budget_month", label: "Budget per month (USD)", type: "number", min: 0, step: "any" },
  { name: "rate_limit", label: "Rate limit", placeholder: "60/minute; 1000/day", hint: "Questions per time." },
  { name: "max_runs", label: "Runs at once", type: "number", min: 1, step: 1 },
  {
    name: "models",
    label: "Allowed models",
    placeholder: "anthropic/*, openai/gpt-*",
    hint: "Ids or patterns, separated by commas.",
  },
  {
    name: "tools",
    label: "Allowed tools of the server",
    placeholder: "search_web, calculate",
    hint: "Names or patterns, separated by commas; none allows no tool.",
  },
] as const;

export function LimitFields({ limits }: { limits: Limits | undefined }) {
  const values: FormTexts = limits ? limitFields(limits) : {};
  return (
    <fieldset className="grid min-w-0 grid-cols-2 gap-3">
      <legend className="mb-2 font-medium text-small">Limits</legend>
      <p className="col-span-2 -mt-2 text-dim text-tiny">An empty field is no limit.</p>
      {FIELDS.map(({ name, ...rest }) => (
        <Field
          key={name}
          name={name}
          defaultValue={values[name]}
          className={name === "models" || name === "tools" ? "col-span-2" : ""}
          {...rest}
        />
      ))}
    </fieldset>
  );
}
