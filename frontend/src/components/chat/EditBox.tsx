// Edits a message. Saving sends it again; the earlier version stays.
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useFillVariables } from "../../hooks/fillVariables.ts";
import { isMac } from "../../hooks/shortcuts.ts";
import { keyNames } from "../../logic/chat/shortcuts.ts";
import type { Picture } from "../../types/api.ts";
import { AutoGrowTextarea } from "../composer/AutoGrowTextarea.tsx";
import { PictureRow } from "../composer/PictureRow.tsx";
import { VariableChips } from "../composer/VariableChips.tsx";
import { VariablesDialog } from "../composer/VariablesDialog.tsx";
import { Button } from "../ui/Button.tsx";

interface Props {
  text: string;
  /** The images of the message, which cannot be changed. */
  pictures: readonly Picture[];
  onSave: (text: string) => void;
  onCancel: () => void;
}

export function EditBox({ text: before, pictures, onSave, onCancel }: Props) {
  const [text, setText] = useState(before);
  const box = useRef<HTMLTextAreaElement>(null);
  const canSave = text.trim() !== "" || pictures.length > 0;

  useEffect(() => {
    box.current?.focus();
    box.current?.setSelectionRange(-1, -1);
  }, []);

  const filling = useFillVariables(onSave);
  const save = () => canSave && filling.submit(text.trim());

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const isSave = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (!isSave && event.key !== "Escape") return;
    // Escape only closes the box. It does not stop the answer as well.
    event.preventDefault();
    if (isSave) save();
    else onCancel();
  };

  return (
    <>
      {filling.asked && <VariablesDialog names={filling.asked} filling={filling} />}
      <form
        data-part="edit"
        // The same space below as below a message with its buttons.
        className="mb-8 grid w-full gap-4 rounded-md border border-edge-strong bg-raised p-4 has-[textarea:focus-visible]:border-accent"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <PictureRow pictures={pictures} />
        <div className="grid min-h-18 max-w-measure">
          <AutoGrowTextarea
            ref={box}
            value={text}
            aria-label="Edit message"
            onChange={({ target }) => setText(target.value)}
            onKeyDown={onKeyDown}
          />
        </div>
        <VariableChips text={text} />
        <div className="flex flex-wrap items-center justify-end gap-x-3 gap-y-2">
          <p className="me-auto text-dim text-tiny narrow:w-full">The earlier version stays.</p>
          <Button look="outline" size="medium" onClick={onCancel}>
            Cancel
          </Button>
          <Button
            type="submit"
            look="primary"
            size="medium"
            disabled={!canSave}
            title={keyNames({ key: "Enter", mod: true }, isMac()).join("+")}
          >
            Save and send
          </Button>
        </div>
      </form>
    </>
  );
}
