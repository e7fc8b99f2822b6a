// How a CPU's time is divided, as the columns of the table `cpu`.

/** Work; guests are part of user. */
export const BUSY = ["user_ns", "nice_ns", "system_ns", "irq_ns", "softirq_ns"] as const;

/** No work, waiting for a disk included. */
export const IDLE = ["idle_ns", "iowait_ns"] as const;

/** All of it. */
export const STATES = [...BUSY, ...IDLE, "steal_ns"] as const;
