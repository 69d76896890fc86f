// Replaces a component that fails to render, so that the rest of the page stays.
import { Component, type ReactNode } from "react";

interface Props {
  /** Must not fail to render. */
  fallback: ReactNode;
  children: ReactNode;
}

/** React logs the error to the console. */
export class ErrorBoundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
