// Checks for every screen, at every width and in both themes, and screenshots.
import { fileURLToPath } from "node:url";
import { expect, expectAccessible, type Page } from "./page.ts";

const FOLDER = fileURLToPath(new URL("../../test-results/screens/", import.meta.url));
const HEIGHT = 800;

export interface Screen {
  /** The name of the screenshots. */
  name: string;
  /** Navigate to the screen. */
  open: (page: Page) => Promise<void>;
  /** Only for narrow windows: a sheet. */
  narrowOnly?: true;
  /** The screen is animated, so it is captured only once. */
  moving?: true;
  /** The limit of its test in ms, if the default is too short. */
  timeout?: number;
}

/** Check and capture a screen, dark and light, from phone to wide desktop, without navigating again. */
export async function inspectScreen(page: Page, { name, narrowOnly, moving }: Screen): Promise<void> {
  for (const width of narrowOnly ? [375] : [1440, 375]) {
    await page.setViewportSize({ width, height: width === 375 ? 720 : HEIGHT });
    await settled(page);
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      await captureScreen(page, `${name}-${colorScheme}-${width}`);
      // Colours are the same in narrow and wide windows.
      if (width !== 375 || colorScheme === "light") await expectAccessible(page);
    }
    await expectFits(page);
    if (!moving) expect.soft(await smallTargets(page, width === 375 ? FINGER_PX : POINTER_PX)).toEqual([]);
  }
  if (narrowOnly) return;
  for (const width of [768, 1920]) {
    await page.setViewportSize({ width, height: HEIGHT });
    await settled(page);
    await expectFits(page);
    if (width === 768) await expectAccessible(page);
    await captureScreen(page, `${name}-light-${width}`);
  }
}

export async function captureScreen(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `${FOLDER}${name}.png`, animations: "disabled" });
}

/** Wait two frames, until the new width is rendered. */
const settled = (page: Page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Nothing is wider than the window, and only tables and code scroll horizontally. */
export async function expectFits(page: Page): Promise<void> {
  const wide = await page.evaluate(() => {
    const root = document.scrollingElement ?? document.documentElement;
    const scrolls = [...document.querySelectorAll<HTMLElement>("main, aside, nav, [role=dialog], header, footer")]
      .filter(
        (box) =>
          !box.matches(".sr-only") &&
          box.scrollWidth > box.clientWidth + 1 &&
          getComputedStyle(box).overflowX !== "visible",
      )
      .map((box) => `${box.tagName} ${box.getAttribute("aria-label") ?? ""}: ${box.scrollWidth} in ${box.clientWidth}`);
    return root.scrollWidth > innerWidth ? [...scrolls, `page: ${root.scrollWidth} in ${innerWidth}`] : scrolls;
  });
  expect.soft(wide).toEqual([]);
}

/** Minimum target sizes for touch and pointer (WCAG 2.5.8, without its exceptions). */
const FINGER_PX = 32;
const POINTER_PX = 24;

/** Targets that are too small, except links within text. */
export const smallTargets = (page: Page, leastPx: number): Promise<string[]> =>
  page.evaluate((least) => {
    const all = document.querySelectorAll<HTMLElement>(
      "button, a[href], input, select, textarea, label:has(input), [role=option], [role=tab], [role=menuitem], [role=switch]",
    );
    const scrollerOf = (target: Element): Element | undefined => {
      let box = target.parentElement;
      while (box && !/auto|scroll/.test(getComputedStyle(box).overflowY)) box = box.parentElement;
      return box ?? undefined;
    };
    return [...all].flatMap((target) => {
      if (target.closest("[inert], [aria-hidden=true], .prose, table, [data-part=cite]")) return [];
      if (target.matches("label *, .sr-only, [type=hidden], [hidden], p a, dd a, li > a.text-dim")) return [];
      const { width, height, left, top } = target.getBoundingClientRect();
      const isShown = target.checkVisibility({ opacityProperty: true, visibilityProperty: true });
      const [x, y] = [left + width / 2, top + height / 2];
      if (!isShown || width < 2 || y < least || y > innerHeight - least || x < 0 || x > innerWidth) return [];
      // A toast covers other elements for five seconds.
      const isHit = (dx: number, dy: number) => {
        const hit = document.elementFromPoint(x + dx, y + dy);
        return target.contains(hit) || hit?.closest("[data-part=toast]") != null;
      };
      const frame = scrollerOf(target)?.getBoundingClientRect();
      // A partly scrolled row of a list is not too small.
      if (frame && (top < frame.top || top + height > frame.bottom)) return [];
      // Covered elements cannot be hit at all.
      if (!isHit(0, 0)) return [];
      const reach = least / 2 - 1;
      const isSmall = [isHit(-reach, 0), isHit(reach, 0), isHit(0, -reach), isHit(0, reach)].includes(false);
      const name = target.getAttribute("aria-label") ?? target.textContent?.trim().slice(0, 30);
      return isSmall ? [`${target.tagName} ${name}: ${Math.round(width)} × ${Math.round(height)}`] : [];
    });
  }, leastPx);
