// The response format: text, JSON, or JSON that matches a schema.
import { useId } from "react";
import { supportsFormat } from "../../logic/request/parameters.ts";
import { formatError, NO_FORMAT } from "../../logic/request/responseFormat.ts";
import type { Model, ResponseFormat } from "../../types/api.ts";
import { SelectField } from "./SelectField.tsx";

type Kind = ResponseFormat["kind"];

interface Props {
  value: ResponseFormat;
  onChange: (value: ResponseFormat) => void;
  model: Model | undefined;
}

const OPTIONS: readonly { value: Kind; label: string }[] = [
  { value: "", label: "Default" },
  { value: "text", label: "Text" },
  { value: "json", label: "JSON" },
  { value: "schema", label: "JSON schema" },
];

const HELP: Record<Kind, string> = {
  "": "The model decides.",
  text: "Normal text.",
  json: "A JSON object. Describe its content in your message or the system prompt.",
  schema: "A JSON object that matches the schema below.",
};

const NOT_TAKEN = "This model does not support response formats, so this setting is not used.";

export function FormatField({ value, onChange, model }: Props) {
  const canUse = supportsFormat(model);
  return (
    <div>
      <SelectField
        label="Response format"
        help={HELP[value.kind]}
        value={value.kind}
        options={OPTIONS}
        onChange={(kind) => onChange({ ...value, kind })}
        onReset={() => onChange(NO_FORMAT)}
        disabled={!canUse && value.kind === ""}
        notSent={canUse ? undefined : NOT_TAKEN}
      />
      {value.kind === "schema" && <SchemaField value={value} onChange={onChange} />}
    </div>
  );
}

function SchemaField({ value, onChange }: Pick<Props, "value" | "onChange">) {
  const id = useId();
  const error = formatError(value);
  const isWrong = error !== undefined && value.schema.trim() !== "";
  return (
    <div className="flex flex-col gap-1.5 pb-1.5">
      <textarea
        dir="ltr"
        aria-label="JSON schema"
        aria-invalid={isWrong}
        aria-describedby={`${id}-error`}
        rows={5}
        maxLength={50_000}
        spellCheck={false}
        placeholder={'{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}'}
        value={value.schema}
        onChange={(event) => onChange({ ...value, schema: event.target.value })}
        className="max-h-80 min-h-24 w-full resize-none rounded-md border border-edge bg-ground px-3 py-2 font-mono text-tiny [field-sizing:content] placeholder:text-dim aria-invalid:border-red-edge"
      />
      <p id={`${id}-error`} role="status" className={`text-tiny ${isWrong ? "text-red-ink" : "text-dim"}`}>
        {error}
      </p>
    </div>
  );
}
