// Which model answers: type to search the list, or any id that is not on it.
import { type KeyboardEvent, useId, useRef, useState } from "react";
import type { Model } from "../types/models.ts";
import { Lamp } from "./Lamp.tsx";

interface Props {
  models: readonly Model[];
  value: string;
  onChange: (id: string) => void;
  /** Every model is played by the simulator, whatever its name. */
  simulated: boolean;
}

const SHOWN = 60;

/** Every word of the query has to occur in the id or the name. */
function matching(models: readonly Model[], query: string): readonly Model[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return models.filter((model) => {
    const text = `${model.id} ${model.name}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export function ModelPicker({ models, value, onChange, simulated }: Props) {
  // What the field holds while it is in use: a list that comes meanwhile does not write into it.
  const [draft, setDraft] = useState<{ text: string; typed: boolean }>();
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const query = draft?.typed ? draft.text : "";
  const found = matching(models, query);
  const shown = found.slice(0, SHOWN);

  const show = () => {
    setOpen(true);
    setActive(-1);
  };
  const close = () => {
    setOpen(false);
    setDraft(undefined);
  };
  const choose = (id: string) => {
    if (id.trim()) onChange(id.trim());
    close();
  };
  const move = (by: number) => {
    if (!open) return show();
    const next = Math.max(0, Math.min(shown.length - 1, active + by));
    setActive(next);
    document.getElementById(`${list}-${next}`)?.scrollIntoView({ block: "nearest" });
  };
  const act = (key: string): boolean => {
    switch (key) {
      case "ArrowDown":
        move(1);
        return true;
      case "ArrowUp":
        move(-1);
        return true;
      case "Enter":
        choose(shown[active]?.id ?? query);
        return true;
      case "Escape":
        close();
        return true;
      default:
        return false;
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (act(event.key)) event.preventDefault();
  };

  return (
    <div className="picker">
      <input
        ref={input}
        role="combobox"
        aria-label="Model"
        aria-expanded={open}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={open && active >= 0 ? `${list}-${active}` : undefined}
        spellCheck={false}
        autoComplete="off"
        placeholder="model id"
        value={draft?.text ?? value}
        onFocus={(event) => {
          event.target.select();
          setDraft({ text: value, typed: false });
          show();
        }}
        onClick={show}
        onBlur={() => choose(query)}
        onChange={(event) => {
          setDraft({ text: event.target.value, typed: true });
          show();
        }}
        onKeyDown={onKeyDown}
      />
      {/* The list keeps the focus in the field: a click on it must not blur. */}
      <div
        id={list}
        role="listbox"
        aria-label="Models"
        className="options"
        hidden={!open}
        onPointerDown={(e) => e.preventDefault()}
      >
        {simulated && (
          <p className="option-note option-simulated">
            <Lamp lamp="blue" /> No key is set: the built-in simulator answers under each of these names.
          </p>
        )}
        {shown.map((model, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: as above.
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the field.
          <div
            key={model.id}
            id={`${list}-${index}`}
            role="option"
            aria-selected={model.id === value}
            data-active={index === active}
            className="option"
            onClick={() => {
              choose(model.id);
              input.current?.blur();
            }}
          >
            <span className="option-id">{model.id}</span>
            <span className="option-facts">
              {[model.name, ...model.badges].filter((fact) => fact !== model.id).join(" · ")}
            </span>
          </div>
        ))}
        {shown.length === 0 && <p className="option-note">Not on the list. Enter takes it as it is.</p>}
        {found.length > SHOWN && <p className="option-note">{found.length - SHOWN} more. Type to find them.</p>}
      </div>
    </div>
  );
}
