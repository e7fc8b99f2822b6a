// Resources: what the machine's parts and the control groups did in the window.

import type { ComponentType } from "preact";
import { absent } from "../charts/gaps";
import { Cpus } from "./Cpus";
import { Database } from "./Database";
import { Disks } from "./Disks";
import { Filesystems } from "./Filesystems";
import { Followed } from "./Followed";
import { Groups } from "./Groups";
import { Memory } from "./Memory";
import { Network } from "./Network";
import { Readable } from "./Readable";
import "./Resources.css";
import { Scraped } from "./Scraped";
import { SERVER_PARTS } from "./Servers";
import type { Section } from "./section";
import { usePage } from "./state";

export const RESOURCES: Section = { id: "resources", title: "Resources", view: Resources };

function Resources() {
  const { recording } = usePage();
  return (
    <div class="resources">
      <Part id="cpus" title="CPUs" table="cpu" view={Cpus} />
      <Part id="memory" title="Memory" table="memory" view={Memory} />
      <Part id="disks" title="Disks" table="disk" view={Disks} />
      <Part id="network" title="Network" table="network" view={Network} />
      <Part id="groups" title="Control groups" table="cgroup_cpu" view={Groups} />
      <Part id="filesystems" title="Filesystems" table="filesystem" view={Filesystems} />
      <Part id="postgres" title="PostgreSQL" table="database" view={Database} />
      {SERVER_PARTS.filter(
        // Nobody misses them where nobody asked for them.
        ({ table }) => recording.table(table) || absent(recording, table),
      ).map(({ table, title, view }) => (
        <Part key={table} id={table} title={title} table={table} view={view} />
      ))}
      <Part id="scraped" title="Prometheus endpoint" table="scraped" view={Scraped} />
    </div>
  );
}

interface PartProps {
  readonly id: string;
  readonly title: string;
  /** The table without which there is nothing to show. */
  readonly table: string;
  readonly view: ComponentType;
}

/** A part of the section; without its table, one line that says why. */
function Part({ id, title, table, view }: PartProps) {
  const { recording } = usePage();
  if (recording.table(table) !== undefined) {
    return (
      <section class="card" id={id} aria-labelledby={`${id}-title`}>
        <h3 id={`${id}-title`}>{title}</h3>
        <Readable>
          <Followed view={view} />
        </Readable>
      </section>
    );
  }
  const why = absent(recording, table) ?? WHEN[table];
  return (
    <p class="muted not-recorded" id={id}>
      <b>{title}</b>: not recorded{why ? `: ${why}` : ""}.
    </p>
  );
}

/** What has to be asked for. */
const WHEN: Readonly<Record<string, string>> = {
  database: "PostgreSQL is asked with --postgres only",
  scraped: "an endpoint is asked with --scrape only",
  filesystem: "no filesystem of a target was found",
};
