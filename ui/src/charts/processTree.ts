// To whom a process belongs: the service it is part of, the pool that its threads are of.

import type { PageEntity, Role } from "../data/page.gen";

/** A process and the service that it is part of. */
export interface Kin {
  readonly role: Role;
  readonly name: string;
  readonly path: string;
  /** `pid 1234`. */
  readonly number: string;
  readonly serving: boolean;
  /** Tells services of a role apart. */
  readonly service: string;
  readonly serviceName: string;
  /** A control group's path, or the number of the first process of a tree; empty where neither is known. */
  readonly serviceDetail: string;
}

/** A process's kin; `place` must be one of `entities`. */
export function kinOf(entities: readonly PageEntity[], place: number): Kin {
  const entity = entities[place];
  if (entity === undefined) throw new RangeError(`there is no entity ${place}`);
  const { name, path, role, serving } = entity;
  return { role, name, path, serving, number: numberOf(path), ...serviceOf(entities, entity) };
}

function serviceOf(
  entities: readonly PageEntity[],
  process: PageEntity,
): Pick<Kin, "service" | "serviceName" | "serviceDetail"> {
  // A stranger is known best by its control group, one of the run's own by the process tree.
  const group = process.group == null ? undefined : entities[process.group];
  if (process.role === "rest" && group !== undefined && group.path !== "/") {
    const { path, name } = group;
    return { service: `group ${path}`, serviceName: name, serviceDetail: path };
  }
  const root = rootOf(entities, process);
  if (isKernel(root)) {
    return { service: "kernel", serviceName: "kernel threads", serviceDetail: "kthreadd" };
  }
  if (root.parent == null) {
    // Who has no known parent is of those that have its name.
    const serviceName = pattern(root.name);
    return { service: `name ${serviceName}`, serviceName, serviceDetail: "" };
  }
  return {
    service: `tree ${root.path}`,
    serviceName: root.name,
    serviceDetail: numberOf(root.path),
  };
}

/** The highest process of the same role above one; of the rest the one below the first of all. */
function rootOf(entities: readonly PageEntity[], process: PageEntity): PageEntity {
  let root = process;
  // Parents that are each other's, which only a damaged recording has, end somewhere.
  for (let steps = 0; steps < entities.length; steps++) {
    const parent = root.parent == null ? undefined : entities[root.parent];
    if (parent === undefined || parent.role !== process.role) break;
    if (process.role === "rest" && parent.parent == null && !isKernel(parent)) break;
    root = parent;
  }
  return root;
}

/** The parent of the kernel's own threads. */
function isKernel({ name, path }: PageEntity): boolean {
  return name === "kthreadd" && path.startsWith("pid:2@");
}

function numberOf(path: string): string {
  const number = path.match(/^pid:(\d+)/)?.[1];
  return number === undefined ? path : `pid ${number}`;
}

/** What names of a pool have in common: `worker-#` of `worker-12`. */
export function pattern(name: string): string {
  // The kernel's workers are called by what they do just now.
  return name.startsWith("kworker/") ? "kworker" : name.replace(/\d+/g, "#");
}
