// SPDX-License-Identifier: GPL-2.0-only
#include "core/queue_map.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"

/* A list of all CPUs, as sysfs writes it: a page. */
#define CPU_LIST_LEN 4096

/* The place of a queue, or where it belongs. */
static size_t place(const struct queue_map *m, const char *controller, unsigned int qid)
{
	return BISECT(i, 0, m->nr_queues,
		      (strverscmp(m->queue[i].controller, controller)
			       ?: (int)m->queue[i].qid - (int)qid) < 0);
}

/* Return: the queue, new if it was not there before; NULL if memory ran out. */
static struct mapped_queue *queue_at(struct queue_map *m, const char *controller, unsigned int qid)
{
	size_t at = place(m, controller, qid);
	struct mapped_queue *q;

	if (at < m->nr_queues && m->queue[at].qid == qid &&
	    !strcmp(m->queue[at].controller, controller))
		return &m->queue[at];
	q = ARRAY_INSERT(m->queue, m->nr_queues, at);
	if (!q)
		return NULL;
	*q = (struct mapped_queue){
		.qid = (uint16_t)qid, .io_cpu = -1, .rx_queue = -1, .rx_cpu = -1, .node = -1};
	snprintf(q->controller, sizeof(q->controller), "%s", controller);
	return q;
}

/* Return: the number in an attribute, -1 if there is none. */
static int64_t number(const char *dir, const char *name)
{
	char value[32], *end;
	long long n;

	if (!device_attribute(dir, name, value, sizeof(value)))
		return -1;
	n = strtoll(value, &end, 10);
	return end == value || *end || n < 0 ? -1 : n;
}

/* Writes "0, 1, 2, 5" as "0-2,5". */
static void ranges(char *to, size_t size, const char *list)
{
	unsigned long first = 0, last = 0;
	bool any = false;
	size_t used = 0;

	to[0] = '\0';
	for (bool more = true; more && used < size;) {
		char *end;
		unsigned long cpu = strtoul(list, &end, 10);

		more = end != list;
		if (more && any && cpu == last + 1) {
			last = cpu;
		} else {
			if (any)
				used += (size_t)snprintf(to + used, size - used,
							 first == last ? "%s%lu" : "%s%lu-%lu",
							 used ? "," : "", first, last);
			first = last = cpu;
			any = true;
		}
		list = end + strspn(end, ", ");
	}
}

/* blk-mq's hardware queue N is queue N + 1 of the controller (nvme_tcp_init_hctx() of the kernel).
 */
static int read_cpus(struct queue_map *m, const char *controller, const char *disk)
{
	char path[PATH_MAX + 32], list[CPU_LIST_LEN];
	struct dirent *e;
	int err = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/mq", disk);
	d = opendir(path);
	while (d && !err && (e = readdir(d))) {
		struct mapped_queue *q;
		unsigned int n;
		char end;

		if (sscanf(e->d_name, "%u%c", &n, &end) != 1 || n >= UINT16_MAX)
			continue;
		snprintf(path, sizeof(path), "%s/mq/%u", disk, n);
		if (!device_attribute(path, "cpu_list", list, sizeof(list)))
			continue;
		q = queue_at(m, controller, n + 1);
		if (q)
			ranges(q->cpus, sizeof(q->cpus), list);
		else
			err = -ENOMEM;
	}
	if (d)
		closedir(d);
	return err;
}

/* Queues are those that the controller has; each of its disks says which CPUs they belong to. */
static int read_queues(struct queue_map *m, const char *controller, const char *dir)
{
	int64_t nr = number(dir, "queue_count");
	unsigned int subsystem, head;
	char path[PATH_MAX];
	struct dirent *e;
	int err = 0;
	DIR *d;

	for (unsigned int i = 0; !err && i < nr && i <= UINT16_MAX; i++)
		err = queue_at(m, controller, i) ? 0 : -ENOMEM;
	d = opendir(dir);
	while (d && !err && (e = readdir(d)))
		if (device_is_namespace(e->d_name, &subsystem, &head) &&
		    snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < (int)sizeof(path))
			err = read_cpus(m, controller, path);
	if (d)
		closedir(d);
	return err;
}

static int read_controller(struct queue_map *m, const char *dir, const char *name)
{
	struct mapped_controller *c, new = {.transport = ""};
	char diag[PATH_MAX + 8];

	device_attribute(dir, "transport", new.transport, sizeof(new.transport));
	if (strcmp(new.transport, "tcp") != 0)
		return 0;
	snprintf(new.name, sizeof(new.name), "%.31s", name);
	device_attribute(dir, "subsysnqn", new.subsysnqn, sizeof(new.subsysnqn));
	device_attribute(dir, "state", new.state, sizeof(new.state));
	device_attribute(dir, "address", new.address, sizeof(new.address));
	snprintf(diag, sizeof(diag), "%s/diag", dir);
	new.reset_count = number(diag, "reset_count");
	new.reconnect_count = number(diag, "reconnect_count");
	new.command_error_count = number(diag, "command_error_count");
	c = ARRAY_INSERT(m->controller, m->nr,
			 BISECT(i, 0, m->nr, strverscmp(m->controller[i].name, name) < 0));
	if (!c)
		return -ENOMEM;
	*c = new;
	return read_queues(m, name, dir);
}

int queue_map_read(struct queue_map *m, const char *sysfs)
{
	char path[PATH_MAX];
	struct dirent *e;
	int err = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/class/nvme", sysfs);
	d = opendir(path);
	while (d && !err && (e = readdir(d)))
		if (e->d_name[0] != '.' && snprintf(path, sizeof(path), "%s/class/nvme/%s", sysfs,
						    e->d_name) < (int)sizeof(path))
			err = read_controller(m, path, e->d_name);
	if (d)
		closedir(d);
	return err;
}

/* Fills @nic with the interface that has the local address of @s. */
static void find_nic(char nic[IF_NAMESIZE], const struct ifaddrs *all, const struct nt_tcp_state *s)
{
	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		const struct sockaddr *a = i->ifa_addr;

		if (!a || a->sa_family != s->family)
			continue;
		if (a->sa_family == AF_INET
			    ? memcmp(&((const struct sockaddr_in *)a)->sin_addr, s->local, 4)
			    : memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr, s->local, 16))
			continue;
		snprintf(nic, IF_NAMESIZE, "%s", i->ifa_name);
		return;
	}
}

/* Whether an interrupt of this name is that of a card's receive queue. */
static bool is_irq_of(const char *action, int32_t rx_queue)
{
	/* As drivers name them: virtio_net; Intel's and Broadcom's; ena; those with two; mlx5. */
	static const char *const kinds[] = {"input.", "TxRx-", "Tx-Rx-", "rx-", "mlx5_comp"};
	unsigned int n;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *at = strcasestr(action, kinds[i]);
		char end = '\0';

		if (at && sscanf(at + strlen(kinds[i]), "%u%c", &n, &end) >= 1 &&
		    (!end || end == '@'))
			return (int32_t)n == rx_queue;
	}
	return false;
}

/* Finds the interrupt among those of the card, in @dir. Return: whether it is there. */
static bool find_irq(struct mapped_queue *q, const char *sysfs, const char *proc, const char *dir)
{
	char path[PATH_MAX], text[CPU_LIST_LEN];
	struct dirent *e;
	bool found = false;
	DIR *d = opendir(dir);

	while (d && !found && (e = readdir(d))) {
		unsigned int irq;

		if (sscanf(e->d_name, "%u", &irq) != 1)
			continue;
		snprintf(path, sizeof(path), "%s/kernel/irq/%u", sysfs, irq);
		if (!device_attribute(path, "actions", text, sizeof(text)) ||
		    !is_irq_of(text, q->rx_queue))
			continue;
		found = true;
		snprintf(path, sizeof(path), "%s/irq/%u", proc, irq);
		if ((device_attribute(path, "effective_affinity_list", text, sizeof(text)) &&
		     text[0]) ||
		    device_attribute(path, "smp_affinity_list", text, sizeof(text)))
			snprintf(q->irq_cpus, sizeof(q->irq_cpus), "%.*s",
				 (int)sizeof(q->irq_cpus) - 1, text);
	}
	if (d)
		closedir(d);
	return found;
}

static void read_nic(struct mapped_queue *q, const char *sysfs, const char *proc)
{
	/* A virtio device has neither: the PCI device that it is on has. */
	static const char *const devices[] = {"device", "device/.."};
	char path[PATH_MAX], irqs[PATH_MAX + 16];

	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		snprintf(path, sizeof(path), "%s/class/net/%s/%s", sysfs, q->nic, devices[i]);
		if (q->node < 0)
			q->node = (int32_t)number(path, "numa_node");
		snprintf(irqs, sizeof(irqs), "%s/msi_irqs", path);
		if (q->rx_queue >= 0 && find_irq(q, sysfs, proc, irqs))
			break;
	}
}

static void end_text(char *to, uint16_t family, const void *address, uint16_t port)
{
	char ip[INET6_ADDRSTRLEN] = "";

	if (inet_ntop(family, address, ip, sizeof(ip)))
		snprintf(to, QUEUE_MAP_END_LEN, family == AF_INET6 ? "[%s]:%u" : "%s:%u", ip, port);
}

static bool has_controller(const struct queue_map *m, const char *name)
{
	for (size_t i = 0; i < m->nr; i++)
		if (!strcmp(m->controller[i].name, name))
			return true;
	return false;
}

int queue_map_connect(struct queue_map *m, const char *sysfs, const char *proc,
		      const struct nt_queue_socket *sockets, size_t nr)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct ifaddrs *all = NULL;
	int err = 0;

	if (getifaddrs(&all))
		all = NULL;
	for (size_t i = 0; !err && i < nr; i++) {
		const struct nt_queue_socket *s = &sockets[i];
		struct mapped_queue *q;
		char name[32];

		snprintf(name, sizeof(name), "nvme%u", s->instance);
		/* One that came, or went, between two reads. */
		if (!has_controller(m, name))
			continue;
		q = queue_at(m, name, s->qid);
		if (!q) {
			err = -ENOMEM;
			continue;
		}
		q->io_cpu = s->io_cpu < cpus ? s->io_cpu : -1;
		q->rx_cpu = s->rx_cpu;
		q->rx_queue = s->rx_queue;
		end_text(q->local, s->ends.family, s->ends.local, s->ends.local_port);
		end_text(q->remote, s->ends.family, s->ends.peer, s->ends.peer_port);
		find_nic(q->nic, all, &s->ends);
		if (q->nic[0])
			read_nic(q, sysfs, proc);
	}
	if (all)
		freeifaddrs(all);
	return err;
}

void queue_map_free(struct queue_map *m)
{
	free(m->controller);
	free(m->queue);
	*m = (struct queue_map){.nr = 0};
}
