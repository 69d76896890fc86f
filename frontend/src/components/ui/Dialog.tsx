// A modal dialog: a box in the middle, or a sheet at one side.
import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode, RefObject } from "react";
import { Button } from "./Button.tsx";

const PLACES = {
  middle:
    "inset-x-0 top-[12dvh] mx-auto max-h-[80dvh] w-[min(30rem,calc(100vw-2rem))] rounded-md data-ending-style:opacity-0 data-starting-style:opacity-0",
  /** As large as its content, up to the window. */
  fitted:
    "inset-0 m-auto h-fit max-h-[94dvh] w-fit max-w-[94vw] rounded-md data-ending-style:opacity-0 data-starting-style:opacity-0",
  left: "inset-y-0 start-0 w-[min(20rem,88vw)] border-y-0 border-s-0 data-ending-style:-translate-x-full data-starting-style:-translate-x-full",
  /** A narrow sheet for settings. */
  aside:
    "inset-y-0 end-0 w-[min(28rem,100vw)] border-y-0 border-e-0 data-ending-style:translate-x-full data-starting-style:translate-x-full",
  right:
    "inset-y-0 end-0 w-[min(52rem,100vw)] border-y-0 border-e-0 data-ending-style:translate-x-full data-starting-style:translate-x-full",
} as const;

interface Props {
  open: boolean;
  onClose: () => void;
  title: string;
  /** Only screen readers get the title, because the content has its own header. */
  titleHidden?: boolean;
  description?: ReactNode;
  place?: keyof typeof PLACES;
  /** The element that gets the initial focus. Default: the first focusable one. */
  initialFocus?: RefObject<HTMLElement | null>;
  children: ReactNode;
}

export function Dialog({
  open,
  onClose,
  title,
  titleHidden,
  description,
  place = "middle",
  initialFocus,
  children,
}: Props) {
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-30 bg-veil transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Base.Popup
          {...(initialFocus && { initialFocus })}
          className={`fixed z-40 flex flex-col overflow-hidden border border-edge bg-raised text-body shadow-over outline-none transition ${PLACES[place]}`}
        >
          <header className={titleHidden ? "sr-only" : "flex items-center gap-2 px-4 pt-3 pb-1"}>
            <Base.Title dir="auto" className="flex-1 font-semibold text-body">
              {title}
            </Base.Title>
            <Base.Close render={<Button size="icon-small" aria-label="Close" />}>
              <X aria-hidden="true" />
            </Base.Close>
          </header>
          {description && <Base.Description className="px-4 pb-2 text-dim text-small">{description}</Base.Description>}
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
