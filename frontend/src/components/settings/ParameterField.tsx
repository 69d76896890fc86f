// One sampling parameter: slider, number field and reset button.
import { Slider } from "@base-ui/react/slider";
import { type RefObject, useId, useState } from "react";
import { clamped, correctionOf, type Range } from "../../logic/request/parameters.ts";
import type { ParameterName } from "../../types/api.ts";
import { Button } from "../ui/Button.tsx";

/** The setting that the panel opens at. */
export interface FocusedField {
  name: ParameterName;
  ref: RefObject<HTMLInputElement | null>;
}

interface Props {
  range: Range;
  /** Undefined if the parameter is not set, so it is not sent. */
  value: number | undefined;
  onChange: (value: number | undefined) => void;
  /** Given if the settings open at this field. Focusing it selects its value. */
  field?: RefObject<HTMLInputElement | null> | undefined;
}

export function ParameterField({ range, value, onChange, field }: Props) {
  const id = useId();
  // The typed text. "0." and "" are intermediate states of a number.
  const [draft, setDraft] = useState<string>();
  const [correction, setCorrection] = useState<string>();
  const type = (text: string) => {
    setDraft(text);
    setCorrection(undefined);
    const number = numberOf(text);
    if (number === undefined) onChange(undefined);
    else if (clamped(number, range) === number) onChange(number);
  };
  const leave = () => {
    const number = draft === undefined ? undefined : numberOf(draft);
    setDraft(undefined);
    if (number === undefined) return;
    onChange(clamped(number, range));
    setCorrection(correctionOf(number, range));
  };
  const set = (number: number | undefined) => {
    setDraft(undefined);
    setCorrection(undefined);
    onChange(number);
  };
  return (
    <div data-part="parameter" className="flex flex-col gap-1 py-1.5">
      <div className="flex min-h-7 items-center gap-2">
        <label htmlFor={id} className="min-w-0 flex-1 truncate text-small">
          {range.label}
        </label>
        {value !== undefined && (
          <Button className="text-tiny" aria-label={`Reset ${range.label}`} onClick={() => set(undefined)}>
            Reset
          </Button>
        )}
        <input
          id={id}
          ref={field}
          onFocus={field && (({ currentTarget }) => currentTarget.select())}
          inputMode="decimal"
          autoComplete="off"
          aria-describedby={`${id}-help`}
          placeholder="default"
          value={draft ?? value ?? ""}
          onChange={(event) => type(event.target.value)}
          onBlur={leave}
          onKeyDown={(event) => event.key === "Enter" && leave()}
          className="h-7 narrow:h-8 w-24 rounded-sm border border-edge bg-ground px-2 text-end text-small tabular-nums placeholder:text-dim"
        />
      </div>
      {range.slider !== undefined && <ParameterSlider range={range} max={range.slider} value={value} onChange={set} />}
      <p id={`${id}-help`} className="text-dim text-tiny">
        {range.help}
      </p>
      <p role="status" className="rounded-sm bg-amber-wash px-2 py-1 text-tiny empty:hidden">
        {correction}
      </p>
    </div>
  );
}

interface SliderProps {
  range: Range;
  max: number;
  value: number | undefined;
  onChange: (value: number) => void;
}

function ParameterSlider({ range, max, value, onChange }: SliderProps) {
  const label = `${range.label}, slider`;
  const isSet = value !== undefined;
  return (
    <Slider.Root
      aria-label={label}
      min={range.min}
      max={max}
      step={range.step}
      value={Math.min(value ?? range.rest, max)}
      onValueChange={(next) => onChange(clamped(next, range))}
    >
      {/* Insets the track by half a thumb, so that the thumb stays within its column. */}
      <Slider.Control className="flex h-5 px-2 touch-none select-none items-center">
        <Slider.Track className="h-1 w-full rounded-full bg-edge">
          <Slider.Indicator className={`rounded-full ${isSet ? "bg-accent" : "bg-transparent"}`} />
          <Slider.Thumb
            aria-label={label}
            getAriaValueText={(_, now) => (isSet ? String(now) : "default")}
            className={`size-4 rounded-full border-2 bg-raised has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2 ${isSet ? "border-accent" : "border-edge-strong"}`}
          />
        </Slider.Track>
      </Slider.Control>
    </Slider.Root>
  );
}

/** Many keyboards have a comma as decimal separator. */
function numberOf(text: string): number | undefined {
  const plain = text.trim().replace(",", ".");
  const number = Number(plain);
  return plain !== "" && Number.isFinite(number) ? number : undefined;
}
