// @vitest-environment jsdom
// A component that loads on demand: it has a fallback while loading and none afterwards.
import { act, cleanup, render, screen } from "@testing-library/react";
import { type ComponentType, Suspense } from "react";
import { afterEach, expect, it, vi } from "vitest";
import { later } from "./later.tsx";

interface Props {
  name: string;
}

const Hello = ({ name }: Props) => <p>Hello {name}</p>;

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const shown = (Component: ComponentType<Props>) => (
  <Suspense fallback={<p>waiting</p>}>
    <Component name="Ada" />
  </Suspense>
);

it("shows the fallback until the component is there", async () => {
  const { promise, resolve } = Promise.withResolvers<ComponentType<Props>>();
  await act(async () => render(shown(later(() => promise))));
  expect(screen.getByText("waiting")).toBeTruthy();
  await act(async () => resolve(Hello));
  expect(await screen.findByText("Hello Ada")).toBeTruthy();
});

it("renders a preloaded component at once, and loads it once", async () => {
  const load = vi.fn(async () => Hello);
  const Shown = later<Props>(load);
  await Promise.all([Shown.preload(), Shown.preload()]);
  render(shown(Shown));
  expect(screen.getByText("Hello Ada")).toBeTruthy();
  expect(load).toHaveBeenCalledTimes(1);
});

it("retries a failed load, and the component appears", async () => {
  vi.useFakeTimers();
  const load = vi.fn(async () => Hello as ComponentType<Props>);
  load.mockRejectedValueOnce(new Error("unreachable"));
  await act(async () => render(shown(later(load))));
  expect(screen.getByText("waiting")).toBeTruthy();
  await act(() => vi.advanceTimersByTimeAsync(500));
  expect(screen.getByText("Hello Ada")).toBeTruthy();
  expect(load).toHaveBeenCalledTimes(2);
});

it("keeps retrying while the browser is offline", async () => {
  vi.useFakeTimers();
  const offline = vi.spyOn(navigator, "onLine", "get").mockReturnValue(false);
  const load = vi.fn(async () => Hello as ComponentType<Props>);
  load.mockRejectedValue(new Error("offline"));
  await act(async () => render(shown(later(load))));
  await act(() => vi.advanceTimersByTimeAsync(3_600_000));
  expect(screen.getByText("waiting")).toBeTruthy();
  offline.mockReturnValue(true);
  load.mockResolvedValue(Hello);
  await act(async () => window.dispatchEvent(new Event("online")));
  expect(screen.getByText("Hello Ada")).toBeTruthy();
});

it("loads a component again whose preload failed", async () => {
  vi.useFakeTimers();
  const load = vi.fn(async () => Hello as ComponentType<Props>);
  load.mockRejectedValue(new Error("unreachable"));
  const Shown = later<Props>(load);
  const failed = Shown.preload();
  await vi.runAllTimersAsync();
  expect(await failed).toBe(false);
  expect(load).toHaveBeenCalledTimes(5);
  load.mockResolvedValue(Hello);
  expect(await Shown.preload()).toBe(true);
  render(shown(Shown));
  expect(screen.getByText("Hello Ada")).toBeTruthy();
});

it("is the same component before and after loading, so that nothing is remounted", async () => {
  const { promise, resolve } = Promise.withResolvers<ComponentType<Props>>();
  const Shown = later<Props>(() => promise);
  const view = await act(async () => render(shown(Shown)));
  await act(async () => resolve(Hello));
  const before = await screen.findByText("Hello Ada");
  await act(async () => view.rerender(shown(Shown)));
  expect(screen.getByText("Hello Ada")).toBe(before);
});
