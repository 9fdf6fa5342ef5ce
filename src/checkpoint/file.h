/* Files that hold the state of a run. A file is replaced as a whole, so that a complete one always exists, and is
 * verified when it is read.
 *
 * A file is a header of 64 bytes and its parts, one after the other. The header:
 *   bytes 0-15   magic; its line ends and end-of-file sign show a transfer as text
 *   16-23        version of the format       24-31   bytes of the first part, the head
 *   32-39        bytes of the whole file     40-47   0
 *   48-63        digest of the 48 bytes before it and of all bytes after it
 * Numbers are little-endian. R/checkpoint.R defines what the parts mean. */
#ifndef WB_CHECKPOINT_FILE_H
#define WB_CHECKPOINT_FILE_H

#include "backend/types.h"

#define WB_CHECKPOINT_HEADER 64
#define WB_CHECKPOINT_FORMAT 1

/* A part: `runs` runs of `run` values of `width` bytes, which begin `stride` values apart. */
typedef struct wb_checkpoint_part {
  const void *values;
  size_t width, runs, run, stride;
} wb_checkpoint_part;

/* Writes a new file `temporary`, which must be in the folder of `path`, flushes it to the disk and renames it to
 * `path`. On failure `path` is unchanged, `temporary` is removed, and the message says why. */
int wb_checkpoint_write(const char *temporary, const char *path, const wb_checkpoint_part *part, size_t parts,
                        wb_message *message);

/* WB_OK if the file begins as a checkpoint does. If not, the message says what it is. */
int wb_checkpoint_is_one(const char *path, wb_message *message);

/* Reads the whole file and checks that it is as it was written. `head`: bytes of its first part; `size`: bytes of
 * all. */
int wb_checkpoint_verify(const char *path, uint64_t *head, uint64_t *size, wb_message *message);

#endif
