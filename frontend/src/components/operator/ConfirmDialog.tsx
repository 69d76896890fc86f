// Asks before something is revoked or deleted.
import { useRef } from "react";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import type { FormState } from "./FormDialog.tsx";

interface Props extends FormState {
  title: string;
  action: string;
  children: string;
  onConfirm: () => void;
  /** Another way, beside the action. */
  other?: { action: string; onChoose: () => void };
}

export function ConfirmDialog({ title, action, children, refusal, isSaving, onConfirm, onClose, other }: Props) {
  const cancel = useRef<HTMLButtonElement>(null);
  return (
    <Dialog open title={title} description={children} onClose={onClose} initialFocus={cancel}>
      <div className="grid gap-3 px-4 pt-2 pb-4">
        {refusal && (
          <p role="alert" className="text-red-ink text-small">
            {refusal}
          </p>
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <Button ref={cancel} look="outline" size="medium" onClick={onClose}>
            Cancel
          </Button>
          {other && (
            <Button look="outline" size="medium" disabled={isSaving} onClick={other.onChoose}>
              {other.action}
            </Button>
          )}
          <Button
            look="outline"
            size="medium"
            className="border-red-edge bg-red-wash text-red-ink"
            disabled={isSaving}
            onClick={onConfirm}
          >
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
