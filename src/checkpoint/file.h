/* Files with the state of a run, replaced as a whole and verified when read.
 *
 * A file is a header of 64 bytes and its parts, one after the other. The header:
 *   bytes 0-15   magic; its line ends and end-of-file sign show a transfer as text
 *   16-23        version of the format       24-31   bytes of the first part, the head
 *   32-39        bytes of the whole file     40-47   the order of bytes: the number WB_CHECKPOINT_ORDER
 *   48-63        digest of the 48 bytes before it and of all bytes after it
 * Numbers are little-endian on every machine. R/run_checkpoint.R defines what the parts mean. */
#pragma once

#include "backend/types.h"
#include "numeric/digest.h"

#define WB_CHECKPOINT_HEADER 64
#define WB_CHECKPOINT_FORMAT 1
#define WB_CHECKPOINT_ORDER 0x0807060504030201u

/* A part: `runs` runs of `run` values of `width` bytes, which begin `stride` values apart. */
typedef struct wb_checkpoint_part {
  const void *values;
  size_t width, runs, run, stride;
} wb_checkpoint_part;

/* Locks the file `path`.lock, so that only this process writes; the system drops the lock when the process ends. `lock`
 * is -1 where there are no locks. The message names another process that has it. */
int wb_checkpoint_hold(const char *path, int *lock, wb_message *message);
void wb_checkpoint_free(const char *path, int lock);

/* Finds out whether a checkpoint can be written: makes a file beside `path` and deletes it. */
int wb_checkpoint_try(const char *path, wb_message *message);

/* Writes a new file `path`.tmp, which must not exist, flushes it to the disk and renames it to `path`. On failure
 * `path` is unchanged and the new file removed. */
int wb_checkpoint_write(const char *path, const wb_checkpoint_part *part, size_t parts, wb_message *message);

/* WB_OK if the file begins as a checkpoint does. If not, the message says what it is. */
int wb_checkpoint_is_one(const char *path, wb_message *message);

/* Reads a checkpoint: wb_checkpoint_open() checks the header, wb_checkpoint_read() gives the next values, and
 * wb_checkpoint_close(), which must follow, reads the rest and verifies all bytes. Only then may values be used. */
typedef struct wb_checkpoint_reader {
  int file;
  uint64_t head, size;                   /* bytes of the first part and of the whole file */
  unsigned char digest[WB_DIGEST_BYTES]; /* as the header states it */
  wb_digest found;
  uint64_t done;
} wb_checkpoint_reader;

int wb_checkpoint_open(wb_checkpoint_reader *reader, const char *path, wb_message *message);
int wb_checkpoint_read(wb_checkpoint_reader *reader, void *values, size_t count, size_t width, wb_message *message);
int wb_checkpoint_close(wb_checkpoint_reader *reader, int status, wb_message *message);
