// SPDX-License-Identifier: GPL-2.0-only
/*
 * attach OBJECT - load a BPF object, attach all its programs, say so, and wait to be killed.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct bpf_program *p;
	struct bpf_object *o;

	if (argc != 2) {
		fprintf(stderr, "usage: attach OBJECT\n");
		return 2;
	}
	/* A shell's background job is born deaf to it. */
	signal(SIGINT, SIG_DFL);
	o = bpf_object__open(argv[1]);
	if (!o || bpf_object__load(o)) {
		fprintf(stderr, "attach: cannot load %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	bpf_object__for_each_program (p, o) {
		if (!bpf_program__attach(p)) {
			fprintf(stderr, "attach: cannot attach %s: %s\n", bpf_program__name(p),
				strerror(errno));
			return 1;
		}
	}
	printf("attached\n");
	fflush(stdout);
	pause();
	return 0;
}
