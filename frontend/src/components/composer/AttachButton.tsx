// Opens the file dialog for images, or explains why the model cannot read images.
import { ImagePlus } from "lucide-react";
import { useRef } from "react";
import { PICTURE_TYPES, type PictureRule } from "../../state/pictureTypes.ts";
import { Button } from "../ui/Button.tsx";
import { Tip } from "../ui/Tip.tsx";

interface Props {
  rule: PictureRule;
  onFiles: (files: readonly File[]) => void;
  /** The button was pressed although it is disabled. */
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
          // Not `disabled`: pointer and keyboard must be able to reach the reason.
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
          // The same file can be chosen again after it was removed.
          target.value = "";
        }}
      />
    </>
  );
}
