/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The places of this machine that commands come from and go to: namespaces, origins, cgroups and
 * queues.
 *
 * A namespace of a block device is found in sysfs. With native multipath the device is a multipath
 * head: its commands go through any controller of its subsystem. Otherwise it belongs to one
 * controller.
 */
#ifndef NTPROF_CORE_DEVICE_H
#define NTPROF_CORE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/disk_use.h"
#include "shared/record.h"

/**
 * struct device - a namespace, as this machine sees it
 * @subsysnqn: NQN of its subsystem
 * @nsid: its namespace id
 * @head: its commands go through all controllers of the subsystem; otherwise through @instance, N
 *        of nvmeN
 * @transports: of these controllers, see core/transport.h
 */
struct device {
	char subsysnqn[NT_NQN_LEN];
	uint32_t nsid;
	bool head;
	uint32_t instance;
	unsigned int transports;
};

/**
 * device_find() - look a device up
 * @sysfs: mount point of sysfs: "/sys"
 * @path: a block device, such as /dev/nvme0n1 or a link to it; or its name
 * @d: filled
 *
 * Return: NULL, or why it is not such a device, in words that follow the path in a message.
 */
const char *device_find(const char *sysfs, const char *path, struct device *d);

/**
 * device_attribute() - read the first line of the sysfs attribute @name in @dir; Return: whether
 * there is one
 */
bool device_attribute(const char *dir, const char *name, char *value, size_t size);

/**
 * transport_of_controller() - the transport of a controller whose directory in sysfs is @dir
 *
 * Return: a bit, 1 << enum nt_transport; 0 if it is no controller.
 */
unsigned int transport_of_controller(const char *dir);

/**
 * device_is_namespace() - whether an entry of a controller's directory is one of its namespaces:
 * "nvme0n1", or the path "nvme0c1n1"; @subsystem, @head: the numbers in "nvme0n1"
 */
bool device_is_namespace(const char *name, unsigned int *subsystem, unsigned int *head);

/*
 * Length of a disk's name, or of the path of a target's backing device. The end of a longer one is
 * cut.
 */
#define DEVICE_NAME_LEN 128
/* Any controller of the subsystem. */
#define DEVICE_ANY_INSTANCE (~0u)

/**
 * struct device_name - the machine's name for the device of a namespace
 * @subsysnqn, @nsid: which namespace
 * @instance: which controller, N of nvmeN, or DEVICE_ANY_INSTANCE
 * @name: "nvme0n1" on a host, which is the multipath head if there are several paths; "/dev/sda" on
 *        a target
 * @block_bytes: bytes of a logical block, in which LBAs count; 0: not known
 * @disk: on a target, the disk that @name is or lies on, such as "sda" of "/dev/sda1"; "" if it is
 *        a file, or not known
 */
struct device_name {
	char subsysnqn[NT_NQN_LEN];
	uint32_t instance;
	uint32_t nsid;
	char name[DEVICE_NAME_LEN];
	uint32_t block_bytes;
	char disk[NT_DISK_NAME_LEN];
};

/**
 * device_name_of_host() - find the disk of a namespace of a controller
 * @sysfs: as for device_find()
 * @d: all but @name is set by the caller; @name is filled if there is such a disk
 *
 * Return: whether there is such a disk.
 */
bool device_name_of_host(const char *sysfs, struct device_name *d);

/**
 * device_name_of_target() - find the backing device of a namespace that the target exports; as
 * device_name_of_host(), with @configfs "/sys/kernel/config"
 */
bool device_name_of_target(const char *configfs, struct device_name *d);

/*
 * Where a host's command comes from: the CPU that submitted it, the cgroup of its bio, and the
 * process that submitted it. A record has only the number of its origin. The module that assigns a
 * number announces the origin before the first record that has the number.
 */

/* Length of a cgroup's path; the end of a longer path is cut. */
#define ORIGIN_CGROUP_LEN 256
/* Length of a process's name, with the brackets of a kernel thread and a terminator. */
#define ORIGIN_COMM_LEN (1 + NT_COMM_LEN + 1)

/* The origin is in 12 bits of a record's flags; 0: the record has none. */
#define ORIGIN_OF(flags) ((flags) >> NT_F_ORIGIN_SHIFT & NT_ORIGIN_MASK)
/* Number for all origins for which no number was left. It stands for several CPUs or cgroups. */
#define ORIGIN_OTHERS NT_ORIGIN_MASK
/* The CPU is not known. */
#define ORIGIN_NO_CPU 0xffff

/**
 * struct origin - where commands come from
 * @number: 1 to ORIGIN_OTHERS
 * @cpu: the CPU that submitted them, or ORIGIN_NO_CPU
 * @cgroup: as in /proc/PID/cgroup, "/" is the root; "" if the command has none, such as a flush of
 *          the block layer
 * @pid: number of the process in the first PID namespace; 0 if it is not known
 * @comm: its name, a kernel thread's in brackets; "" if it is not known. A process may give itself
 *        any name, and any bytes, brackets included
 */
struct origin {
	uint16_t number;
	uint16_t cpu;
	char cgroup[ORIGIN_CGROUP_LEN];
	uint32_t pid;
	char comm[ORIGIN_COMM_LEN];
};

/*
 * Cgroups to which I/O belongs: users name them by path, the kernel by id. They are in the unified
 * hierarchy (v2), or in the hierarchy of the blkio controller (v1).
 */

/**
 * struct cgroup_place - a cgroup of this machine
 * @id: inode number of its directory
 * @level: how many levels it is below the root
 */
struct cgroup_place {
	uint64_t id;
	uint32_t level;
};

/**
 * cgroup_path() - convert a path to the form of /proc/PID/cgroup, without the mount point
 *
 * Return: NULL, or why the text is not a cgroup.
 */
const char *cgroup_path(const char *text, char *path, size_t size);

/**
 * cgroup_find() - look up a cgroup whose I/O the kernel accounts separately
 * @path: of cgroup_path()
 * @c: filled
 *
 * Return: NULL, or why there is no such cgroup, in words that follow the path in a message.
 */
const char *cgroup_find(const char *path, struct cgroup_place *c);

/**
 * cgroup_name() - the path of the cgroup with the id, or "cgroup ID" if it is gone or not visible
 *
 * Return: @buf.
 */
char *cgroup_name(uint64_t id, char *buf, size_t size);

/* Room for the short form of a container, or of a pod. */
#define CONTAINER_LEN 16

/**
 * cgroup_container() - the container that a cgroup is, or is in: the first 12 digits of its id, as
 * crictl, docker and podman show it; of a pod's cgroup without a container "pod" and 8 digits
 * @name: filled; "" if the path names no container
 *
 * Known are scopes of systemd (crio-ID.scope, cri-containerd-ID.scope, docker-ID.scope,
 * libpod-ID.scope), directories that are called ID, and pods of kubelet (podUID).
 */
void cgroup_container(const char *path, char name[CONTAINER_LEN]);

/** cgroup_in() - whether @cgroup is @above or below it; both have the form of cgroup_path() */
bool cgroup_in(const char *cgroup, const char *above);

/*
 * A queue of a connection as one side knows it. This information goes with the side's records from
 * the tracer through the stream to the merge.
 */

/* The form of sysfs, "traddr=...,trsvcid=...". */
#define QUEUE_ADDRESS_LEN 64

/* Room for an IPv6 address. */
#define QUEUE_IP_LEN 46

/**
 * struct queue_ends - the two ends of a queue's TCP connection
 * @local, @remote: addresses as text; "" if unknown
 */
struct queue_ends {
	char local[QUEUE_IP_LEN];
	char remote[QUEUE_IP_LEN];
	uint16_t local_port;
	uint16_t remote_port;
};

/**
 * struct queue_info - identity of a queue
 * @slot, @gen: as in its records; @gen says which of the connections of the slot it is
 * @instance: N of nvmeN on the host, the target's own queue index
 * @cntlid, @qid, @sqsize: controller id, queue id, size of its submission queue (0's based)
 * @subsysnqn, @hostnqn, @address: "" if unknown; @address on the host only
 * @ends: as this side sees them
 * @transport: enum nt_transport
 * @queues: how many its controller has, the admin queue included; 0 if unknown; on the host only
 */
struct queue_info {
	uint32_t slot;
	uint32_t gen;
	uint32_t instance;
	uint16_t cntlid;
	uint16_t qid;
	uint16_t sqsize;
	char subsysnqn[NT_NQN_LEN];
	char hostnqn[NT_NQN_LEN];
	char address[QUEUE_ADDRESS_LEN];
	struct queue_ends ends;
	uint8_t transport;
	uint16_t queues;
};

/*
 * Numbers the origins of a host's commands, because a record has room for a small number only. When
 * half of the numbers are used, further origins have no process number; when three quarters are,
 * they have no name of a process either, and when seven eighths are, no CPU, so that the other
 * numbers do for their cgroups. When all are used, further origins share one.
 */
#define ORIGINS_OF_PIDS 2048u
#define ORIGINS_OF_COMMS 3072u
#define ORIGINS_OF_CPUS 3584u

struct origins;

/**
 * origins_new() - with no origin yet; NULL when memory ran out
 * @passing: each number is looked up before the next one is asked for. All are forgotten when half
 *           of them are used, so that each origin has all of its parts
 */
struct origins *origins_new(bool passing);

/**
 * origins_number() - the number of an origin, which gets one when it is new; ORIGIN_OTHERS where
 * there are too many, or no memory
 */
unsigned int origins_number(struct origins *o, const struct nt_from *from);

/** origins_get() - fill @origin with what a number stands for */
void origins_get(const struct origins *o, unsigned int number, struct origin *origin);

/** origins_free() - release; NULL is fine */
void origins_free(struct origins *o);

#endif /* NTPROF_CORE_DEVICE_H */
