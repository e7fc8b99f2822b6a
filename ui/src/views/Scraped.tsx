// What an endpoint in Prometheus's format served: the series that change most.

import { useMemo } from "preact/hooks";
import { changed, scrapedLanes } from "../charts/scraped";
import { integer } from "../data/format";
import { LaneChart } from "./LaneChart";
import { usePage, useTables } from "./state";

/** Series that are drawn. */
const MOST = 8;

export function Scraped() {
  const { recording, window } = usePage();
  const tables = useTables("scraped");
  const all = useMemo(
    () => tables && changed(recording, tables, window),
    [recording, tables, window],
  );
  const lanes = useMemo(
    () => tables && all && scrapedLanes(recording, tables, all.slice(0, MOST)),
    [recording, tables, all],
  );
  if (all === undefined || lanes === undefined)
    return <p class="muted">Reading the endpoint's series…</p>;
  if (lanes.length === 0) return <p class="muted">No series changed in this window.</p>;
  const others = all.length - lanes.length;
  return (
    <>
      <p class="summary muted">
        The series that vary most in proportion to their mean; counters per second, each in the unit
        that its name gives.
        {others > 0 && ` ${integer(others)} more changed.`} One by one:{" "}
        <a href="#explore?chart=scraped.counter_millionths">counters</a>,{" "}
        <a href="#explore?chart=scraped.gauge_millionths">gauges</a>.
      </p>
      <LaneChart lanes={lanes} label="the endpoint's series" />
    </>
  );
}
