// The user's message as plain text with its images. Long messages are folded.
import { Copy as CopySign, FileText, Pencil } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Picture } from "../../types/api.ts";
import { PictureRow } from "../composer/PictureRow.tsx";
import { Button } from "../ui/Button.tsx";
import { Copy } from "../ui/Copy.tsx";
import { EditBox } from "./EditBox.tsx";

interface Props {
  text: string;
  pictures: readonly Picture[];
  /** Names of files that another client attached. */
  files: readonly string[];
  /** Undefined if the message cannot be edited now. */
  onEdit: (() => void) | undefined;
  /** Replaces the default, which copies the text. */
  onCopy?: () => void;
  /** The control that switches between versions. */
  switcher: ReactNode;
  editing: boolean;
  onSaveEdit: (text: string) => void;
  onCancelEdit: () => void;
}

export function Question({ text, pictures, files, editing, onSaveEdit, onCancelEdit, ...rest }: Props) {
  const { onEdit, onCopy, switcher } = rest;
  const edit = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(editing);
  useEffect(() => {
    // Cancelling by keyboard returns the focus to the Edit button.
    if (wasEditing.current && !editing && document.activeElement === document.body) edit.current?.focus();
    wasEditing.current = editing;
  }, [editing]);

  return (
    <div className="group/question flex flex-col items-end gap-1" data-part="question">
      <h2 className="sr-only">You</h2>
      {editing ? (
        <EditBox text={text} pictures={pictures} onSave={onSaveEdit} onCancel={onCancelEdit} />
      ) : (
        <>
          {pictures.length > 0 && <PictureRow pictures={pictures} size="large" />}
          {files.map((name) => (
            <p key={name} className="flex items-center gap-1.5 text-dim text-small">
              <FileText aria-hidden="true" className="size-4" /> <bdi>{name}</bdi>
            </p>
          ))}
          {text && <QuestionText key={text} text={text} />}
          <div className="flex h-7 items-center">
            <div className="flex opacity-0 transition-opacity group-focus-within/question:opacity-100 group-hover/question:opacity-100 pointer-coarse:opacity-100">
              {onEdit && (
                <Button ref={edit} onClick={onEdit}>
                  <Pencil aria-hidden="true" /> Edit
                </Button>
              )}
              {onCopy ? (
                <Button onClick={onCopy}>
                  <CopySign aria-hidden="true" /> Copy
                </Button>
              ) : (
                text && (
                  <Copy text={() => text}>
                    <CopySign aria-hidden="true" /> Copy
                  </Copy>
                )
              )}
            </div>
            {switcher}
          </div>
        </>
      )}
    </div>
  );
}

/** Longer messages are folded to this many lines. Hiding two lines is not worth a button. */
const FOLDED_LINES = 12;
const LINE_CHARS = 64;

/** Estimated from the text: measuring would change the height later and move the virtual list. */
export const isLong = (text: string): boolean =>
  text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE_CHARS)), 0) > FOLDED_LINES + 2;

function QuestionText({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const long = isLong(text);
  return (
    <div className="grid max-w-[85%] justify-items-start rounded-md bg-sunken px-3.5 py-2.5">
      <p dir="auto" className={`plain-lines wrap-anywhere ${long && !all ? "line-clamp-12" : ""}`}>
        {text}
      </p>
      {long && (
        <Button className="-ms-2 mt-1 hover:bg-edge" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Show less" : "Show all"}
        </Button>
      )}
    </div>
  );
}
