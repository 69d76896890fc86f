// One line of the sidebar: a link with optional details, and a menu.
import { Ellipsis } from "lucide-react";
import type { MouseEvent, ReactNode } from "react";
import { Button } from "../ui/Button.tsx";
import { Menu } from "../ui/Menu.tsx";

interface Props {
  id: string;
  href: string;
  title: string;
  /** Replaces the plain title. */
  shown?: ReactNode;
  isHere: boolean;
  /** The tab key reaches this line. */
  isStop: boolean;
  onOpen: (id: string) => void;
  before?: ReactNode;
  beside?: ReactNode;
  under?: ReactNode;
  menu: ReactNode;
  /** Replaces the link while the title is edited. */
  field?: ReactNode;
}

export function LineRow({ id, href, title, isHere, isStop, onOpen, shown, before, beside, under, menu, field }: Props) {
  return (
    <div
      className={`group relative flex min-h-8 items-center rounded-sm ${isHere ? "bg-accent-wash" : "hover:bg-sunken focus-within:bg-sunken"}`}
      data-line={id}
      data-part="line"
    >
      {field || (
        <a
          className="min-w-0 flex-1 rounded-sm py-1.5 pe-2 ps-2 text-ink no-underline group-focus-within:pe-9 group-hover:pe-9 pointer-coarse:pe-9"
          href={href}
          tabIndex={isStop ? 0 : -1}
          aria-current={isHere ? "page" : undefined}
          onClick={(event) => {
            if (!isPlain(event)) return;
            event.preventDefault();
            onOpen(id);
          }}
        >
          <span className="flex items-center gap-1.5">
            {before}
            <span dir="auto" className="min-w-0 flex-1 truncate">
              {shown || title}
            </span>
            {beside}
          </span>
          {under}
        </a>
      )}
      {!field && (
        <Menu
          trigger={
            <Button
              className="absolute top-0.5 end-0.5 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 data-popup-open:opacity-100 pointer-coarse:opacity-100"
              size="icon-small"
              tabIndex={isStop ? 0 : -1}
              aria-label={`More for ${title}`}
            >
              <Ellipsis aria-hidden="true" />
            </Button>
          }
        >
          {menu}
        </Menu>
      )}
    </div>
  );
}

/** Leave other clicks to the browser: a new tab, a new window, a download. */
const isPlain = ({ button, altKey, ctrlKey, metaKey, shiftKey }: MouseEvent): boolean =>
  button === 0 && !altKey && !ctrlKey && !metaKey && !shiftKey;
