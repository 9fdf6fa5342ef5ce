/* Fuzzes the reader and the writer of checkpoints (src/checkpoint/file.c). The first byte of an input chooses what
 * happens to the others: bit 0 writes a right header and digest over them, so that the reader gets beyond those; bit 1
 * writes them as the parts of a checkpoint, which must come back. A property that fails ends the program. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "checkpoint/file.h"

#define HEADER_DIGESTED 48

/* In memory: a file is flushed to its disk each time. */
static char path[64], folder[] = "/dev/shm/fuzz-checkpoint-XXXXXX", written[64];
static int memory = -1;

static void check(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "wrong: %s\n", what);
  abort();
}

static void remove_folder(void) {
  (void)unlink(written);
  (void)rmdir(folder);
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  (void)count, (void)arguments;
  memory = memfd_create("checkpoint", MFD_CLOEXEC);
  check(memory >= 0 && mkdtemp(folder) != NULL, "there is no memory or no folder for files");
  snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
  snprintf(written, sizeof written, "%s/file", folder);
  (void)atexit(remove_folder);
  return 0;
}

/* Makes the bytes a checkpoint whose header and digest are right. */
static void repair(unsigned char *bytes, size_t size) {
  static const unsigned char magic[16] = "warpbayes\r\n\x1a\n\0cp";
  wb_digest digest;
  if (size < WB_CHECKPOINT_HEADER) return;
  const uint64_t room = size - WB_CHECKPOINT_HEADER, head = wb_whole_from_bytes(bytes + 24);
  memcpy(bytes, magic, sizeof magic);
  wb_whole_to_bytes(WB_CHECKPOINT_FORMAT, bytes + 16);
  wb_whole_to_bytes(room > 0 ? head % (room + 1) : 0, bytes + 24);
  wb_whole_to_bytes(size, bytes + 32);
  wb_whole_to_bytes(WB_CHECKPOINT_ORDER, bytes + 40);
  wb_digest_start(&digest);
  wb_digest_add(&digest, bytes, HEADER_DIGESTED, 1);
  wb_digest_add(&digest, bytes + WB_CHECKPOINT_HEADER, room, 1);
  wb_digest_end(&digest, bytes + HEADER_DIGESTED);
}

/* Reads all of a checkpoint, in pieces of 1, 4 and 8 bytes in turn. The values must be those of `bytes`. */
static int read_it(const char *name, const unsigned char *bytes, size_t size) {
  static const size_t width[] = {1, 4, 8};
  wb_message message = {""};
  wb_checkpoint_reader reader;
  int status = wb_checkpoint_open(&reader, name, &message);
  const int opened = status == WB_OK;
  check(!opened || (reader.size == size && reader.head <= size), "a size that the file does not have");
  unsigned char *values = malloc(size + 1);
  size_t at = WB_CHECKPOINT_HEADER;
  for (int turn = 0; opened && status == WB_OK && at < size; turn++) {
    const size_t w = width[turn % 3], most = (size - at) / w, count = most < 100 ? most : 100;
    if (count == 0 && w > 1) continue;
    status = wb_checkpoint_read(&reader, values, count, w, &message);
    check(status != WB_OK || memcmp(values, bytes + at, count * w) == 0, "other values than in the file");
    at += count * w;
  }
  free(values);
  status = wb_checkpoint_close(&reader, status, &message);
  check(status == WB_OK || strlen(message.text) > 0, "a failure without a message");
  return status;
}

static void write_and_read(const unsigned char *data, size_t size) {
  const size_t half = size / 2 / 8 * 8, stride = half / 8 >= 4 ? 3 : 1;
  const wb_checkpoint_part part[] = {{data, 1, 1, size - half, 0},
                                     {data + (size - half), 8, half / 8 / stride, stride > 1 ? 2 : 1, stride}};
  unsigned char *aligned = malloc(size + 1), read_back[WB_CHECKPOINT_HEADER];
  memcpy(aligned, data + (size - half), half);
  wb_checkpoint_part parts[2] = {part[0], part[1]};
  parts[1].values = aligned;
  wb_message message = {""};
  check(wb_checkpoint_write(written, parts, 2, &message) == WB_OK, message.text);
  const size_t whole = WB_CHECKPOINT_HEADER + size - half + 8 * parts[1].runs * parts[1].run;
  unsigned char *bytes = malloc(whole);
  FILE *file = fopen(written, "rb");
  check(file && fread(bytes, 1, whole, file) == whole && fread(read_back, 1, 1, file) == 0, "a file of another size");
  (void)fclose(file);
  check(memcmp(bytes + WB_CHECKPOINT_HEADER, data, size - half) == 0, "another first part than was written");
  check(read_it(written, bytes, whole) == WB_OK, "a new checkpoint cannot be read");
  bytes[whole * 7 / 9] ^= 16;
  file = fopen(written, "wb");
  check(file && fwrite(bytes, 1, whole, file) == whole && fclose(file) == 0, "a file that cannot be written");
  check(read_it(written, bytes, whole) != WB_OK, "a changed bit is not found");
  free(bytes);
  free(aligned);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  const uint8_t how = data[0];
  data++, size--;
  if (how & 2) {
    write_and_read(data, size);
    return 0;
  }
  unsigned char *bytes = malloc(size + 1);
  memcpy(bytes, data, size);
  if (how & 1) repair(bytes, size);
  check(ftruncate(memory, 0) == 0 && pwrite(memory, bytes, size, 0) == (ssize_t)size, "memory for a file");
  const int status = read_it(path, bytes, size);
  check(status == WB_OK || !(how & 1) || size < WB_CHECKPOINT_HEADER, "a right checkpoint cannot be read");
  free(bytes);
  return 0;
}
