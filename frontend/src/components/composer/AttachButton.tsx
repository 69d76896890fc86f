// Opens the browser's file dialog for pictures; where the model reads none, says so instead.
import { ImagePlus } from "lucide-react";
import { useRef } from "react";
import { PICTURE_TYPES, type PictureRule } from "../../state/pictures.ts";
import { Button } from "../ui/Button.tsx";
import { Tip } from "../ui/Tip.tsx";

interface Props {
  rule: PictureRule;
  onFiles: (files: readonly File[]) => void;
  /** Pressed although it cannot act. */
  onRefused: (reason: string) => void;
}

export function AttachButton({ rule, onFiles, onRefused }: Props) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Tip label={rule.allowed ? "Add images. You can also paste or drop them." : rule.reason}>
        <Button
          size="icon"
          aria-label="Add images"
          // Not `disabled`: the reason has to be in reach of the pointer and of the keyboard.
          aria-disabled={!rule.allowed}
          className="aria-disabled:cursor-default aria-disabled:opacity-45"
          onClick={() => (rule.allowed ? input.current?.click() : onRefused(rule.reason))}
        >
          <ImagePlus aria-hidden="true" />
        </Button>
      </Tip>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={PICTURE_TYPES.join()}
        data-part="picture-input"
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // The same file may be chosen again after it was removed.
          target.value = "";
        }}
      />
    </>
  );
}
