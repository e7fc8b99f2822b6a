// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How long was each CPU of a control group stalled?
 *
 * Hooks: none. User space runs the three programs: `locate` once, `monitored` at any time, `totals`
 * every 2 s.
 * Cost: some us for the machine, 0.3-0.5 us per group and CPU.
 * Kernel: 6.10 for groups in programs that user space runs (commit a8e03b6bbb2c), PSI switched on;
 * x86-64, because no other architecture has this_cpu_off, with which `locate` checks its result.
 * Reading changes nothing: it does not trigger the kernel's own fold, as every reader of the files
 * does.
 * Lost: nothing. Times are absolute; if an interrupted writer tears a reading 16 times, the next
 * reading gets the value, and `readings` does not change.
 */
#include "lib/kernel.bpf.h"
#include "lib/kfunc.bpf.h"
#include "pressure.h"

/* A writer may be preempted in the middle of its update: further attempts do not help then. */
#define MOST_TRIES 16
/* From state_mask to the end of state_start, with room for more states. */
#define MOST_STATE_BYTES 96

/* Number of a state that this kernel does not have. */
#define NONE 0xffffffff

/* The kernel's number of each of our states (enum psi_states), which depends on its
 * configuration. */
const volatile __u32 number_by_state[PSI_GROUP_STATES];
const volatile __u32 cpus = 1;
/* Offsets from `runqueues` to the other per-CPU variables, from the kernel's BTF. */
const volatile __s64 to_system_group_pcpu;
const volatile __s64 to_psi_seq;
const volatile __s64 to_this_cpu_off;

/* Set by `locate`: per-CPU addresses. */
__u64 system_group_pcpu;
__u64 psi_seq;
/* Set by `totals` once there is any group: the machine's struct psi_group. */
__u64 psi_system;
/* Groups that the last run of `totals` found. */
__u32 groups;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} anchor SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pressure_cpu);
} place_by_cpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PRESSURE_MOST_MONITORED);
	__type(key, __u32);
	__type(value, struct pressure_monitored);
} monitored_by_slot SEC(".maps");

/* Index: slot x cpus + CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PRESSURE_MOST_MONITORED);
	__type(key, __u32);
	__type(value, struct psi_group_reading);
} stall_by_slot_and_cpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PRESSURE_MOST_GROUPS);
	__type(key, __u32);
	__type(value, struct pressure_total);
} total_by_index SEC(".maps");

/* Cleared in a group that was removed but is still referenced, perhaps for long
 * (include/linux/cgroup-defs.h). */
#define CSS_ONLINE 2
/* BPF_CGROUP_ITER_DESCENDANTS_PRE */
#define PARENTS_FIRST 2
/* The root's id (kernfs counts from 1). */
#define ROOT_ID 1

/* An address as a number: the verifier allows no arithmetic on a pointer, but reads of any
 * memory. */
static __always_inline __u64 address(const void *pointer)
{
	const void *volatile slot = pointer;
	__u64 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), (void *)&slot);
	return number;
}

static long place_cpu(__u32 cpu, __u64 *pptr)
{
	struct pressure_cpu *place = bpf_map_lookup_elem(&place_by_cpu, &cpu);
	__u32 first = 0;
	void *element = bpf_map_lookup_percpu_elem(&anchor, &first, cpu);

	if (!place || !element)
		return 1;
	place->offset = address(element) - *pptr;
	return 0;
}

/* Finds the addresses of per-CPU variables. Without KALLSYMS_ALL they cannot be looked up by
 * name. */
SEC("syscall")
int locate(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 map = address(&anchor), pptr = 0, runqueues, check = 0;
	struct pressure_cpu *place;
	__u32 cpu;
	struct rq *rq;

	bpf_probe_read_kernel(&pptr, sizeof(pptr),
			      (void *)(map + bpf_core_field_offset(struct bpf_array, pptrs)));
	bpf_loop(cpus, place_cpu, &pptr, 0);

	rq = BPF_CORE_READ(task, se.cfs_rq, rq);
	cpu = BPF_CORE_READ(rq, cpu);
	place = bpf_map_lookup_elem(&place_by_cpu, &cpu);
	if (!place)
		return 1;
	runqueues = (__u64)rq - place->offset;
	/* Each CPU's this_cpu_off holds its own offset: if it matches, all of the above is
	 * right. */
	bpf_probe_read_kernel(&check, sizeof(check),
			      (void *)(runqueues + to_this_cpu_off + place->offset));
	if (check != place->offset)
		return 2;
	/* Without either sequence count a torn reading could not be detected. */
	if (!to_psi_seq && !bpf_core_field_exists(struct psi_group_cpu___own_sequence, seq))
		return 3;
	system_group_pcpu = runqueues + to_system_group_pcpu;
	psi_seq = runqueues + to_psi_seq;
	return 0;
}

struct reading {
	/* The group's per-CPU times, a per-CPU address. */
	__u64 pcpu;
	__u32 slot;
};

static __u32 sequence(__u64 count)
{
	__u32 value = 1;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)count);
	return value;
}

#define STATE_OFFSET(field) \
	(bpf_core_field_offset(struct psi_group_cpu, field) - \
	 bpf_core_field_offset(struct psi_group_cpu, state_mask))
#define STATE_BYTES (STATE_OFFSET(state_start) + sizeof(__u64))

/* A time of the kernel's as of `now`, with the present state added. */
static __u32 time_in(const char *state, __u32 number, __u64 now)
{
	__u32 mask = *(__u32 *)state, ns = 0;
	__u64 since = *(__u64 *)(state + STATE_OFFSET(state_start));
	__u64 at = STATE_OFFSET(times) + number * sizeof(__u32);

	if (number == NONE || at > MOST_STATE_BYTES - sizeof(__u32))
		return 0;
	ns = *(__u32 *)(state + at);
	if (mask & (1u << number))
		ns += (__u32)(now - since);
	return ns;
}

static long read_cpu(__u32 cpu, struct reading *reading)
{
	char state[MOST_STATE_BYTES] __attribute__((aligned(8))) = {};
	struct pressure_cpu *place = bpf_map_lookup_elem(&place_by_cpu, &cpu);
	__u32 key = reading->slot * cpus + cpu, before;
	struct psi_group_reading *stall = bpf_map_lookup_elem(&stall_by_slot_and_cpu, &key);
	__u64 own, count, now = 0;
	int tries, ours;

	if (!place || !stall || STATE_BYTES > sizeof(state))
		return 1;
	own = reading->pcpu + place->offset;
	count = bpf_core_field_exists(struct psi_group_cpu___own_sequence, seq) ?
			own + bpf_core_field_offset(struct psi_group_cpu___own_sequence, seq) :
			psi_seq + place->offset;
	for (tries = 0; tries < MOST_TRIES; tries++) {
		before = sequence(count);
		if (before & 1)
			continue;
		bpf_probe_read_kernel(state, STATE_BYTES,
				      (void *)(own + bpf_core_field_offset(struct psi_group_cpu,
									   state_mask)));
		now = bpf_ktime_get_boot_ns() + place->clock_ahead_ns;
		if (sequence(count) == before)
			break;
	}
	if (tries == MOST_TRIES)
		return 0;
	for (ours = 0; ours < PSI_GROUP_STATES; ours++)
		stall->ns[ours] = time_in(state, number_by_state[ours], now);
	stall->readings++;
	return 0;
}

static long read_slot(__u32 slot, void *ctx)
{
	struct pressure_monitored *monitored = bpf_map_lookup_elem(&monitored_by_slot, &slot);
	struct reading reading = { .slot = slot };
	struct psi_group *psi = (void *)psi_system;
	struct cgroup *group;

	if (!monitored)
		return 1;
	/* The root group has no pressure of its own: it is the machine's (cgroup_psi in
	 * linux/cgroup.h). */
	if (slot == 0 || monitored->id == ROOT_ID) {
		reading.pcpu = system_group_pcpu;
		monitored->alive = 1;
		monitored->folded_at = psi ? BPF_CORE_READ(psi, avg_last_update) : 0;
	} else if (monitored->id) {
		group = bpf_cgroup_from_id(monitored->id);
		monitored->alive = 0;
		if (!group)
			return 0;
		psi = BPF_CORE_READ(group, psi);
		reading.pcpu = (__u64)BPF_CORE_READ(psi, pcpu);
		monitored->alive = !bpf_core_field_exists(psi->enabled) || BPF_CORE_READ(psi, enabled);
		monitored->folded_at = BPF_CORE_READ(psi, avg_last_update);
		bpf_cgroup_release(group);
	}
	if (reading.pcpu)
		bpf_loop(cpus, read_cpu, &reading, 0);
	return 0;
}

/* Reads the machine and the monitored groups, CPU by CPU. */
SEC("syscall")
int monitored(void *ctx)
{
	bpf_loop(PRESSURE_MOST_MONITORED, read_slot, NULL, 0);
	return 0;
}

static int take_total(struct cgroup *group)
{
	struct psi_group *psi = BPF_CORE_READ(group, psi);
	__u64 folded = (__u64)psi + bpf_core_field_offset(struct psi_group, total);
	__u32 index = groups;
	struct pressure_total *total = bpf_map_lookup_elem(&total_by_index, &index);
	__u32 number;
	int ours;

	if (!psi || (bpf_core_field_exists(psi->enabled) && !BPF_CORE_READ(psi, enabled)))
		return 0;
	if (!psi_system && bpf_core_field_exists(psi->parent)) {
		struct psi_group *parent = BPF_CORE_READ(psi, parent);

		if (parent && !BPF_CORE_READ(parent, parent))
			psi_system = (__u64)parent;
	}
	/* Further groups are not measured at all; user space reports that where it looks for
	 * groups. */
	if (!total)
		return 0;
	total->id = BPF_CORE_READ(group, kn, id);
	for (ours = 0; ours < PSI_GROUP_NONIDLE; ours++) {
		number = number_by_state[ours];
		if (number != NONE)
			bpf_probe_read_kernel(&total->ns[ours], sizeof(__u64),
					      (void *)(folded + number * sizeof(__u64)));
	}
	groups = index + 1;
	return 0;
}

/* Reads the kernel's own totals of every group, as of its last fold. */
SEC("syscall")
int totals(void *ctx)
{
	struct cgroup *root = bpf_cgroup_from_id(ROOT_ID);
	struct cgroup_subsys_state *css;
	struct bpf_iter_css it;

	groups = 0;
	if (!root)
		return 1;
	bpf_rcu_read_lock();
	bpf_iter_css_new(&it, &root->self, PARENTS_FIRST);
	while ((css = bpf_iter_css_next(&it)))
		if (css->flags & CSS_ONLINE)
			take_total(css->cgroup);
	bpf_iter_css_destroy(&it);
	bpf_rcu_read_unlock();
	bpf_cgroup_release(root);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
