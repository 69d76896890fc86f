// The search field of the sidebar. ArrowDown moves to the list.
import { Search, X } from "lucide-react";
import { type KeyboardEvent, useRef } from "react";
import { isMac } from "../../hooks/shortcuts.ts";
import { shortcutText } from "../../logic/chat/shortcuts.ts";
import { Button } from "../ui/Button.tsx";
import { focusFirstLine } from "./lineFocus.ts";

interface Props {
  search: string;
  onSearch: (text: string) => void;
}

export function SearchField({ search, onSearch }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "ArrowDown" && focusFirstLine(event.currentTarget)) event.preventDefault();
    if (event.key === "Escape" && search) {
      event.preventDefault();
      event.stopPropagation();
      onSearch("");
    }
  };
  return (
    <div className="group relative flex items-center">
      <Search className="pointer-events-none absolute start-2.5 size-4 text-dim" aria-hidden="true" />
      <input
        ref={input}
        id="search-conversations"
        type="text"
        inputMode="search"
        enterKeyHint="search"
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        aria-label="Search conversations"
        dir="auto"
        placeholder="Search"
        className="h-8 w-full min-w-0 rounded-md border border-edge bg-raised pe-8 ps-8 text-ink placeholder:text-dim hover:border-edge-strong"
        value={search}
        onChange={(event) => onSearch(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {search ? (
        <Button
          className="absolute end-0.5"
          size="icon-small"
          aria-label="Clear search"
          onClick={() => {
            onSearch("");
            input.current?.focus();
          }}
        >
          <X aria-hidden="true" />
        </Button>
      ) : (
        <span
          className="pointer-events-none absolute end-2.5 font-sans text-dim text-tiny group-focus-within:hidden pointer-coarse:hidden"
          aria-hidden="true"
        >
          {shortcutText("search", isMac())}
        </span>
      )}
    </div>
  );
}
