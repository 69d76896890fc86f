// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ScrollFollower } from "./followScroll.ts";

/** jsdom has no layout, so this sets heights and clamps the scroll position like a browser. */
class Page {
  readonly box = document.createElement("main");
  readonly inner = document.createElement("p");
  height = 500;
  #top = 0;

  constructor() {
    const top = () => this.#top;
    const set = (value: number) => {
      const to = Math.max(0, Math.min(value, this.height - 500));
      const moved = to !== this.#top;
      this.#top = to;
      if (moved) this.box.dispatchEvent(new Event("scroll"));
    };
    Object.defineProperty(this.box, "scrollTop", { get: top, set });
    Object.defineProperty(this.box, "scrollHeight", { get: () => this.height });
    Object.defineProperty(this.box, "clientHeight", { get: () => 500 });
    this.box.append(this.inner);
    document.body.append(this.box);
  }

  get gap(): number {
    return this.height - this.box.scrollTop - 500;
  }

  /** Change the height of the content and notify the observers. */
  grow(by: number): void {
    this.height += by;
    const fits = this.height - 500;
    if (this.box.scrollTop > fits) this.box.scrollTop = fits;
    for (const observe of observers) observe();
  }

  wheel(by: number, on: Element = this.inner): void {
    on.dispatchEvent(new WheelEvent("wheel", { deltaY: by, bubbles: true }));
    this.box.scrollTop += by;
  }
}

let observers: (() => void)[] = [];
let page: Page;
let follower: ScrollFollower;
let away: boolean;

beforeEach(() => {
  observers = [];
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe = () => {};
      unobserve = () => {};
      constructor(tell: () => void) {
        observers.push(tell);
      }
    },
  );
  page = new Page();
  follower = new ScrollFollower();
  follower.box(page.box);
  follower.content(page.inner);
  follower.listen((now) => {
    away = now;
  });
  page.grow(2000);
});

afterEach(() => {
  follower.box(null);
  vi.unstubAllGlobals();
  document.body.replaceChildren();
});

describe("following", () => {
  it("stays at the end of content that grows and shrinks", () => {
    expect(page.gap).toBe(0);
    page.grow(300);
    page.grow(-900);
    page.grow(1200);
    expect(page.gap).toBe(0);
    expect(away).toBe(false);
  });

  it("ends when the user scrolls up with the wheel, however little", () => {
    page.wheel(-20);
    page.grow(50);
    expect(page.gap).toBe(70);
    expect(away).toBe(false);
    page.grow(50);
    expect(page.gap).toBe(120);
    expect(away).toBe(true);
  });

  it("resumes when the user returns near the end, and not earlier", () => {
    page.wheel(-600);
    page.wheel(400);
    page.grow(100);
    expect(page.gap).toBe(300);
    page.wheel(230);
    page.grow(100);
    expect(page.gap).toBe(0);
    expect(away).toBe(false);
  });

  it("is not ended by scrolling columns or switching tabs", () => {
    page.inner.dispatchEvent(new WheelEvent("wheel", { deltaX: 40, deltaY: -6, bubbles: true }));
    const tabs = page.inner.appendChild(document.createElement("div"));
    tabs.setAttribute("role", "tablist");
    tabs.dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true }));
    page.grow(200);
    expect(page.gap).toBe(0);
  });

  it.each(["PageUp", "ArrowUp", "Home"])("ends with %s, but not when it is typed into a field", (key) => {
    const press = (on: Element) => on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    const field = page.inner.appendChild(document.createElement("textarea"));
    press(field);
    page.grow(200);
    expect(page.gap).toBe(0);
    press(page.inner);
    page.grow(200);
    expect(page.gap).toBe(200);
  });

  it("ends when a finger pulls the page down, and not when it pushes up or trembles", () => {
    const touch = (type: string, clientY: number, clientX = 100) =>
      page.inner.dispatchEvent(Object.assign(new Event(type, { bubbles: true }), { touches: [{ clientX, clientY }] }));
    touch("touchstart", 300);
    touch("touchmove", 310, 20);
    page.grow(200);
    expect(page.gap).toBe(0);
    touch("touchmove", 303);
    touch("touchmove", 250);
    page.grow(200);
    expect(page.gap).toBe(0);
    touch("touchmove", 260);
    page.grow(200);
    expect(page.gap).toBe(200);
  });

  it("ends when something else scrolls away", () => {
    page.box.scrollTop = 100;
    page.grow(10);
    expect(page.box.scrollTop).toBe(100);
    expect(away).toBe(true);
  });

  it("is not ended by a scroll event with a change of height, as in a virtual list", () => {
    page.height += 700;
    page.box.scrollTop -= 300;
    page.grow(0);
    expect(page.gap).toBe(0);
  });

  it("ends when the scrollbar is dragged, even while the answer grows", () => {
    page.box.dispatchEvent(new MouseEvent("pointerdown", { bubbles: true }));
    page.grow(50);
    expect(page.gap).toBe(50);
    page.height += 50;
    page.box.scrollTop -= 300;
    window.dispatchEvent(new MouseEvent("pointerup"));
    page.grow(100);
    expect(page.gap).toBe(500);
  });

  it("is not ended by the wheel over a scrollable box inside", () => {
    const inside = page.inner.appendChild(document.createElement("pre"));
    inside.style.overflowY = "auto";
    inside.scrollTop = 40;
    inside.dispatchEvent(new WheelEvent("wheel", { deltaY: -20, bubbles: true }));
    page.grow(200);
    expect(page.gap).toBe(0);
  });

  it("pauses while the user types in the chat", () => {
    const field = page.inner.appendChild(document.createElement("textarea"));
    field.focus();
    page.grow(200);
    expect(page.gap).toBe(200);
    page.box.scrollTop = 10_000;
    field.blur();
    page.grow(200);
    expect(page.gap).toBe(0);
  });

  it("resumes on demand", () => {
    page.wheel(-900);
    expect(away).toBe(true);
    follower.jump();
    expect(page.gap).toBe(0);
    expect(away).toBe(false);
    page.grow(100);
    expect(page.gap).toBe(0);
  });
});
