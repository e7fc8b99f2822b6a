# One runner for people. Every recipe is a script of scripts/, so that it can be read and run alone.

.DEFAULT_GOAL := help
.PHONY: help demo demo-spikes demo-storage demo-scaling demo-sizing demo-phases demo-cluster demo-chain test check lab lab-spikes lab-prove guest-prove soak fuzz bench ui build install-stealmeter fmt

help: ## list these targets
	@echo "usage: make TARGET"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## build what it runs, then watch a PostgreSQL run being diagnosed (5 minutes)
	@scripts/demo.sh

demo-spikes: ## what starts the stall that comes every 15 s: a database whose backends forget its catalogue (6 minutes; root)
	@scripts/demo-spikes.sh

demo-storage: ## is it the CPU or the disk: a blog under JMeter on storage that gets slower (8 minutes; root)
	@scripts/demo-storage.sh

demo-scaling: ## how many databases a host carries, and where one platform overtakes another (7 minutes; root)
	@scripts/demo-scaling.sh

demo-sizing: ## how large a cluster must be: four sizes, their limits, which is best, and what the load did not test (7 minutes; root)
	@scripts/demo-sizing.sh

demo-phases: ## one run, three phases, three reasons: a database is moved to a free host, where its data is cold (4 minutes; root)
	@scripts/demo-phases.sh

demo-cluster: ## what limits six nodes, and how many there should be, by what Prometheus has of them (7 minutes; root)
	@scripts/demo-cluster.sh

demo-chain: ## spikes on one node, what starts them on another, and what they wait for on a third (5 minutes; root)
	@scripts/demo-chain.sh

test: ## everything: format, lints, house rules, all tests
	@scripts/test.sh

check: ## before a commit: format, lints, house rules, unit tests
	@scripts/check.sh

lab: ## run every situation with a known cause 3 times and score the verdicts; SET=strangers-1 BY=record SHARD=2/4
	@SET="$(SET)" BY="$(BY)" SHARD="$(SHARD)" scripts/lab.sh

lab-spikes: ## make spikes whose trigger is known, and score what is found (50 minutes; root); NAMES="grants cpu-burst.missed"
	@NAMES="$(NAMES)" scripts/lab-kept.sh spikes

lab-prove: ## experiment on servers whose limit is known, and score what is proved (40 minutes; root); NAMES="cpu-quota hot-mutex"
	@NAMES="$(NAMES)" scripts/lab-kept.sh prove

guest-prove: ## experiment on a server with cgroup v2 alone, on Debian 13's kernel in an emulated machine (3 minutes)
	@scripts/guest-prove.sh

soak: ## be rough with the program for hours; interrupted, it goes on where it stopped
	@scripts/soak.sh

fuzz: ## feed every parser with hostile bytes, a minute each; scripts/fuzz.sh TARGET SECONDS for more
	@scripts/fuzz.sh

bench: ## what the program costs, as ratios within one run
	@scripts/bench.sh

ui: ## build the report page's program, ui/dist/page.html, which is kept in the repository
	@scripts/ui.sh build

build: ## build the program and the lab into target/release
	@scripts/build.sh

install-stealmeter: ## stealmeter for C: header, libraries and pkg-config file, under PREFIX=/usr/local
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install-stealmeter.sh

fmt: ## format the sources
	@cargo fmt --all
