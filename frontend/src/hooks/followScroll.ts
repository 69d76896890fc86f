// Scrolls along with a growing answer while the user is at its end (quirk H4).
import { useEffect, useState } from "react";

/** Within this distance the user counts as at the end. */
const NEAR_PX = 96;
/** Tolerance for a trembling finger. */
const TREMBLE_PX = 4;
const UP_KEYS: readonly string[] = ["ArrowUp", "PageUp", "Home"];

const FIELDS = "textarea, input, select";
/** Elements that handle Home and the arrow keys themselves. */
const MOVING = "[role=tablist]";

export interface FollowScroll {
  /** The scroll container. */
  ref: (box: HTMLElement | null) => void;
  /** The growing content. With a virtual list: an element around all of it. */
  content: (inner: HTMLElement | null) => void;
  /** The user is elsewhere, so the view does not follow. */
  away: boolean;
  /** Scroll to the end and follow again. */
  jump: () => void;
}

export function useFollowScroll(): FollowScroll {
  const [follower] = useState(() => new ScrollFollower());
  const [away, setAway] = useState(false);
  useEffect(() => follower.listen(setAway), [follower]);
  return { ref: follower.box, content: follower.content, away, jump: follower.jump };
}

/**
 * Only the user stops the following: by wheel, touch, key, scrollbar, or a link within the page. A scroll event
 * together with a change of height comes from the layout or from the virtual list.
 */
export class ScrollFollower {
  #box: HTMLElement | null = null;
  #content: HTMLElement | null = null;
  #following = true;
  #away = false;
  #dragging = false;
  #finger = { x: 0, y: 0 };
  #seen = { top: 0, height: 0, client: 0 };
  #onAway: ((away: boolean) => void) | undefined;
  #leave: (() => void) | undefined;
  readonly #sizes = typeof ResizeObserver === "undefined" ? undefined : new ResizeObserver(() => this.#grown());

  listen(onAway: (away: boolean) => void): () => void {
    this.#onAway = onAway;
    onAway(this.#away);
    return () => {
      this.#onAway = undefined;
    };
  }

  readonly box = (box: HTMLElement | null): void => {
    this.#leave?.();
    if (this.#box) this.#sizes?.unobserve(this.#box);
    this.#box = box;
    if (!box) return;
    this.#sizes?.observe(box);
    this.#leave = this.#attend(box);
    this.#grown();
  };

  readonly content = (content: HTMLElement | null): void => {
    if (this.#content) this.#sizes?.unobserve(this.#content);
    this.#content = content;
    if (content) this.#sizes?.observe(content);
  };

  readonly jump = (): void => {
    this.#following = true;
    this.#toEnd();
    this.#reportAway();
  };

  #attend(box: HTMLElement): () => void {
    const ends = new AbortController();
    const quiet = { passive: true, signal: ends.signal };
    box.addEventListener("scroll", () => this.#scrolled(box), quiet);
    box.addEventListener("wheel", (event) => isUpward(event) && this.#readerGoesUp(event.target), quiet);
    box.addEventListener("touchstart", ({ touches }) => this.#touch(touches), quiet);
    box.addEventListener("touchmove", (event) => this.#fingerMoves(event), quiet);
    box.addEventListener("keydown", (event) => isUp(event) && this.#readerGoesUp(event.target), quiet);
    box.addEventListener("focusin", ({ target }) => this.#writing(target, true), quiet);
    box.addEventListener("focusout", ({ target }) => this.#writing(target, false), quiet);
    // A press on the box itself is a press on its scrollbar or margin.
    box.addEventListener("pointerdown", ({ target }) => this.#drag(target === box), quiet);
    window.addEventListener("pointerup", () => this.#drag(false), quiet);
    window.addEventListener("pointercancel", () => this.#drag(false), quiet);
    return () => ends.abort();
  }

  /** While the user types in a field of the chat, such as an edited message, the view stays. */
  #writing(field: EventTarget | null, begins: boolean): void {
    if (!this.#box || !(field instanceof Element && field.matches(FIELDS))) return;
    this.#following = !begins && this.#gap(this.#box) < NEAR_PX;
  }

  #drag(dragging: boolean): void {
    this.#dragging = dragging;
  }

  #touch(touches: TouchList): void {
    this.#finger = { x: touches[0]?.clientX ?? 0, y: touches[0]?.clientY ?? 0 };
  }

  #fingerMoves({ touches, target }: TouchEvent): void {
    const { clientX: x, clientY: y } = touches[0] ?? { clientX: 0, clientY: 0 };
    const down = y - this.#finger.y;
    // A horizontal swipe along columns also moves a little vertically.
    if (down > TREMBLE_PX && down > Math.abs(x - this.#finger.x)) this.#readerGoesUp(target);
    if (down < 0) this.#finger = { x, y };
  }

  #readerGoesUp(from: EventTarget | null): void {
    const box = this.#box;
    if (!box || box.scrollTop <= 0 || scrollsInside(from, box)) return;
    this.#following = false;
  }

  #scrolled(box: HTMLElement): void {
    const before = this.#seen;
    this.#remember(box);
    const moved = box.scrollTop - before.top;
    const resized = box.scrollHeight !== before.height || box.clientHeight !== before.client;
    if (this.#following) {
      const left = moved < 0 && this.#gap(box) >= NEAR_PX;
      if (left && (this.#dragging || !resized)) this.#following = false;
    } else if (moved > 0 && this.#gap(box) < (resized ? 1 : NEAR_PX)) {
      this.#following = true;
    }
    this.#reportAway();
  }

  #grown(): void {
    if (this.#following && !this.#dragging) this.#toEnd();
    else if (this.#box) this.#remember(this.#box);
    this.#reportAway();
  }

  #toEnd(): void {
    const box = this.#box;
    if (!box) return;
    box.scrollTop = box.scrollHeight - box.clientHeight;
    // Read the position back, so that our own scroll event is not taken for the user's.
    this.#remember(box);
  }

  #remember(box: HTMLElement): void {
    this.#seen = { top: box.scrollTop, height: box.scrollHeight, client: box.clientHeight };
  }

  #gap = (box: HTMLElement) => box.scrollHeight - box.scrollTop - box.clientHeight;

  #reportAway(): void {
    const away = !this.#following && this.#box !== null && this.#gap(this.#box) >= NEAR_PX;
    if (away === this.#away) return;
    this.#away = away;
    this.#onAway?.(away);
  }
}

/** A horizontal gesture, as along columns, also scrolls a little upward. */
const isUpward = ({ deltaX, deltaY }: WheelEvent): boolean => deltaY < 0 && -deltaY > Math.abs(deltaX);

const isUp = ({ key, shiftKey, target }: KeyboardEvent): boolean =>
  !(target instanceof Element && target.closest(`${FIELDS}, ${MOVING}`)) &&
  (UP_KEYS.includes(key) || (key === " " && shiftKey && !(target instanceof HTMLButtonElement)));

/** A scrollable box inside (reasoning, code) consumes the gesture until it is at its top. */
function scrollsInside(from: EventTarget | null, box: HTMLElement): boolean {
  let at = from instanceof Element ? from : null;
  for (; at && at !== box; at = at.parentElement) {
    if (at.scrollTop > 0 && /auto|scroll/.test(getComputedStyle(at).overflowY)) return true;
  }
  return false;
}
