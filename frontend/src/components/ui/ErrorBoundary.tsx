// What fails to draw is replaced by something simpler, and the rest of the page stays.
import { Component, type ReactNode } from "react";

interface Props {
  /** Something that cannot fail. */
  fallback: ReactNode;
  children: ReactNode;
}

/** React itself writes the error to the console. */
export class Boundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
