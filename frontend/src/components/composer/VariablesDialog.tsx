// Asks for the values of variables before a message is sent.
import { type KeyboardEvent, useRef, useState } from "react";
import type { FillVariables } from "../../hooks/fillVariables.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";

interface Props {
  names: readonly string[];
  filling: FillVariables;
}

export function VariablesDialog({ names, filling }: Props) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const first = useRef<HTMLTextAreaElement>(null);
  const send = () => filling.fill(values);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.altKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <Dialog
      open
      onClose={filling.cancel}
      title="Fill in the variables"
      description="A variable that you leave empty is sent as written."
      initialFocus={first}
    >
      <form
        className="flex min-h-0 flex-col gap-3 overflow-y-auto p-4 pt-1"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        {names.map((name, at) => (
          <label key={name} className="flex flex-col gap-1 text-small">
            <span dir="auto" className="text-start">
              {name}
            </span>
            <textarea
              ref={at === 0 ? first : null}
              dir="auto"
              rows={1}
              value={values[name] ?? ""}
              placeholder={`{{${name}}}`}
              onChange={({ target }) => setValues({ ...values, [name]: target.value })}
              onKeyDown={onKeyDown}
              className="max-h-40 min-h-9 w-full resize-none rounded-md border border-edge bg-ground px-3 py-1.5 text-body [field-sizing:content] placeholder:text-dim"
            />
          </label>
        ))}
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="outline" size="medium" onClick={filling.sendAsWritten}>
            Send as written
          </Button>
          <Button type="submit" look="primary" size="medium">
            Send
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
