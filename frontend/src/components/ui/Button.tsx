// The page's button, in its variants.
import type { ComponentPropsWithRef } from "react";

const LOOKS = {
  /** The main action. */
  primary: "bg-accent text-accent-ink hover:opacity-90",
  outline: "border border-edge bg-raised hover:border-edge-strong",
  /** One of several minor actions. */
  quiet:
    "text-dim hover:bg-sunken hover:text-ink data-popup-open:bg-sunken data-popup-open:text-ink aria-pressed:bg-accent-wash aria-pressed:text-accent",
} as const;

/** On a phone, buttons are large enough for a finger. */
const SIZES = {
  small: "h-7 px-2 gap-1.5 narrow:h-8",
  medium: "h-8 px-3 gap-2",
  /** An icon without text. It needs an `aria-label`. */
  icon: "size-8 justify-center",
  "icon-small": "size-7 justify-center narrow:size-8",
} as const;

export interface ButtonProps extends ComponentPropsWithRef<"button"> {
  look?: keyof typeof LOOKS;
  size?: keyof typeof SIZES;
}

export function Button({ look = "quiet", size = "small", type = "button", className = "", ...rest }: ButtonProps) {
  return (
    <button
      type={type}
      className={`inline-flex shrink-0 cursor-pointer select-none items-center whitespace-nowrap rounded-md text-small transition-colors disabled:cursor-default disabled:opacity-45 [&_svg]:size-4 [&_svg]:shrink-0 ${LOOKS[look]} ${SIZES[size]} ${className}`}
      {...rest}
    />
  );
}
