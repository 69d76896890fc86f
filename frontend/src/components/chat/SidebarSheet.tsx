// The sidebar of a narrow window, as a sheet over the chat.
import { type ReactNode, Suspense } from "react";
import { later } from "../ui/later.tsx";

const Dialog = later(() => import("../ui/Dialog.tsx").then((module) => module.Dialog));

export const preloadSheet = Dialog.preload;

interface Props {
  open: boolean;
  /** The dialog's code is loaded, so it can be rendered closed. */
  ready: boolean;
  onClose: () => void;
  children: ReactNode;
}

export function SidebarSheet({ open, ready, onClose, children }: Props) {
  return (
    <Suspense>
      {(ready || open) && (
        <Dialog open={open} onClose={onClose} title="Conversations" titleHidden place="left">
          {children}
        </Dialog>
      )}
    </Suspense>
  );
}
