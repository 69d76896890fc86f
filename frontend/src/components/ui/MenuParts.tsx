// The menu components that ui/Menu.tsx loads.
import { Menu as Base } from "@base-ui/react/menu";
import type { ReactElement, ReactNode } from "react";

export interface MenuProps {
  /** The button that opens the menu. It gets the menu's props. */
  trigger: ReactElement;
  children: ReactNode;
  align?: "start" | "center" | "end";
}

export function Menu({ trigger, children, align = "end" }: MenuProps) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger render={trigger} />
      {/* The popup is outside the page's landmarks, so it is a landmark itself. */}
      <Base.Portal render={<section aria-label="Menu" />}>
        <Base.Positioner align={align} sideOffset={4} collisionPadding={8} className="z-40">
          <Base.Popup className="min-w-44 max-w-80 rounded-md border border-edge bg-raised p-1 text-small shadow-over outline-none transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

const ITEM =
  "flex w-full cursor-pointer select-none items-center gap-2 rounded-sm px-2 py-1.5 text-start outline-none data-disabled:cursor-default data-highlighted:bg-sunken data-disabled:opacity-45 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-dim";

export interface ItemProps {
  onSelect: () => void;
  children: ReactNode;
  disabled?: boolean;
  danger?: boolean;
}

export function MenuItem({ onSelect, children, disabled = false, danger = false }: ItemProps) {
  return (
    <Base.Item onClick={onSelect} disabled={disabled} className={`${ITEM} ${danger ? "text-red-ink" : ""}`}>
      {children}
    </Base.Item>
  );
}

export function MenuLine() {
  return <Base.Separator className="my-1 h-px bg-edge" />;
}
