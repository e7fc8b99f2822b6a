import { afterEach, describe, expect, it, vi } from "vitest";
import { golden } from "../../tests/drawn";
import { askedReport, reportAddress } from "./served";

const PAGE = "http://127.0.0.1:7000/abc123/";
const WINDOW = { from: 1.5e9, to: 8_000_123_456 };

function answers(status: number, body: string) {
  const fetched = vi.fn(async () => new Response(body, { status }));
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

const asked = (signal = new AbortController().signal) => askedReport(PAGE, WINDOW, signal);

afterEach(() => vi.unstubAllGlobals());

describe("asking about a window", () => {
  it("asks beside the page, in whole nanoseconds", () => {
    expect(reportAddress(PAGE, WINDOW)).toBe(
      "http://127.0.0.1:7000/abc123/report.json?from=1500000000&to=8000123456",
    );
    expect(reportAddress(`${PAGE}#who`, { from: -0.4, to: 1 })).toContain("from=0&to=1");
  });

  it("gives the report", async () => {
    const report = golden("cpu-quota");
    const fetched = answers(200, JSON.stringify(report));
    expect(await asked()).toEqual(report);
    expect(fetched).toHaveBeenCalledOnce();
  });

  it("says what Stallscope says where it cannot", async () => {
    answers(400, JSON.stringify({ error: "the recording holds nothing there" }));
    await expect(asked()).rejects.toThrow("the recording holds nothing there");
  });

  it("says so where the answer is no report", async () => {
    answers(502, "<html>");
    await expect(asked()).rejects.toThrow("status 502");
    answers(200, "{}");
    await expect(asked()).rejects.toThrow("status 200");
  });

  it("says so where nobody answers, and is silent where it was called back", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no connection")));
    await expect(asked()).rejects.toThrow("has `stallscope report --serve` ended?");
    const stop = new AbortController();
    stop.abort();
    await expect(asked(stop.signal)).rejects.toThrow("no connection");
  });
});
