// @vitest-environment jsdom
import { fireEvent, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { click, go, open, pass, rows, scriptServer, server } from "../../fixtures/operatorServer.tsx";
import { accessToken } from "../../state/server/accessToken.ts";

scriptServer();

describe("the runs on the operator's page", () => {
  it("keeps the filter in its address, and shows only the runs that match", async () => {
    await open();
    fireEvent.change(screen.getByRole("combobox", { name: "Loop" }), { target: { value: "v2" } });
    fireEvent.change(screen.getByRole("combobox", { name: "Model" }), { target: { value: "maker/model-3" } });
    expect(location.search + location.hash).toBe("?loop=v2&model=maker%2Fmodel-3#runs");
    await pass(500);
    expect(rows().map((row) => row.textContent)).toEqual([expect.stringContaining("maker/model-3")]);
    fireEvent.change(screen.getByRole("combobox", { name: "Loop" }), { target: { value: "legacy" } });
    await pass(500);
    expect(screen.getByText("No runs match these filters.")).toBeTruthy();
    click("button", "Clear filters");
    await pass(500);
    expect(rows()).toHaveLength(4);
    expect(location.search).toBe("");
  });

  it("says at the field why the filter is rejected, and does not send it again", async () => {
    await open();
    const code = screen.getByRole<HTMLInputElement>("combobox", { name: "Code" });
    fireEvent.change(code, { target: { value: "FOO" } });
    await pass(500);
    expect(screen.getByRole("alert").textContent).toBe("There is no code 'FOO'.");
    expect(code.getAttribute("aria-invalid")).toBe("true");
    expect(screen.queryByText("Loading…")).toBeNull();
    expect(screen.queryByRole("heading", { name: "Matching runs" })).toBeNull();
    await pass(20_000);
    const sent = vi.mocked(fetch).mock.calls.filter(([path]) => String(path).includes("code=FOO"));
    expect(sent).toHaveLength(1);
    await go("loop");
    expect(screen.queryByRole("alert")).toBeNull();
    await go("runs");
    click("button", "Clear filters");
    await pass(500);
    expect(rows()).toHaveLength(4);
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("opens with a filter that the server rejects", async () => {
    history.replaceState(null, "", "/operator?code=FOO");
    await open();
    expect(screen.getByRole("alert").textContent).toBe("There is no code 'FOO'.");
  });

  it("says that the runs are those of the API token", async () => {
    accessToken.keep("adas", false);
    try {
      await open();
      expect(screen.getByText(/only your own/)).toBeTruthy();
      await go("spend");
      expect(screen.getByText(/your own runs cost/)).toBeTruthy();
      expect(screen.queryByText(/^Only the operator/)).toBeNull();
    } finally {
      accessToken.forget();
    }
  });

  it("begins with the filter of its address", async () => {
    history.replaceState(null, "", "/operator?loop=legacy&unknown=1");
    await open();
    expect(rows()).toHaveLength(2);
    expect(screen.getByRole<HTMLSelectElement>("combobox", { name: "Loop" }).value).toBe("legacy");
  });

  it("downloads the runs that match as NDJSON, and says why if that fails", async () => {
    const blobs: Blob[] = [];
    URL.createObjectURL = (blob: Blob) => `blob:${blobs.push(blob)}`;
    URL.revokeObjectURL = () => undefined;
    await open();
    fireEvent.change(screen.getByRole("combobox", { name: "Status" }), { target: { value: "error" } });
    click("button", "Export NDJSON");
    await pass(200);
    expect(server.exported).toBe("?status=error");
    expect(blobs.map(({ type }) => type)).toEqual(["application/x-ndjson"]);
    server.up = false;
    click("button", "Export NDJSON");
    await pass(200);
    expect(screen.getByText(/^Not exported\. Signalbox is not responding/)).toBeTruthy();
  });

  it("loads older runs on demand, and keeps them over refreshes", async () => {
    server.runs = 70;
    await open();
    expect(rows()).toHaveLength(50);
    click("button", "Load older runs");
    await pass(200);
    expect(rows()).toHaveLength(70);
    expect(screen.queryByRole("button", { name: "Load older runs" })).toBeNull();
    server.runs = 72;
    await pass(5200);
    expect(rows()).toHaveLength(72);
    expect(rows()[0]?.textContent).toContain("maker/model-72");
  });
});
