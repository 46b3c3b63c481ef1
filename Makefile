# SPDX-License-Identifier: GPL-2.0-only
#
#   make            build build/ntprof-bpf
#   make demo       two virtual machines, live histograms and stages of real NVMe/TCP I/O
#   make check      all tests
#   make bench      what tracing costs, in instructions per I/O; BENCH="both host" picks rows
#   make bench-report   how fast report merges, and in how much memory
#   make install    to $(DESTDIR)$(PREFIX)
#
# CC=clang or CC=gcc; SANITIZE=address,undefined builds user space with sanitizers.

PREFIX ?= /usr/local
BUILD ?= build
CLANG ?= clang
BPFTOOL ?= $(firstword $(shell PATH="$$PATH:/usr/sbin:/sbin" sh -c 'command -v bpftool') bpftool)
V ?= 0
Q := $(if $(filter 1,$(V)),,@)

VERSION := 0.1.0
CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Werror
ALL_CFLAGS := -std=gnu11 $(WARNINGS) $(CFLAGS) -Isrc -I$(BUILD) -DNTPROF_VERSION='"$(VERSION)"'
LIBS := -lbpf -lelf -lz -lm
ifneq ($(SANITIZE),)
ALL_CFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

ARCH := $(shell uname -m | sed -e 's/x86_64/x86/' -e 's/aarch64/arm64/')
BPF_CFLAGS := -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) $(WARNINGS) \
	-Wno-unused-parameter -Ivmlinux -Isrc

SOURCES := $(wildcard src/*.c src/*/*.c)
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/%.o)
SKELETONS := $(BUILD)/host.skel.h $(BUILD)/target.skel.h
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*/test_*.c))
# What does not need BPF can be tested by itself.
UNIT_OBJECTS := $(patsubst src/%.c,$(BUILD)/%.o, \
	$(wildcard $(addprefix src/,$(addsuffix /*.c,core stream merge peer view))))
BENCH_PROGRAMS := $(addprefix $(BUILD)/bench/,attach empty.bpf.o empty_stock.bpf.o)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all deps demo check check-unit unit bench bench-report install clean

all: $(BUILD)/ntprof-bpf

deps:
	$(Q)tests/install-packages

demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/demo

check: deps
	$(Q)$(MAKE) --no-print-directory all unit
	$(Q)tests/check

bench: deps
	$(Q)$(MAKE) --no-print-directory all $(BENCH_PROGRAMS)
	$(Q)BUILD=$(BUILD) BENCH='$(BENCH)' tests/bench/overhead

bench-report: deps
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/bench/generate
	$(Q)BUILD=$(BUILD) tests/bench/report

unit: $(UNIT_TESTS)

$(BUILD)/ntprof-bpf: $(OBJECTS)
	@echo "  LINK    $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: src/%.c $(SKELETONS)
	@echo "  CC      $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.bpf.o: bpf/%.bpf.c | $(BUILD)
	@echo "  BPF     $@"
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	@echo "  SKEL    $@"
	$(Q)$(BPFTOOL) gen skeleton $< name nt_$* >$@

$(BUILD)/unit/%: tests/unit/%.c $(UNIT_OBJECTS)
	@echo "  UNIT    $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -MMD -MP -o $@ $< $(UNIT_OBJECTS) -lcmocka -lz -lm $(LDFLAGS)

$(BUILD)/bench/%: tests/bench/%.c $(UNIT_OBJECTS) | $(BUILD)/bench
	@echo "  BENCH   $@"
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -MMD -MP -o $@ $< $(UNIT_OBJECTS) $(LIBS) $(LDFLAGS)

$(BUILD)/bench/%.bpf.o: tests/bench/%.bpf.c | $(BUILD)/bench
	@echo "  BPF     $@"
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD) $(BUILD)/bench:
	$(Q)mkdir -p $@

install: all
	install -D -m 755 $(BUILD)/ntprof-bpf $(DESTDIR)$(PREFIX)/sbin/ntprof-bpf

clean:
	rm -rf $(BUILD)

-include $(wildcard $(BUILD)/*.d $(BUILD)/*/*.d $(BUILD)/unit/*/*.d)
