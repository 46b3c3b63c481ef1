/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way of a host's commands through the machine: which CPUs have which queue, where its worker
 * runs, its socket, and the network card with the interrupt and the NUMA node of it. Read once.
 */
#ifndef NTPROF_CORE_QUEUE_MAP_H
#define NTPROF_CORE_QUEUE_MAP_H

#include <net/if.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device.h"
#include "shared/tcp.h"

/* Ranges of CPUs: "0-3,8"; the end of a longer list is cut. */
#define QUEUE_MAP_CPUS_LEN 128
/* "[address]:port" */
#define QUEUE_MAP_END_LEN (QUEUE_IP_LEN + 8)

/**
 * struct mapped_queue - a queue
 * @controller, @qid: which; 0: the admin queue
 * @cpus: CPUs whose commands it takes; "" if not known
 * @io_cpu: CPU of its worker; -1: not known, or any
 * @local, @remote: ends of its connection; "" if not known
 * @nic: network interface that has the local address; "" if not known
 * @rx_queue: queue of it through which packets come in; -1: not known
 * @irq_cpus: CPUs that this queue's interrupt goes to; "" if not known
 * @rx_cpu: CPU that handled the last packet that came in; -1: not known
 * @node: NUMA node of the network card; -1: not known, or there is one node only
 */
struct mapped_queue {
	char controller[32];
	uint16_t qid;
	char cpus[QUEUE_MAP_CPUS_LEN];
	int32_t io_cpu;
	char local[QUEUE_MAP_END_LEN];
	char remote[QUEUE_MAP_END_LEN];
	char nic[IF_NAMESIZE];
	int32_t rx_queue;
	char irq_cpus[QUEUE_MAP_CPUS_LEN];
	int32_t rx_cpu;
	int32_t node;
};

/**
 * struct mapped_controller - a controller
 * @subsysnqn: its subsystem
 * @state, @address, @transport: as sysfs has them; "" if not known
 * @reset_count, @reconnect_count, @command_error_count: Linux 7 and later count this in its
 * directory diag; -1: not known
 */
struct mapped_controller {
	char name[32];
	char subsysnqn[NT_NQN_LEN];
	char state[16];
	char transport[16];
	char address[256];
	int64_t reset_count;
	int64_t reconnect_count;
	int64_t command_error_count;
};

/**
 * struct queue_map - all of a host; zeroes at first
 * @controller: @nr of them, in the order of their names
 * @queue: @nr_queues of them, in the order of controllers and ids
 */
struct queue_map {
	struct mapped_controller *controller;
	size_t nr;
	struct mapped_queue *queue;
	size_t nr_queues;
};

/**
 * queue_map_read() - read what sysfs has of NVMe/TCP controllers and their queues
 * @m: filled; release it with queue_map_free(), also after an error
 * @sysfs: mount point of sysfs: "/sys"
 *
 * Return: 0 or -ENOMEM.
 */
int queue_map_read(struct queue_map *m, const char *sysfs);

/**
 * queue_map_connect() - add sockets, and what lies behind them
 * @proc: mount point of proc: "/proc"
 * @sockets: @nr of them
 *
 * Return: 0 or -ENOMEM.
 */
int queue_map_connect(struct queue_map *m, const char *sysfs, const char *proc,
		      const struct nt_queue_socket *sockets, size_t nr);

/** queue_map_free() - release */
void queue_map_free(struct queue_map *m);

#endif /* NTPROF_CORE_QUEUE_MAP_H */
