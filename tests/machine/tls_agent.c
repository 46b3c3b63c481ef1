// SPDX-License-Identifier: GPL-2.0-only
/*
 * tls_agent [-k] IDENTITY: what a kernel asks of tlshd (ktls-utils), for connections that have it
 * on either end, on this machine or another.
 *
 * NVMe/TCP has the kernel encrypt a connection, but leaves the handshake to a program: it gets the
 * socket by the generic netlink family "handshake" (Documentation/netlink/specs/handshake.yaml),
 * agrees on keys with the other end, gives them to the socket (Documentation/networking/tls.rst)
 * and says which pre-shared key the other end has. Here the keys of both ends are known beforehand,
 * so that no byte of a handshake passes; the kernel's own TLS 1.3 does all that follows.
 *
 * The pre-shared key, which is only named, is added to the keyring ".nvme" as IDENTITY. "ready" is
 * printed when the kernel may ask, and a line for each connection's end. With -k the sockets of
 * servers are kept, so that they close only when SIGUSR1 says so, whoever has long given them back.
 * It ends with SIGTERM.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tls_keys.h"

#ifndef SOL_TLS
#define SOL_TLS 282
#endif

/* linux/handshake.h, which Linux 6.1 does not have yet. */
#define FAMILY "handshake"
#define GROUP "tlshd"
/* Time for the kernel to come out of handshake_req_submit(). */
#define SUBMIT_US 200000

enum { CMD_ACCEPT = 2, CMD_DONE = 3 };
enum { ACCEPT_SOCKFD = 1, ACCEPT_HANDLER_CLASS = 2, ACCEPT_MESSAGE_TYPE = 3 };
enum { DONE_STATUS = 1, DONE_SOCKFD = 2, DONE_REMOTE_AUTH = 3 };
#define CLASS_TLSHD 1
#define TYPE_CLIENT 1

#define MESSAGE_BYTES 4096
#define SECRET_BYTES 32
#define KEPT_MAX 64

struct message {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	char attributes[MESSAGE_BYTES];
};

static volatile sig_atomic_t let_go;
static int kept[KEPT_MAX];
static int nr_kept;

static void on_signal(int signal)
{
	let_go = 1;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int netlink_open(void)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	if (fd < 0 || bind(fd, (void *)&address, sizeof(address)))
		die("netlink");
	return fd;
}

static void message_begin(struct message *m, uint16_t family, uint8_t command)
{
	memset(m, 0, sizeof(*m));
	m->nl.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	m->nl.nlmsg_type = family;
	m->nl.nlmsg_flags = NLM_F_REQUEST;
	m->genl.cmd = command;
	m->genl.version = 1;
}

static void message_put(struct message *m, uint16_t type, const void *data, size_t bytes)
{
	struct nlattr *a = (void *)((char *)m + m->nl.nlmsg_len);

	a->nla_type = type;
	a->nla_len = (uint16_t)(NLA_HDRLEN + bytes);
	memcpy((char *)a + NLA_HDRLEN, data, bytes);
	m->nl.nlmsg_len += NLA_ALIGN(a->nla_len);
}

static void message_put_number(struct message *m, uint16_t type, uint32_t number)
{
	message_put(m, type, &number, sizeof(number));
}

static size_t bytes_of(const struct nlattr *a)
{
	return (size_t)a->nla_len - NLA_HDRLEN;
}

static const char *data_of(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}

/* Attribute @type of @bytes of attributes; NULL if there is none. */
static const struct nlattr *attribute(const char *attributes, size_t bytes, uint16_t type)
{
	while (bytes >= NLA_HDRLEN) {
		const struct nlattr *a = (const void *)attributes;
		size_t size = NLA_ALIGN(a->nla_len);

		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
		if (!size || size > bytes)
			break;
		attributes += size;
		bytes -= size;
	}
	return NULL;
}

/* Of 16 bits or 32; 0 if there is none. */
static uint32_t number_of(const struct nlattr *a)
{
	uint32_t number = 0;

	if (a)
		memcpy(&number, data_of(a),
		       bytes_of(a) < sizeof(number) ? bytes_of(a) : sizeof(number));
	return number;
}

static const struct nlattr *answer_attribute(const struct message *m, uint16_t type)
{
	return attribute(m->attributes, m->nl.nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN), type);
}

/* Sends @m, and receives the answer in its place. Return: 0, or the errno that the kernel answers.
 */
static int message_exchange(int fd, struct message *m)
{
	const struct nlmsgerr *error;

	if (send(fd, m, m->nl.nlmsg_len, 0) < 0 || recv(fd, m, sizeof(*m), 0) < 0)
		die("netlink");
	if (m->nl.nlmsg_type != NLMSG_ERROR)
		return 0;
	error = NLMSG_DATA(&m->nl);
	return -error->error;
}

/* Return: the number of the family. @group: filled, with that of its group */
static uint16_t family_find(int fd, uint32_t *group)
{
	struct message m;
	const struct nlattr *groups, *each, *name;

	message_begin(&m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	message_put(&m, CTRL_ATTR_FAMILY_NAME, FAMILY, sizeof(FAMILY));
	errno = message_exchange(fd, &m);
	if (errno)
		die("the kernel's handshakes");
	groups = answer_attribute(&m, CTRL_ATTR_MCAST_GROUPS);
	if (!groups)
		die("their groups");
	for (size_t at = 0; at < bytes_of(groups); at += NLA_ALIGN(each->nla_len)) {
		each = (const void *)(data_of(groups) + at);
		name = attribute(data_of(each), bytes_of(each), CTRL_ATTR_MCAST_GRP_NAME);
		if (name && !strcmp(data_of(name), GROUP))
			*group = number_of(
				attribute(data_of(each), bytes_of(each), CTRL_ATTR_MCAST_GRP_ID));
	}
	return (uint16_t)number_of(answer_attribute(&m, CTRL_ATTR_FAMILY_ID));
}

/* What the driver nvme-keyring has made: a keyring is found by its name in /proc/keys alone. */
static int keyring_find(void)
{
	FILE *f = fopen("/proc/keys", "re");
	char line[256];
	int id = 0;

	if (!f)
		die("/proc/keys");
	while (fgets(line, sizeof(line), f))
		if (strstr(line, " keyring ") && strstr(line, " .nvme:"))
			id = (int)strtoul(line, NULL, 16);
	(void)fclose(f);
	if (!id) {
		(void)fprintf(stderr, "no keyring .nvme: the module nvme-keyring is not loaded\n");
		exit(1);
	}
	return id;
}

static int key_add(const char *identity)
{
	char secret[SECRET_BYTES];
	long key;

	memset(secret, 1, sizeof(secret));
	key = syscall(SYS_add_key, "psk", identity, secret, sizeof(secret), keyring_find());
	if (key < 0)
		die("add_key");
	return (int)key;
}

/* @from_client: for what the connection's client sends */
static void direction_set(int fd, int direction, bool from_client)
{
	struct tls12_crypto_info_aes_gcm_128 info = tls_keys(from_client);

	if (setsockopt(fd, SOL_TLS, direction, &info, sizeof(info)))
		die("keys");
}

static void keys_set(int fd, bool client)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")))
		die("TLS");
	direction_set(fd, TLS_TX, client);
	direction_set(fd, TLS_RX, !client);
}

/* Return: false if no connection waits. @keep: the sockets of servers */
static bool serve_one(int netlink, uint16_t family, int key, bool keep)
{
	struct message m;
	bool client;
	int fd;

	message_begin(&m, family, CMD_ACCEPT);
	message_put_number(&m, ACCEPT_HANDLER_CLASS, CLASS_TLSHD);
	errno = message_exchange(netlink, &m);
	if (errno == EAGAIN)
		return false;
	if (errno)
		die("accept");
	fd = (int)number_of(answer_attribute(&m, ACCEPT_SOCKFD));
	client = number_of(answer_attribute(&m, ACCEPT_MESSAGE_TYPE)) == TYPE_CLIENT;
	keys_set(fd, client);
	/*
	 * handshake_req_submit() of 6.12 takes its reference to the socket when it has told us of
	 * it. A handshake that is over by then leaves it one that is given back already, and the
	 * kernel crashes.
	 */
	usleep(SUBMIT_US);

	message_begin(&m, family, CMD_DONE);
	m.nl.nlmsg_flags |= NLM_F_ACK;
	message_put_number(&m, DONE_STATUS, 0);
	message_put_number(&m, DONE_SOCKFD, (uint32_t)fd);
	message_put_number(&m, DONE_REMOTE_AUTH, (uint32_t)key);
	errno = message_exchange(netlink, &m);
	if (errno)
		die("done");
	if (keep && !client && nr_kept < KEPT_MAX)
		kept[nr_kept++] = fd;
	else
		close(fd);
	(void)printf("%s\n", client ? "client" : "server");
	return true;
}

static void kept_close(void)
{
	while (nr_kept > 0)
		close(kept[--nr_kept]);
	let_go = 0;
	(void)printf("closed\n");
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	bool keep = argc == 3 && !strcmp(argv[1], "-k");
	int requests, events, key;
	uint32_t group = 0;
	uint16_t family;
	struct message m;

	if (argc != 2 + keep) {
		(void)fprintf(stderr, "usage: tls_agent [-k] IDENTITY\n");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	key = key_add(argv[1 + keep]);
	requests = netlink_open();
	events = netlink_open();
	family = family_find(requests, &group);
	if (setsockopt(events, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		die("group");
	/* The signal may interrupt only the wait for events; a test sends the signal when nothing
	 * else is to be done. */
	sigaction(SIGUSR1, &action, NULL);
	(void)printf("ready\n");
	for (;;) {
		if (let_go)
			kept_close();
		while (serve_one(requests, family, key, keep))
			;
		if (recv(events, &m, sizeof(m), 0) < 0 && errno != ENOBUFS && errno != EINTR)
			die("events");
	}
}
