// Edits a title. Enter and blur save it, Escape cancels.
import { useEffect, useRef } from "react";

interface Props {
  title: string;
  onDone: (title: string | undefined, byKey: boolean) => void;
}

export function TitleField({ title, onDone }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const isOver = useRef(false);
  useEffect(() => {
    // The menu that opened the field first returns the focus.
    const timer = setTimeout(() => {
      field.current?.focus();
      field.current?.select();
    });
    return () => clearTimeout(timer);
  }, []);
  const end = (newTitle: string | undefined, byKey: boolean) => {
    if (isOver.current) return;
    isOver.current = true;
    onDone(newTitle, byKey);
  };
  return (
    <input
      ref={field}
      className="mx-1 h-7 min-w-0 flex-1 rounded-sm border border-edge-strong bg-raised px-1 text-ink text-small"
      aria-label="Title"
      dir="auto"
      autoComplete="off"
      maxLength={200}
      defaultValue={title}
      onBlur={(event) => end(event.target.value, false)}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
        event.preventDefault();
        event.stopPropagation();
        end(event.key === "Enter" ? event.currentTarget.value : undefined, true);
      }}
    />
  );
}
