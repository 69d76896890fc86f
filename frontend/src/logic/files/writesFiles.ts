// The tools that write files. Their code is in the first script, so this module is small.

export const CREATE = "create_file";
export const EDIT = "edit_file";

/** Whether a call of this tool writes a file. */
export const writesFiles = (tool: string): boolean => tool === CREATE || tool === EDIT;

/** Whether a call of this tool makes images, which are files too. */
export const makesImages = (tool: string): boolean =>
  /^(generate_images|edit_image|remove_background|screenshot_preview)$/.test(tool);
