// Asks for confirmation before something is deleted.
import { useRef } from "react";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";

interface Props {
  title: string;
  /** What is deleted, and what stays. */
  children: string;
  onDelete: () => void;
  onClose: () => void;
}

export function DeleteDialog({ title, children, onDelete, onClose }: Props) {
  const button = useRef<HTMLButtonElement>(null);
  return (
    <Dialog open title={title} description={children} onClose={onClose} initialFocus={button}>
      <div className="flex justify-end gap-2 px-4 pt-2 pb-4">
        <Button look="outline" size="medium" onClick={onClose}>
          Cancel
        </Button>
        <Button
          ref={button}
          look="outline"
          size="medium"
          className="border-red-edge bg-red-wash text-red-ink"
          onClick={onDelete}
        >
          Delete
        </Button>
      </div>
    </Dialog>
  );
}
