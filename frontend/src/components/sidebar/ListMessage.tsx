// Messages of the sidebar's lists.
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../ui/Button.tsx";

/** Shown in place of a list. */
export function ListMessage({ children, onRetry }: { children: ReactNode; onRetry?: (() => void) | undefined }) {
  return (
    <div className="flex flex-col items-start gap-2 px-3.5 py-4 text-dim" role="status" data-part="list-word">
      <p>{children}</p>
      {onRetry && (
        <Button look="outline" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

interface TroubleProps {
  children: string;
  onRetry?: (() => void) | undefined;
  onDismiss: () => void;
}

/** Shown above a list. */
export function ListAlert({ children, onRetry, onDismiss }: TroubleProps) {
  return (
    <div
      className="m-1.5 mb-0 flex items-start gap-1 rounded-sm border border-red-edge bg-red-wash py-0.5 ps-2 text-red-ink"
      role="alert"
      data-part="list-trouble"
    >
      <p className="min-w-0 flex-1 break-words py-1">{children}</p>
      {onRetry && (
        <Button className="text-red-ink" onClick={onRetry}>
          Try again
        </Button>
      )}
      <Button className="text-red-ink" size="icon-small" aria-label="Dismiss" onClick={onDismiss}>
        <X aria-hidden="true" />
      </Button>
    </div>
  );
}
