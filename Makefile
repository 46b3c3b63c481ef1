# SPDX-License-Identifier: GPL-2.0-only
#
#   make            build build/ntprof-bpf
#   make demo       two virtual machines, live histograms and stages of real NVMe/TCP I/O
#   make look       what it makes of a recording of two machines, one with a slow disk; needs no virtual machine
#   make picture    README's picture of a report, made of the one that make demo has left
#   make screenshot     two virtual machines again, and docs/live.svg: what the live view shows of them; make check draws it only
#   make check      the tests that fit into a quarter of an hour, on the machines that a change may break first
#   make check-all  all tests on every kernel of tests/kinds.txt
#   make check-debug    machine tests on a kernel with KASAN, lockdep and kmemleak, built from SOURCE=
#   make check-quick    before each commit: what has a chance to fail, in three minutes
#   make static     what can be said without running anything: make lint, and the order of the rooms
#   make lint       clang-tidy, cppcheck and shellcheck
#   make analyze    clang's analyzer: what lint takes too long for
#   make format     clang-format all C files
#   make mutants    changes of one line, each of which a unit test has to notice: those of tests/mutants/list, or of LIST=FILE;
#                   FILES=PATTERN picks some, ALL=1 runs all unit tests
#   make soak       serve for MINUTES=10 under load, resets, reloads, a full disk, suspend and more: what it takes is level
#   make fuzz-long  fuzzing for HOURS=1, from what such runs have found, which is kept in tests/fuzz/corpus
#   make bench      what tracing costs, in instructions per I/O; BENCH="both host" picks rows,
#                   WORKLOADS='read4k-*' and KINDS=stock what they are measured with
#   make bench-report   how fast report merges, and in how much memory
#   make bench-sizes    what machines of some sizes need: memory, and time of an interval; as root
#   make compile_commands.json   for editors and clang-tidy: how each C file is compiled
#   make install    the program, its manual pages, completion of shells and systemd unit, to $(DESTDIR)$(prefix)
#   make uninstall  takes away what that put there
#   make static-program     build/ntprof-bpf-static, which needs no library of the machine that it runs on
#   make dist       build/ntprof-bpf-VERSION.tar.xz, which builds without git
#   make deb        Debian packages of it and of its kernel patches, in build/deb
#   make dkms-deb   the latter alone, in build/dkms-deb: DKMS builds the two drivers with tracepoints for each kernel
#   make static-deb     the package of the program with the static one, for Ubuntu, in build/static-deb
#   make rpm        an RPM of it, in build/rpm: of the static program where the distribution has none (RPM_WITH=)
#   make image      build/ntprof-bpf-VERSION-oci.tar, an OCI image of the static program
#   make release    what is delivered, for amd64 and arm64, in build/release, from a clean clone; as root
#   make check-release  makes that, and looks whether it is what it should be: twice the same, installed, run; then check-deb,
#                   check-dkms of both suites, check-distro, and image and static program in test machines: an hour; as root
#   make check-deb  builds that in one bare Debian, twice, and installs it in another; as root
#   make check-dkms     installs, upgrades and removes that with kernels in a bare root of SUITE=bookworm or trixie; as root
#   make check-compilers    gcc 12 to 16, clang 14 to the newest: no warning, and each kernel takes the BPF programs; as root
#   make check-distro   installs it where systemd runs, with Prometheus, in a virtual machine; as root
#   make check-fleet    a real Prometheus with the pages of NODES=1000 machines: what these need; SERIES=8 with the largest pages of that limit
#   make check-newcomer clone, make demo and make check in a bare root of SUITE=bookworm, trixie, testing; as root
#   make clean      remove what was built
#   make help       this list
#
# ARCH=arm64 on a machine of another kind: what is compiled is for that, in build/arm64, by gcc-aarch64-linux-gnu and with Debian's
# libraries of that architecture, which are unpacked in the cache (tests/vm/root).
# CC=clang or CC=gcc; SANITIZE=address,undefined builds user space with sanitizers; HARDENING= builds without what the compiler
# and the linker have against attackers.

PREFIX ?= /usr/local
prefix ?= $(PREFIX)
sbindir ?= $(prefix)/sbin
mandir ?= $(prefix)/share/man
completionsdir ?= $(prefix)/share/bash-completion/completions
zshdir ?= $(prefix)/share/zsh/site-functions
fishdir ?= $(prefix)/share/fish/vendor_completions.d
unitdir ?= $(prefix)/lib/systemd/system
INSTALL ?= install
# As libbpf's bpf_tracing.h calls them.
HERE := $(shell uname -m | sed -e 's/x86_64/x86/' -e 's/aarch64/arm64/')
ARCH := $(HERE)
ifneq ($(ARCH),$(HERE))
CROSS := $(ARCH:arm64=aarch64)-linux-gnu-
BUILD ?= build/$(ARCH)
CC := $(CROSS)gcc --sysroot=$(BUILD)/root
AR := $(CROSS)ar
# A CC of its own, on the command line, has libraries of its own.
CROSS_ROOT := $(if $(findstring --sysroot=$(BUILD)/root,$(CC)),$(BUILD)/root)
endif
BUILD ?= build
CLANG ?= clang
BPFTOOL ?= $(firstword $(shell PATH="$$PATH:/usr/sbin:/sbin" sh -c 'command -v bpftool') bpftool)
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
comma := ,

# The only place of it: see also $(BUILD)/version.
VERSION := 0.1.0
CFLAGS ?= -O2 -g
WERROR ?= -Werror
WARNINGS := -Wall -Wextra -Wno-unused-parameter $(WERROR)
# What makes a fault harder to use; HARDENING= leaves it to CFLAGS and LDFLAGS. _FORTIFY_SOURCE takes a compiler that optimizes,
# and what sanitizers look at it replaces.
HARDENING ?= -fPIE -fstack-protector-strong \
	$(if $(SANITIZE),,$(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARDENING_LINK := $(if $(HARDENING),-pie -Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now)
ALL_CFLAGS := -std=gnu11 -D_GNU_SOURCE $(WARNINGS) $(HARDENING) $(CPPFLAGS) $(CFLAGS) -Isrc -I$(BUILD) -DNTPROF_VERSION='"$(VERSION)"' \
	$(if $(SANITIZE),,-ffile-prefix-map=$(CURDIR)=.)
LIBS := -lbpf -lelf -lz -ldeflate -ljson-c -lseccomp -lm
ifneq ($(SANITIZE),)
ALL_CFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
# Optimizing what sanitizers add takes longer than the tests of these folders run.
$(foreach folder,cli peer serve view,$(BUILD)/$(folder)/%.o $(BUILD)/unit/$(folder)/%): private ALL_CFLAGS += -O0
endif

BPF_CFLAGS := -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) $(WARNINGS) \
	-Ivmlinux -Isrc -ffile-prefix-map=$(CURDIR)=. $(BPF_CPPFLAGS)

COMPILE = $(CC) $(ALL_CFLAGS)
COMPILE_TEST = $(COMPILE) -Itests/unit
COMPILE_BPF = $(CLANG) $(BPF_CFLAGS)
# The BPF programs, for this machine: see tests/unit/bpf/kernel.h. What they shift a histogram by is no alignment of its own.
COMPILE_BPF_TEST = $(COMPILE) -fno-sanitize=alignment -Itests/unit/bpf/libbpf -Ivmlinux -Ibpf -Itests/unit
# Optimizing all programs takes longer than their tests run.
NOT_OPTIMIZED := -U_FORTIFY_SOURCE -O0

SOURCES := $(wildcard src/*.c src/*/*.c)
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/%.o)
MAN_PAGES := $(patsubst docs/%,$(BUILD)/%,$(wildcard docs/man/*.8))
SKELETONS := $(BUILD)/host.skel.h $(BUILD)/target.skel.h $(BUILD)/stacks.skel.h $(BUILD)/tcp.skel.h
# The program live is what the scripts of tests/live run.
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*/test_*.c tests/unit/cli/live.c))
# Everything but main(): tests, fuzzers and benchmarks are linked with what they need of it.
LIBRARY := $(BUILD)/libntprof.a
BENCH_PROGRAMS := $(BUILD)/bench/attach $(BUILD)/bench/unrelated $(BUILD)/bench/plain/ntprof-bpf

# For a make that is started without -j: as many jobs as there are processors.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all deps browser demo picture look screenshot check check-all check-debug check-quick static lint analyze format unit mutants fuzz-long soak bench bench-report bench-sizes install uninstall \
	static-program dist deb dkms-deb static-deb rpm image release check-release check-deb check-dkms check-compilers check-distro check-fleet check-newcomer clean help FORCE

all: $(BUILD)/ntprof-bpf $(MAN_PAGES)

# What a target needs packages for: see tests/packages.txt.
PURPOSES := build machine modules check
look: PURPOSES := build
demo: PURPOSES := build machine
bench: PURPOSES += bench
check-deb check-dkms check-compilers: PURPOSES += deb
check-distro: PURPOSES += deb
release: PURPOSES := build deb rpm
check-release: PURPOSES += deb rpm
check-all check-release: PURPOSES += delivery
PURPOSES += $(if $(CROSS),cross)
deps:
	$(Q)tests/install-packages $(PURPOSES)

# Not every distribution has it. One test needs it, and is skipped without it.
browser: deps
	$(Q)tests/install-packages browser || true

# "make -j deps all" compiles when the compilers are there.
ifneq ($(filter deps,$(MAKECMDGOALS)),)
$(BUILD)/found: | deps
endif
# Before anything is compiled: one message instead of one for each file. Installs nothing.
HEADERS := bpf/libbpf.h gelf.h json-c/json.h libdeflate.h microhttpd.h seccomp.h uthash.h zlib.h
$(OBJECTS) $(SKELETONS:.skel.h=.bpf.o): | $(BUILD)/found
$(BUILD)/found: Makefile | $(BUILD) $(CROSS_ROOT)
	$(Q)printf '#include <%s>\n' stdint.h stddef.h $(HEADERS) | $(CC) -fsyntax-only -x c - && \
		(for p in $(firstword $(CLANG)) $(BPFTOOL); do \
			command -v $$p || { echo "$$p: not found" >&2; exit 1; }; done) >$@ || \
		{ tests/install-packages --missing build $(if $(CROSS),cross); \
		echo "make: compilers or libraries are missing; tests/packages.txt has what is needed" >&2; exit 1; }

# Where Debian's packages of another architecture are.
$(BUILD)/root: | $(BUILD)
	$(Q)root=$$(tests/vm/root $(ARCH)) && ln -sfn "$$root" $@

demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/demo

picture: browser
	$(Q)test -f $(BUILD)/demo/report.html || $(MAKE) --no-print-directory demo
	$(Q)BUILD=$(BUILD) docs/draw-report

screenshot: PURPOSES := build machine
screenshot: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)docs/examples/record live
	$(Q)BUILD=$(BUILD) docs/refresh

look: deps
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) all
	$(Q)BUILD=$(BUILD) docs/examples/look

check: deps browser
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) all compile_commands.json
	$(Q)tests/check

check-all: deps browser
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) all unit compile_commands.json
	$(Q)tests/check --all

check-debug: deps
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/machine/tls_agent
	$(Q)BUILD=$(BUILD) tests/debug/run $(if $(SOURCE),--source $(SOURCE))

check-quick: deps
	$(Q)tests/check-quick

static: deps
	$(Q)$(MAKE) --no-print-directory all compile_commands.json
	$(Q)BUILD=$(BUILD) tests/static/run

lint: deps
	$(Q)$(MAKE) --no-print-directory compile_commands.json
	$(Q)tests/static/lint

analyze: deps
	$(Q)$(MAKE) --no-print-directory compile_commands.json
	$(Q)tests/static/lint analyzer

format: deps
	$(Q)tests/static/format --fix

mutants: PURPOSES := build check
mutants: deps
	$(Q)BUILD=$(BUILD) tests/mutants/run $(if $(ALL),--all) '$(LIST)' '$(FILES)'

# Whole numbers of hours, or parts of one.
HOURS ?= 1
fuzz-long: PURPOSES := build check
fuzz-long: deps
	$(Q)BUILD=$(BUILD) tests/fuzz/run --long $$(awk 'BEGIN { printf "%.0f", $(HOURS) * 3600 }')

MINUTES ?= 10
soak: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/soak $(MINUTES)

bench: deps
	$(Q)$(MAKE) --no-print-directory all $(BENCH_PROGRAMS)
	$(Q)BUILD=$(BUILD) BENCH='$(BENCH)' WORKLOADS='$(WORKLOADS)' KINDS='$(KINDS)' tests/bench/overhead

bench-report: deps
	$(Q)$(MAKE) --no-print-directory all $(addprefix $(BUILD)/bench/,generate live)
	$(Q)BUILD=$(BUILD) tests/bench/report

bench-sizes: deps
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/bench/sizes
	$(Q)$(BUILD)/bench/sizes
	$(Q)$(BUILD)/bench/sizes idle

unit: $(UNIT_TESTS) $(BUILD)/unit/spoiled

$(BUILD)/ntprof-bpf: $(BUILD)/main.o $(LIBRARY)
	@echo "  LINK    $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(HARDENING_LINK) $(LDFLAGS) -o $@ $^ $(LIBS)

$(LIBRARY): $(filter-out $(BUILD)/main.o,$(OBJECTS))
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

# Who prints or writes it is compiled again when there is another one.
$(BUILD)/cli/options.o $(BUILD)/cli/run.o $(BUILD)/serve/page.o: $(BUILD)/version
$(BUILD)/cli/options.o: | $(BUILD)/output.schema.h
$(BUILD)/version: FORCE | $(BUILD)
	$(Q)echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' >$@

# Only trace/ knows BPF.
$(filter $(BUILD)/trace/%,$(OBJECTS)): | $(SKELETONS)

$(BUILD)/%.o: src/%.c
	@echo "  CC      $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

$(BUILD)/%.bpf.o: bpf/%.bpf.c | $(BUILD)
	@echo "  BPF     $@"
	$(Q)$(COMPILE_BPF) -MMD -MP -c -o $@ $<

# What is put into the program is the object without what debuggers alone read, half of it: gen object leaves that away.
$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	@echo "  SKEL    $@"
	$(Q)$(BPFTOOL) gen object $(BUILD)/$*.linked.o $<
	$(Q)$(BPFTOOL) gen skeleton $(BUILD)/$*.linked.o name nt_$(*F) >$@

# The schema as a string of C, which --json-schema prints.
$(BUILD)/output.schema.h: docs/output.schema.json Makefile | $(BUILD)
	$(Q)sed 's/["\\]/\\&/g; s/.*/"&\\n"/; 1s/^/static const char output_schema[] =\n/; $$s/$$/;/' $< >$@

# What the HTML of report has in it, as strings of C. Without libjs-dygraphs its curves cannot be zoomed.
DYGRAPHS := $(wildcard /usr/share/javascript/dygraphs/dygraph.min.js)
$(BUILD)/view/html.o: | $(BUILD)/html.inc.h
as_string = printf 'static const char %s[] =\n""\n' $(1); $(if $(2),sed '/sourceMappingURL/d; s/["\\]/\\&/g; s/.*/"&\\n"/' $(2);) echo ';'
$(BUILD)/html.inc.h: src/view/html.css src/view/html.js $(DYGRAPHS) Makefile | $(BUILD)
	$(Q)($(call as_string,html_css,src/view/html.css); $(call as_string,html_js,src/view/html.js); \
		$(call as_string,dygraph_css,$(DYGRAPHS:.js=.css)); $(call as_string,dygraph_js,$(DYGRAPHS))) >$@

$(BUILD)/view/flame.o: | $(BUILD)/flame.inc.h
$(BUILD)/flame.inc.h: src/view/flame.css src/view/flame.js Makefile | $(BUILD)
	$(Q)($(call as_string,flame_css,src/view/flame.css); $(call as_string,flame_js,src/view/flame.js)) >$@

$(BUILD)/man/%.8: docs/man/%.8 docs/man/common.inc docs/man/join
	$(Q)mkdir -p $(@D)
	$(Q)awk -f docs/man/join docs/man/common.inc $< >$@

$(BUILD)/unit/%: tests/unit/%.c $(LIBRARY)
	@echo "  UNIT    $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE_TEST) -MMD -MP -o $@ $< $(filter %.o,$^) $(LIBRARY) -lcmocka $(UNIT_LIBS) $(LIBS) $(LDFLAGS)

$(BUILD)/unit/core/test_libnvme: UNIT_LIBS := -lnvme
$(BUILD)/unit/core/test_time: LDFLAGS += -Wl,--wrap=clock_gettime
$(BUILD)/unit/cli/test_probes: LDFLAGS += -Wl,--wrap=probes_points
$(BUILD)/unit/cli/test_run: LDFLAGS += -Wl,--wrap=timer_fired
$(BUILD)/unit/serve/test_listen: LDFLAGS += -Wl,--wrap=dlopen
$(BUILD)/unit/serve/test_recorder_hangs: LDFLAGS += $(addprefix -Wl$(comma)--wrap=,folder_open folder_make_room destination_open_in \
	destination_commit destination_close pthread_create sem_clockwait)
$(BUILD)/unit/trace/test_in_flight: LDFLAGS += -Wl,--wrap=overdue_tell
$(BUILD)/unit/trace/test_tracer: LDFLAGS += -Wl,--wrap=uname,--wrap=rights_effective,--wrap=ring_buffer__consume,--wrap=kernel_module_id,--wrap=load_open
# With the programs of a side, compiled for this machine.
$(BUILD)/unit/trace/test_turnover_%: LDFLAGS += -Wl,--wrap=opendir,--wrap=monotonic_ns
$(BUILD)/unit/trace/test_turnover_host: $(BUILD)/unit/bpf/programs_host.o
$(BUILD)/unit/trace/test_turnover_target: $(BUILD)/unit/bpf/programs_target.o
$(BUILD)/unit/bpf/programs_%.o: tests/unit/bpf/programs_%.c
	@echo "  CC      $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE_BPF_TEST) $(NOT_OPTIMIZED) -MMD -MP -c -o $@ $<

# With a call of the test's in each basic block of what is tested, by which it counts what a record costs.
COUNTED_OBJECTS := $(patsubst src/%.c,$(BUILD)/counted/%.o,$(wildcard src/merge/*.c) src/core/controllers.c \
	src/serve/ring.c src/serve/series.c src/view/columns_queues.c src/view/perfetto.c src/view/rows.c src/view/visible_rows.c)
$(BUILD)/counted/%.o: src/%.c
	@echo "  CC      $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE) -fsanitize-coverage=trace-pc -MMD -MP -c -o $@ $<
$(addprefix $(BUILD)/unit/,core/test_controllers merge/test_cost serve/test_ring_cost serve/test_series_cost \
	view/test_perfetto_cost view/test_rows_cost): $(BUILD)/unit/%: tests/unit/%.c $(COUNTED_OBJECTS) $(LIBRARY)
	@echo "  UNIT    $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE_TEST) -MMD -MP -o $@ $< $(filter %.o,$^) $(LIBRARY) -lcmocka $(LIBS) $(LDFLAGS)

# With programs that no kernel takes: tests/machine/probes.sh.
SPOILED := queue_rq stock_in_short stock_send_cmd done_recv_pdu
$(BUILD)/unit/spoiled: $(BUILD)/ntprof-bpf tests/spoil Makefile
	$(Q)mkdir -p $(@D)
	$(Q)tests/spoil $< $@ $(SPOILED)

# Each load and store of the programs calls a function of accesses.c, in the place of the library of that sanitizer.
$(BUILD)/unit/bpf/test_%_lines: tests/unit/bpf/test_%_lines.c tests/unit/bpf/accesses.c
	@echo "  UNIT    $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE_BPF_TEST) -fno-sanitize=all -fsanitize=thread -MMD -MP -MT $@ -c -o $@.o $<
	$(Q)$(COMPILE_BPF_TEST) -fno-sanitize=all -o $@ $@.o tests/unit/bpf/accesses.c -lcmocka $(LDFLAGS)

$(BUILD)/unit/bpf/%: tests/unit/bpf/%.c
	@echo "  UNIT    $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE_BPF_TEST) $(NOT_OPTIMIZED) -MMD -MP -o $@ $< -lcmocka $(LDFLAGS)

# tests/fuzz/run says with which sanitizers. Readers read from memory: __wrap_read() takes the place of read().
$(BUILD)/fuzz_report: LDFLAGS += -Wl,--wrap=exit
$(BUILD)/fuzz_stream: LDFLAGS += -Wl,--wrap=write
# Peers without processes: see tests/fuzz/made_up.h.
$(BUILD)/fuzz_peer $(BUILD)/fuzz_live_merge: LDFLAGS += $(addprefix -Wl$(comma)--wrap=,write recv close kill waitpid poll \
	epoll_ctl monotonic_ns instant_now $(addprefix child_,start kill end) $(addprefix starter_,new start end has_file free))
$(BUILD)/fuzz_%: tests/fuzz/fuzz_%.c $(LIBRARY)
	@echo "  FUZZ    $@"
	$(Q)$(COMPILE) -fsanitize=fuzzer -Wl,--wrap=read -MMD -MP -o $@ $< $(LIBRARY) $(LIBS) $(LDFLAGS)

$(BUILD)/make_corpus: tests/fuzz/make_corpus.c $(LIBRARY)
	$(Q)$(COMPILE) -MMD -MP -o $@ $< $(LIBRARY) $(LIBS) $(LDFLAGS)

# The program as it would be without what it does about arrivals: see bpf/arrival.bpf.h.
$(BUILD)/bench/plain/ntprof-bpf: FORCE
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/bench/plain BPF_CPPFLAGS=-DNT_PLAIN_ARRIVALS=1 $@

$(BUILD)/bench/%: tests/bench/%.c $(LIBRARY) | $(BUILD)/bench
	@echo "  BENCH   $@"
	$(Q)$(COMPILE_TEST) -MMD -MP -o $@ $< $(LIBRARY) $(LIBS) $(LDFLAGS)

# With one more program in the object of each side, and as many CPUs as it says.
SIZES_SKELETONS := $(BUILD)/bench/bpf/host.skel.h $(BUILD)/bench/bpf/target.skel.h
$(BUILD)/bench/bpf/%.bpf.o: tests/bench/bpf/%.bpf.c
	@echo "  BPF     $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE_BPF) -Ibpf -Itests/unit -MMD -MP -c -o $@ $<
$(BUILD)/bench/bpf/object.o: src/trace/object.c | $(SIZES_SKELETONS)
	@echo "  CC      $@"
	$(Q)$(COMPILE) -iquote $(BUILD)/bench/bpf -MMD -MP -c -o $@ $<
$(BUILD)/bench/sizes: tests/bench/sizes.c $(BUILD)/bench/bpf/object.o $(LIBRARY)
	@echo "  BENCH   $@"
	$(Q)$(COMPILE_TEST) -MMD -MP -o $@ $(filter %.c %.o %.a,$^) -Wl,--wrap=sysconf,--wrap=libbpf_num_possible_cpus,--wrap=opendir,--wrap=fopen $(LIBS) $(LDFLAGS)

# They include nothing of src/. The first two folders' run inside of the test machines: see tests/check.
GUEST_PROGRAMS := $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/machine/*.c tests/pair/*.c tests/truth/*.c))
$(BUILD)/truth/%: LDFLAGS += -lm
$(GUEST_PROGRAMS): $(BUILD)/%: tests/%.c | $(CROSS_ROOT)
	@echo "  CC      $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CFLAGS) $(WARNINGS) -MMD -MP -o $@ $< $(LDFLAGS)

$(BUILD) $(BUILD)/bench:
	$(Q)mkdir -p $@

# compile_entry: SOURCE, OUTPUT, COMMAND
compile_entry = {"directory": "$(CURDIR)", "file": "$(1)", "output": "$(2)", \
	"command": "$(subst ",\",$(3)) -c -o $(2) $(1)"},
compile_entries = $(foreach s,$(1),$(file >>$@.new,$(call compile_entry,$(s),$(s:$(2)/%.c=$(BUILD)/$(3)%.o),$(4))))

# Flags may be given on the command line, so it is written each time, and replaced when it is another. The skeletons
# are there for those who read it, as what includes them cannot be looked at without.
compile_commands.json: FORCE $(SKELETONS) $(BUILD)/output.schema.h $(BUILD)/html.inc.h
	$(file >$@.new,[)
	$(call compile_entries,$(SOURCES),src,,$(COMPILE))
	$(call compile_entries,$(filter-out tests/unit/bpf/%,$(UNIT_TESTS:$(BUILD)/%=tests/%.c)),tests,,$(COMPILE_TEST))
	$(call compile_entries,$(wildcard tests/unit/bpf/*.c),tests,,$(COMPILE_BPF_TEST))
	$(call compile_entries,$(wildcard tests/bench/*.c),tests,,$(COMPILE_TEST))
	$(call compile_entries,$(wildcard bpf/*.bpf.c),bpf,,$(COMPILE_BPF))
	$(Q)sed -i -e '$$s/,$$/\n]/' $@.new
	$(Q)if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

INSTALL_FOLDERS = $(sbindir) $(mandir)/man8 $(completionsdir) $(zshdir) $(fishdir) $(unitdir)
# Those of zsh and fish ask that of bash.
INSTALL_WITH_BASH = sed 's|/usr/share/bash-completion/completions/|$(completionsdir)/|'

PROGRAM ?= $(BUILD)/ntprof-bpf
install: $(PROGRAM) $(MAN_PAGES)
	$(INSTALL) -d $(INSTALL_FOLDERS:%='$(DESTDIR)%')
	$(INSTALL) -m 755 $(PROGRAM) '$(DESTDIR)$(sbindir)/ntprof-bpf'
	$(INSTALL) -m 644 $(MAN_PAGES) '$(DESTDIR)$(mandir)/man8'
	$(INSTALL) -m 644 contrib/completion/ntprof-bpf.bash '$(DESTDIR)$(completionsdir)/ntprof-bpf'
	$(INSTALL_WITH_BASH) contrib/completion/ntprof-bpf.zsh >'$(DESTDIR)$(zshdir)/_ntprof-bpf'
	$(INSTALL_WITH_BASH) contrib/completion/ntprof-bpf.fish >'$(DESTDIR)$(fishdir)/ntprof-bpf.fish'
	sed 's|/usr/sbin/|$(sbindir)/|' contrib/systemd/ntprof-bpf@.service >'$(DESTDIR)$(unitdir)/ntprof-bpf@.service'
	chmod 644 '$(DESTDIR)$(zshdir)/_ntprof-bpf' '$(DESTDIR)$(fishdir)/ntprof-bpf.fish' '$(DESTDIR)$(unitdir)/ntprof-bpf@.service'

# Folders stay, as others may use them, but for those below DESTDIR that nothing is left in.
uninstall:
	rm -f '$(DESTDIR)$(sbindir)/ntprof-bpf' $(MAN_PAGES:$(BUILD)/man/%='$(DESTDIR)$(mandir)/man8/%') \
		'$(DESTDIR)$(completionsdir)/ntprof-bpf' '$(DESTDIR)$(zshdir)/_ntprof-bpf' \
		'$(DESTDIR)$(fishdir)/ntprof-bpf.fish' '$(DESTDIR)$(unitdir)/ntprof-bpf@.service'
ifneq ($(DESTDIR),)
	[ ! -d '$(DESTDIR)' ] || { cd '$(DESTDIR)' && for d in $(INSTALL_FOLDERS:%='%'); do \
		[ ! -d ".$$d" ] || rmdir -p --ignore-fail-on-non-empty "$${d#/}"; done; }
endif

static-program: $(BUILD)/ntprof-bpf-static

# What serve/http.c would load: each of its functions is in one of the files of these.
STATIC_HTTP := -Wl,-u,MHD_start_daemon,-u,MHD_queue_response,-u,MHD_add_response_header -lmicrohttpd
# Some libelf.a need libzstd.a: its pkg-config file says.
STATIC_LIBS = $(LIBS) $(shell pkg-config --static --libs libelf)
# The linker warns of dlopen() and of users and groups: contrib/static/nss.c says what becomes of them. All else that it
# says is an error. Its --no-warnings would hide undefined symbols as well, and the program would call address 0.
STATIC_WARNINGS := -e ': in function ' -e 'in statically linked applications requires at runtime'
$(BUILD)/ntprof-bpf-static: $(OBJECTS) $(wildcard contrib/static/*.c)
	@echo "  LINK    $@"
	$(Q)LC_ALL=C $(CC) $(ALL_CFLAGS) $(subst -pie,-static-pie,$(or $(HARDENING_LINK),-static)) $(LDFLAGS) -o $@ $^ $(STATIC_HTTP) $(STATIC_LIBS) -Wl,-Map=$@.map 2>$@.log || \
		{ cat $@.log >&2; false; }
	$(Q)! grep -v $(STATIC_WARNINGS) $@.log >&2

# Where tests/check looks for programs of the test machines.
$(BUILD)/machine/ntprof-bpf-static: $(BUILD)/ntprof-bpf-static
	$(Q)mkdir -p $(@D)
	$(Q)ln -f $< $@

# The same bytes for the same files: names, contents and whether they are executable.
DIST := ntprof-bpf-$(VERSION)
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)
dist: | $(BUILD)
	$(Q)git ls-files -z >$(BUILD)/dist.files
	$(Q)tar --null -T $(BUILD)/dist.files --transform='s,^,$(DIST)/,S' --mtime=@$(SOURCE_DATE_EPOCH) --format=ustar \
		--mode=u=rwX,go=rX --owner=0 --group=0 --numeric-owner -cf $(BUILD)/$(DIST).tar
	$(Q)xz -f -T1 $(BUILD)/$(DIST).tar
	@echo $(BUILD)/$(DIST).tar.xz

# What packages are built of has a build/ of its own, whatever BUILD is here: its "make clean" would remove this one.
PACKAGED := env -u MAKEFLAGS -u BUILD
DEB_CROSS := -a$(ARCH) -B || { echo "make: it takes packages of $(ARCH) that are installed here; make release has them in a root of its own" >&2; exit 1; }
deb dkms-deb: dist
	$(Q)tests/install-packages build deb
	$(Q)rm -rf $(BUILD)/$@
	$(Q)mkdir $(BUILD)/$@
	$(Q)tar -C $(BUILD)/$@ -xf $(BUILD)/$(DIST).tar.xz
	cd $(BUILD)/$@/$(DIST) && $(PACKAGED) dpkg-buildpackage -us -uc $(if $(filter dkms-deb,$@),-A,$(if $(CROSS),$(DEB_CROSS)))
	$(Q)rm -r $(BUILD)/$@/$(DIST)

# What is packaged of the static program.
$(BUILD)/program: $(BUILD)/ntprof-bpf-static
	$(Q)$(CROSS)strip -o $@ $<

static-deb: deb $(BUILD)/program
	$(Q)rm -rf $(BUILD)/$@
	$(Q)mkdir $(BUILD)/$@
	$(Q)contrib/release/static-deb $(SOURCE_DATE_EPOCH) $(BUILD)/deb/ntprof-bpf_$(VERSION)_*.deb $(BUILD)/program $(BUILD)/$@

# RPM_PROGRAM=FILE is packaged in place of one that is compiled here; it is of RPM_ARCH.
RPM_PROGRAM ?= $(if $(CROSS),$(BUILD)/program)
RPM_WITH ?= $(if $(or $(CROSS),$(wildcard /etc/debian_version)),--with static)
RPM_ARCH ?= $(if $(CROSS),$(ARCH:arm64=aarch64),$(shell uname -m))
RPMBUILD = $(PACKAGED) SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) rpmbuild $(if $(wildcard /etc/debian_version),--nodeps) $(if $(Q),--quiet) \
	--define '_topdir $(abspath $(BUILD))/rpm' --define 'use_source_date_epoch_as_buildtime 1' \
	--define 'clamp_mtime_to_source_date_epoch 1' --define '_buildhost localhost'
rpm: dist $(filter $(BUILD)/program,$(RPM_PROGRAM))
	$(Q)tests/install-packages build rpm
	$(Q)rm -rf $(BUILD)/rpm
	$(Q)mkdir -p $(BUILD)/rpm/SOURCES
	$(Q)sed 's/@VERSION@/$(VERSION)/' contrib/rpm/ntprof-bpf.spec >$(BUILD)/rpm/ntprof-bpf.spec
	$(Q)cp $(BUILD)/$(DIST).tar.xz $(BUILD)/rpm/SOURCES
	$(Q)$(RPMBUILD) -bs $(BUILD)/rpm/ntprof-bpf.spec
	$(if $(RPM_PROGRAM),$(Q)cp $(RPM_PROGRAM) $(BUILD)/rpm/SOURCES/program)
	$(Q)$(RPMBUILD) -bb --target $(RPM_ARCH) $(RPM_WITH) $(if $(RPM_PROGRAM),--define 'program_file program') $(BUILD)/rpm/ntprof-bpf.spec
	@ls $(BUILD)/rpm/SRPMS/*.rpm $(BUILD)/rpm/RPMS/*/*.rpm

image: $(BUILD)/program
	$(Q)contrib/release/image $(VERSION) $(SOURCE_DATE_EPOCH) $(BUILD)/$(DIST)-oci.tar $(BUILD)/program
	@echo $(BUILD)/$(DIST)-oci.tar

# For a test machine: the image unpacked by a tool that is not ours, to be run with the rights of contrib/kubernetes, and without any.
$(BUILD)/machine/container.tar: image contrib/kubernetes/ntprof-bpf.yaml tests/package/lib/daemonset.py
	$(Q)rm -rf $@.new && mkdir -p $@.new/layout && tar -C $@.new/layout -xf $(BUILD)/$(DIST)-oci.tar
	$(Q)cd $@.new && for b in serve report; do umoci --log=error unpack --rootless --image layout:$(VERSION) $$b || exit 1; done
	$(Q)/usr/bin/python3 tests/package/lib/daemonset.py serve contrib/kubernetes/ntprof-bpf.yaml $@.new/serve/config.json
	$(Q)/usr/bin/python3 tests/package/lib/daemonset.py alone $@.new/report/config.json report -
	$(Q)tar -C $@.new -cf $@ serve report && rm -r $@.new

release: deps
	$(Q)BUILD=$(BUILD) contrib/release/release

check-release: deps
	$(Q)BUILD=$(BUILD) CHECK_JOBS=1 CHECK_LIMIT=5400 tests/check package/release package/golden package/kubernetes package/dist package/systemd \
		package/deb package/dkms package/dkms_trixie distro \
		--on stock machine/image machine/static --on stock-newest machine/image machine/static

check-deb: deps all static-program
	$(Q)BUILD=$(BUILD) tests/package/check-deb

check-dkms: deps dkms-deb
	$(Q)BUILD=$(BUILD) SUITE=$(SUITE) tests/package/check-dkms $(BUILD)/dkms-deb

check-compilers: deps
	$(Q)BUILD=$(BUILD) tests/compilers/run

check-distro: deps
	$(Q)BUILD=$(BUILD) tests/check distro

NODES ?= 1000
check-fleet: $(if $(SERIES),$(BUILD)/unit/serve/test_page_size)
	$(Q)BUILD=$(BUILD) tests/fleet/run --nodes $(NODES) $(if $(SERIES),--series $(SERIES))

SUITE ?= bookworm
check-newcomer:
	$(Q)tests/install-packages deb
	$(Q)BUILD=$(BUILD) tests/newcomer $(SUITE)

clean:
	rm -rf $(BUILD) compile_commands.json

help:
	$(Q)sed -n '/^#  /s/^#  //p;/^$$/q' Makefile

-include $(wildcard $(addprefix $(BUILD)/,*.d */*.d bench/*/*.d counted/*/*.d unit/*/*.d))
