// SPDX-License-Identifier: GPL-2.0-only
/* The map of a host's queues, of a made-up sysfs and proc, as it is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "view/queue_map.h"
#include "tree.h"

static struct {
	char root[40];
	struct queue_map m;
} t;

static int set_up(void **state)
{
	memset(&t, 0, sizeof(t));
	snprintf(t.root, sizeof(t.root), "/tmp/ntprof-sysfs-XXXXXX");
	return mkdtemp(t.root) ? 0 : -1;
}

static int tear_down(void **state)
{
	queue_map_free(&t.m);
	return tree_remove(t.root);
}

static void put(const char *name, const char *text)
{
	tree_put(t.root, name, text);
}

#define NVME0 "class/nvme/nvme0/"

static void put_controller(void)
{
	put(NVME0 "transport", "tcp");
	put(NVME0 "state", "live");
	put(NVME0 "address", "traddr=127.0.0.1,trsvcid=4420");
	put(NVME0 "subsysnqn", "nqn.a");
	put(NVME0 "queue_count", "3");
	put(NVME0 "nvme0c0n1/mq/0/cpu_list", "0, 1, 2, 5");
	put(NVME0 "nvme0c0n1/mq/1/cpu_list", "3, 4");
	put("class/nvme/nvme1/transport", "pcie");
}

static void connect_queues(const struct nt_queue_socket *sockets, size_t nr)
{
	char proc[48];

	snprintf(proc, sizeof(proc), "%s/proc", t.root);
	assert_int_equal(queue_map_connect(&t.m, t.root, proc, sockets, nr), 0);
}

static struct nt_queue_socket loopback(uint32_t qid, int rx_queue)
{
	struct nt_queue_socket s = {
		.ends = {.family = AF_INET,
			 .local_port = (uint16_t)(40000 + qid),
			 .peer_port = 4420},
		.qid = qid,
		.rx_cpu = 0,
		.rx_queue = rx_queue,
	};

	assert_int_equal(inet_pton(AF_INET, "127.0.0.1", s.ends.local), 1);
	assert_int_equal(inet_pton(AF_INET, "127.0.0.1", s.ends.peer), 1);
	return s;
}

static void assert_prints(const char *expected)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	queue_map_print_csv(&t.m, f);
	fclose(f);
	/* Lines of CSV end in CR LF. */
	for (char *cr; (cr = strchr(text, '\r'));)
		memmove(cr, cr + 1, strlen(cr));
	assert_string_equal(text, expected);
	free(text);
}

#define HEADER "controller,queue,cpus,io_cpu,local,remote,nic,rx_queue,irq_cpus,rx_cpu,numa_node\n"

static void without_sockets_there_are_cpus(void **state)
{
	put_controller();
	assert_int_equal(queue_map_read(&t.m, t.root), 0);
	assert_int_equal(t.m.nr, 1);
	assert_string_equal(t.m.controller[0].state, "live");
	assert_int_equal(t.m.controller[0].reset_count, -1);
	assert_prints(HEADER "nvme0,0,,,,,,,,,\n"
			     "nvme0,1,\"0-2,5\",,,,,,,,\n"
			     "nvme0,2,3-4,,,,,,,,\n");
}

static void counts_of_diag_are_there(void **state)
{
	put_controller();
	put(NVME0 "diag/reset_count", "3");
	put(NVME0 "diag/reconnect_count", "0");
	put(NVME0 "diag/command_error_count", "17");
	assert_int_equal(queue_map_read(&t.m, t.root), 0);
	assert_int_equal(t.m.controller[0].reset_count, 3);
	assert_int_equal(t.m.controller[0].reconnect_count, 0);
	assert_int_equal(t.m.controller[0].command_error_count, 17);
}

static void sockets_lead_to_card_interrupt_and_node(void **state)
{
	struct nt_queue_socket sockets[] = {loopback(2, 1), loopback(1, 0), loopback(7, -1)};

	put_controller();
	put("class/net/lo/device/numa_node", "1");
	put("class/net/lo/device/msi_irqs/30", "msix");
	put("class/net/lo/device/msi_irqs/31", "msix");
	put("class/net/lo/device/msi_irqs/32", "msix");
	put("class/net/lo/device/msi_irqs/33", "msix");
	put("kernel/irq/30/actions", "virtio0-config");
	put("kernel/irq/31/actions", "virtio0-input.0");
	put("kernel/irq/32/actions", "virtio0-output.1");
	put("kernel/irq/33/actions", "virtio0-input.1");
	put("proc/irq/31/smp_affinity_list", "0-7");
	put("proc/irq/33/smp_affinity_list", "0-7");
	put("proc/irq/33/effective_affinity_list", "4");
	/* Any CPU. */
	sockets[1].io_cpu = 8192;
	/* A controller that is not there. */
	sockets[2].instance = 9;
	assert_int_equal(queue_map_read(&t.m, t.root), 0);
	connect_queues(sockets, 3);
	assert_prints(HEADER "nvme0,0,,,,,,,,,\n"
			     "nvme0,1,\"0-2,5\",,127.0.0.1:40001,127.0.0.1:4420,lo,0,0-7,0,1\n"
			     "nvme0,2,3-4,0,127.0.0.1:40002,127.0.0.1:4420,lo,1,4,0,1\n");
}

static void interrupts_are_known_by_the_names_of_drivers(void **state)
{
	static const struct {
		const char *name;
		bool known;
	} names[] = {
		{"mlx5_comp3@pci:0000:3b:00.0", true},
		{"mlx5_async3@pci:0000:3b:00.0", false},
		{"i40e-lo-TxRx-3", true},
		{"lo-Tx-Rx-3", true},
		{"lo-rx-3", true},
		{"lo-tx-3", false},
		{"lo-TxRx-30", false},
		{"lo3", false},
	};

	put_controller();
	put("class/net/lo/device/msi_irqs/40", "msix");
	put("proc/irq/40/effective_affinity_list", "6");
	assert_int_equal(queue_map_read(&t.m, t.root), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct nt_queue_socket s = loopback(1, 3);

		put("kernel/irq/40/actions", names[i].name);
		t.m.queue[1].irq_cpus[0] = '\0';
		connect_queues(&s, 1);
		assert_string_equal(t.m.queue[1].irq_cpus, names[i].known ? "6" : "");
	}
}

static void controllers_and_queues_are_in_order(void **state)
{
	put("class/nvme/nvme10/transport", "tcp");
	put("class/nvme/nvme10/queue_count", "2");
	put("class/nvme/nvme2/transport", "tcp");
	put("class/nvme/nvme2/queue_count", "1");
	assert_int_equal(queue_map_read(&t.m, t.root), 0);
	assert_int_equal(t.m.nr, 2);
	assert_string_equal(t.m.controller[0].name, "nvme2");
	assert_prints(HEADER "nvme2,0,,,,,,,,,\nnvme10,0,,,,,,,,,\nnvme10,1,,,,,,,,,\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	static const struct CMUnitTest tests[] = {
		TEST(without_sockets_there_are_cpus),
		TEST(counts_of_diag_are_there),
		TEST(sockets_lead_to_card_interrupt_and_node),
		TEST(interrupts_are_known_by_the_names_of_drivers),
		TEST(controllers_and_queues_are_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
