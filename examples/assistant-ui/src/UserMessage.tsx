import { ActionBarPrimitive, AuiIf, ComposerPrimitive, MessagePrimitive } from "@assistant-ui/react";
import { BranchPicker } from "./BranchPicker";

/** A message of the user; it can be edited while no answer is running. */
export function UserMessage() {
  return (
    <MessagePrimitive.Root className="message user" role="article" aria-label="You">
      <MessagePrimitive.Parts />
      <div className="actions">
        <BranchPicker />
        <AuiIf condition={({ thread }) => !thread.isRunning}>
          <ActionBarPrimitive.Edit>Edit</ActionBarPrimitive.Edit>
        </AuiIf>
        <ActionBarPrimitive.Copy>Copy</ActionBarPrimitive.Copy>
      </div>
    </MessagePrimitive.Root>
  );
}

/** The message while it is edited. Saving it begins another branch. */
export function EditComposer() {
  return (
    <MessagePrimitive.Root className="message user" role="article" aria-label="Edit message">
      <ComposerPrimitive.Root className="editor">
        <ComposerPrimitive.Input aria-label="Edited message" autoFocus />
        <div className="actions">
          <ComposerPrimitive.Cancel>Cancel</ComposerPrimitive.Cancel>
          <ComposerPrimitive.Send>Save</ComposerPrimitive.Send>
        </div>
      </ComposerPrimitive.Root>
    </MessagePrimitive.Root>
  );
}
