/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes to a descriptor without ever waiting for it. Whole pieces go into a buffer of limited
 * size, and a thread writes them in order. The caller does not wait, whatever the descriptor is: a
 * pipe that is not read, a terminal after Ctrl-S, a disk that hangs. The flags of the descriptor,
 * which other programs share, do not change.
 */
#ifndef NTPROF_CORE_OUTPUT_H
#define NTPROF_CORE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output;

/* Room for this many pieces is kept beyond what output_room() reports. */
#define OUTPUT_SPARE_PIECES 16

/**
 * struct output_rest - pieces that were taken back
 * @pieces: number of pieces
 * @weight: sum of their weights
 * @bytes: sum of their lengths
 */
struct output_rest {
	unsigned int pieces;
	uint64_t weight;
	uint64_t bytes;
};

/**
 * output_new() - begin to write
 * @fd: descriptor to write to; it stays the caller's, who must not write to it before output_free()
 * @size: size of the buffer in bytes
 *
 * Return: the output, or NULL with errno set.
 */
struct output *output_new(int fd, size_t size);

/**
 * output_put() - append a piece
 * @o: output
 * @p, @n: its bytes, which are copied
 * @weight: what it counts for in struct output_rest
 *
 * It is written once there are enough bytes for a full write, or by output_flush(). A piece that is
 * larger than the buffer is accepted when the buffer is empty.
 *
 * Return: 0; -EAGAIN when there is no room, and then nothing of the piece will be written; -EPIPE
 * when the reader is gone, or another negative errno, after which nothing more is written.
 */
int output_put(struct output *o, const void *p, size_t n, unsigned int weight);

/** output_flush() - start to write everything in the buffer; does not wait */
void output_flush(struct output *o);

/**
 * output_sync() - call fsync(2) once everything in the buffer is written; does not wait
 * @fd: file or folder; it stays the caller's, who must not close it before output_idle() or
 *      output_free()
 *
 * There can be only one at a time. Its error becomes output_error(). A file system without fsync(2)
 * is not an error.
 */
void output_sync(struct output *o, int fd);

/** output_room() - number of bytes that fit; 0 when there are too many pieces */
size_t output_room(struct output *o);

/** output_idle() - whether nothing waits to be written or synchronized */
bool output_idle(struct output *o);

/** output_written() - bytes of the pieces that are completely written */
uint64_t output_written(struct output *o);

/** output_error() - 0 or what output_put() would return */
int output_error(struct output *o);

/** output_event_fd() - readable once output_error() is not 0; poll it, but do not read it */
int output_event_fd(const struct output *o);

/**
 * output_settle() - wait until everything is written, and on the disk after output_sync()
 * @o: output
 * @hurry_fd: -1, or a descriptor that becomes readable when there is no time to wait
 * @patience_ns: how long to wait after that
 *
 * Return: 0 when everything is written, -ETIMEDOUT when not, or output_error().
 */
int output_settle(struct output *o, int hurry_fd, uint64_t patience_ns);

/**
 * output_cut() - take back the pieces that have not been begun
 * @o: output
 * @rest: filled
 *
 * It also works after an error that left only whole pieces. A regular file ends with the last whole
 * piece then, and the caller can try to write another one behind it.
 *
 * Return: 0 or output_error().
 */
int output_cut(struct output *o, struct output_rest *rest);

/**
 * output_free() - stop writing at once and release; NULL is fine
 *
 * If the kernel does not end a write, its memory is not released, and this does not wait for it.
 */
void output_free(struct output *o);

/*
 * Errors of writing to standard output with stdio, such as a full disk, are reported, whichever
 * function printed.
 */

/**
 * standard_output_may_close() - from now on the program ends at once and with success if the reader
 * of its output is gone
 *
 * For verbs that only print, whose reader may have seen enough ("| head"). The reader of a file
 * that such a verb writes is another one: the write fails with EPIPE.
 */
void standard_output_may_close(void);

/**
 * standard_output_watch() - call once: if writing has failed, the program prints a message at its
 * end and exits with 1
 */
void standard_output_watch(void);

/**
 * standard_output_finish() - write all that was printed
 *
 * Return: 0 or a negative errno, which the caller has to report, as then nothing else does.
 */
int standard_output_finish(void);

#endif /* NTPROF_CORE_OUTPUT_H */
