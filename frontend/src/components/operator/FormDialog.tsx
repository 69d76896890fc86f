// A dialog with a form: fields, the reason of a refusal, and the buttons.
import type { FormEvent, ReactNode } from "react";
import type { FormTexts } from "../../logic/pages/tokens.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";

export interface FormState {
  /** Why the server did not make the change. */
  refusal: string | undefined;
  isSaving: boolean;
  onClose: () => void;
}

interface Props extends FormState {
  title: string;
  description?: ReactNode;
  action: string;
  place?: "middle" | "aside";
  onSubmit: (texts: FormTexts) => void;
  children: ReactNode;
}

export function FormDialog({
  title,
  description,
  action,
  place = "aside",
  refusal,
  isSaving,
  onClose,
  ...rest
}: Props) {
  const { onSubmit, children } = rest;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const texts = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value)]);
    onSubmit(Object.fromEntries(texts));
  };
  return (
    <Dialog open title={title} description={description} place={place} onClose={onClose}>
      <form className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)_auto]" autoComplete="off" onSubmit={submit}>
        <div className="grid content-start gap-4 overflow-y-auto px-4 py-2">{children}</div>
        <footer className="grid gap-3 border-edge border-t px-4 py-3">
          {refusal && (
            <p role="alert" className="text-red-ink text-small">
              {refusal}
            </p>
          )}
          <div className="flex justify-end gap-2">
            <Button size="medium" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" look="primary" size="medium" disabled={isSaving}>
              {isSaving ? "Saving…" : action}
            </Button>
          </div>
        </footer>
      </form>
    </Dialog>
  );
}
