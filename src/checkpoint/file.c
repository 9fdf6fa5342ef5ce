/* Writes and verifies the files of checkpoints; file.h has the format. */
#define _FILE_OFFSET_BITS 64
#include "core/rounding.h"

#include "checkpoint/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#ifdef _WIN32
#include <io.h>
#include <windows.h>
#else
#include <unistd.h>
#endif

#include "numeric/memory.h"

#ifndef O_BINARY
#define O_BINARY 0
#endif
#ifndef O_NOFOLLOW
#define O_NOFOLLOW 0
#endif
#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif

#define BUFFER ((size_t)1 << 20)
#define DIGESTED 48 /* bytes of the header before its digest */

static const unsigned char magic[16] = {'w', 'a',  'r',  'p',  'b',  'a', 'y', 'e',
                                        's', '\r', '\n', 0x1a, '\n', 0,   'c', 'p'};

static int say(wb_message *message, const char *what) {
  return wb_fail(message, WB_ERROR_INPUT, "%s: %s", what, strerror(errno));
}

/* Writing --------------------------------------------------------------------- */

static int write_all(int file, const unsigned char *bytes, size_t count) {
  while (count > 0) {
    const size_t most = count < (size_t)1 << 30 ? count : (size_t)1 << 30;
    const long long written = (long long)write(file, bytes, most);
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) return 0;
    bytes += written;
    count -= (size_t)written;
  }
  return 1;
}

typedef struct writer {
  int file;
  unsigned char *buffer;
  size_t held;
  wb_digest digest;
} writer;

static int empty_buffer(writer *w) {
  wb_digest_add(&w->digest, w->buffer, w->held, 1);
  const int done = write_all(w->file, w->buffer, w->held);
  w->held = 0;
  return done;
}

static int write_values(writer *w, const unsigned char *values, size_t count, size_t width) {
  while (count > 0) {
    if (BUFFER - w->held < width && !empty_buffer(w)) return 0;
    const size_t room = (BUFFER - w->held) / width, now = count < room ? count : room;
    wb_lowest_first(w->buffer + w->held, values, now, width);
    w->held += now * width;
    values += now * width;
    count -= now;
  }
  return 1;
}

static uint64_t part_bytes(const wb_checkpoint_part *part) { return (uint64_t)part->runs * part->run * part->width; }

/* Writes the parts, then the header, when the digest is known. */
static int write_file(writer *w, const wb_checkpoint_part *part, size_t parts) {
  unsigned char header[WB_CHECKPOINT_HEADER] = {0};
  uint64_t size = sizeof header;
  for (size_t i = 0; i < parts; i++) size += part_bytes(part + i);
  memcpy(header, magic, sizeof magic);
  wb_whole_to_bytes(WB_CHECKPOINT_FORMAT, header + 16);
  wb_whole_to_bytes(part_bytes(part), header + 24);
  wb_whole_to_bytes(size, header + 32);
  wb_whole_to_bytes(WB_CHECKPOINT_ORDER, header + 40);
  if (!write_all(w->file, header, sizeof header)) return 0;
  wb_digest_start(&w->digest);
  wb_digest_add(&w->digest, header, DIGESTED, 1);
  w->held = 0;
  for (size_t i = 0; i < parts; i++)
    for (size_t r = 0; r < part[i].runs; r++)
      if (!write_values(w, (const unsigned char *)part[i].values + r * part[i].stride * part[i].width, part[i].run,
                        part[i].width))
        return 0;
  if (!empty_buffer(w)) return 0;
  wb_digest_end(&w->digest, header + DIGESTED);
  return lseek(w->file, 0, SEEK_SET) == 0 && write_all(w->file, header, sizeof header);
}

#ifdef _WIN32

static int see_onto_disk(int file) { return _commit(file) == 0; }

static int give_name(const char *temporary, const char *path) {
  if (MoveFileExA(temporary, path, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return 1;
  errno = EACCES;
  return 0;
}

#else

static int see_onto_disk(int file) {
  while (fsync(file) != 0)
    if (errno != EINTR) return 0;
  return 1;
}

/* Flushes the folder too where the system can do that: the new name is in the folder. */
static int give_name(const char *temporary, const char *path) {
  if (rename(temporary, path) != 0) return 0;
  const char *const slash = strrchr(path, '/');
  const size_t length = slash ? (size_t)(slash - path) : 0;
  char *const folder = malloc(length + 2);
  if (!folder) return 1;
  memcpy(folder, path, length);
  strcpy(folder + length, slash && length == 0 ? "/" : slash ? "" : ".");
  const int opened = open(folder, O_RDONLY | O_CLOEXEC);
  free(folder);
  if (opened >= 0) {
    (void)fsync(opened);
    (void)close(opened);
  }
  return 1;
}

#endif

/* The files beside a checkpoint -------------------------------------------------- */

/* `path` with an ending, which the caller frees. */
static char *with_ending(const char *path, const char *ending, wb_message *message) {
  const size_t size = strlen(path) + strlen(ending) + 1;
  char *const name = malloc(size);
  if (name) snprintf(name, size, "%s%s", path, ending);
  else (void)wb_out_of_memory(message, "the name of a temporary file", size);
  return name;
}

/* Opens a new file beside `path`. A killed process may have left one; any other file stays. The caller frees
 * `temporary`, its name, also after a failure. */
static int open_temporary(const char *path, char **temporary, int *file, wb_message *message) {
  struct stat info;
  *file = -1;
  *temporary = with_ending(path, ".tmp", message);
  if (!*temporary) return WB_ERROR_MEMORY;
  if (stat(*temporary, &info) == 0 && (info.st_size == 0 || wb_checkpoint_is_one(*temporary, message) == WB_OK))
    (void)unlink(*temporary);
  *file = open(*temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_BINARY, 0666);
  return *file < 0 ? say(message, "its temporary file cannot be made") : WB_OK;
}

#ifdef _WIN32

int wb_checkpoint_hold(const char *path, int *lock, wb_message *message) {
  (void)path, (void)message;
  *lock = -1;
  return WB_OK;
}

void wb_checkpoint_free(const char *path, int lock) { (void)path, (void)lock; }

#else

int wb_checkpoint_hold(const char *path, int *lock, wb_message *message) {
  char *const name = with_ending(path, ".lock", message);
  int status = name ? WB_OK : WB_ERROR_MEMORY;
  struct stat mine, there;
  *lock = -1;
  /* The process that held the lock before may have removed the file since it was opened. */
  for (int again = 1; status == WB_OK && again;) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    *lock = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    const int held = *lock >= 0 && fcntl(*lock, F_SETLK, &whole) == 0;
    const int refused = *lock >= 0 && !held && (errno == EACCES || errno == EAGAIN);
    again = held && fstat(*lock, &mine) == 0 && (stat(name, &there) != 0 || mine.st_ino != there.st_ino);
    if (refused && fcntl(*lock, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK) {
      wb_message_write(message, "process %ld is writing it", (long)whole.l_pid);
      status = WB_ERROR_INPUT;
    }
    if (!held || again) {
      if (*lock >= 0) (void)close(*lock);
      *lock = -1;
    }
  }
  free(name);
  return status;
}

void wb_checkpoint_free(const char *path, int lock) {
  wb_message message;
  char *const name = lock >= 0 ? with_ending(path, ".lock", &message) : NULL;
  if (name) (void)unlink(name);
  if (lock >= 0) (void)close(lock);
  free(name);
}

#endif

int wb_checkpoint_try(const char *path, wb_message *message) {
  char *temporary;
  int file;
  const int status = open_temporary(path, &temporary, &file, message);
  if (file >= 0) {
    (void)close(file);
    (void)unlink(temporary);
  }
  free(temporary);
  return status;
}

int wb_checkpoint_write(const char *path, const wb_checkpoint_part *part, size_t parts, wb_message *message) {
  writer w;
  char *temporary;
  w.buffer = malloc(BUFFER);
  if (!w.buffer) return wb_out_of_memory(message, "the buffer of a checkpoint", BUFFER);
  int status = open_temporary(path, &temporary, &w.file, message);
  if (status == WB_OK) {
    if (!write_file(&w, part, parts) || !see_onto_disk(w.file)) status = say(message, "writing failed");
    /* Some network file systems report a full disk only here. */
    if (close(w.file) != 0 && status == WB_OK) status = say(message, "writing failed");
    if (status == WB_OK && !give_name(temporary, path)) status = say(message, "it cannot be put into its place");
    if (status != WB_OK) (void)unlink(temporary);
  }
  free(temporary);
  free(w.buffer);
  return status;
}

/* Reading --------------------------------------------------------------------- */

/* Reads up to `count` bytes and returns how many there were; -1 if reading fails. */
static long long read_all(int file, unsigned char *bytes, size_t count) {
  size_t done = 0;
  while (done < count) {
    const long long now = (long long)read(file, bytes + done, (unsigned)(count - done));
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return -1;
    if (now == 0) break;
    done += (size_t)now;
  }
  return (long long)done;
}

static int open_checkpoint(const char *path, int *file, unsigned char header[WB_CHECKPOINT_HEADER], size_t *held,
                           uint64_t *size, wb_message *message) {
#ifdef O_NONBLOCK /* without it open() would wait for a pipe that nobody writes to */
  *file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_BINARY);
#else
  *file = open(path, O_RDONLY | O_CLOEXEC | O_BINARY);
#endif
  if (*file < 0) return say(message, "cannot be read");
  struct stat info;
  if (fstat(*file, &info) != 0) return say(message, "cannot be read");
  if ((info.st_mode & S_IFMT) != S_IFREG) return wb_fail(message, WB_ERROR_INPUT, "is not an ordinary file");
  *size = (uint64_t)info.st_size;
  const long long got = read_all(*file, header, WB_CHECKPOINT_HEADER);
  if (got < 0) return say(message, "cannot be read");
  *held = (size_t)got;
  const size_t compared = *held < sizeof magic ? *held : sizeof magic;
  if (compared == 0 || memcmp(header, magic, compared) != 0)
    return wb_fail(message, WB_ERROR_INPUT, "is not a checkpoint of warpbayes%s", *held == 0 ? ": it is empty" : "");
  return WB_OK;
}

int wb_checkpoint_is_one(const char *path, wb_message *message) {
  unsigned char header[WB_CHECKPOINT_HEADER];
  size_t held;
  uint64_t size;
  int file;
  const int status = open_checkpoint(path, &file, header, &held, &size, message);
  if (file >= 0) (void)close(file);
  return status;
}

static int check_header(const unsigned char *header, size_t held, uint64_t size, wb_message *message) {
  if (held == WB_CHECKPOINT_HEADER) {
    const uint64_t format = wb_whole_from_bytes(header + 16), head = wb_whole_from_bytes(header + 24);
    const uint64_t whole = wb_whole_from_bytes(header + 32);
    if (format != WB_CHECKPOINT_FORMAT)
      return wb_fail(message, WB_ERROR_INPUT,
                     "has format %llu of checkpoints; this version of warpbayes reads format %d",
                     (unsigned long long)format, WB_CHECKPOINT_FORMAT);
    if (wb_whole_from_bytes(header + 40) != WB_CHECKPOINT_ORDER)
      return wb_fail(message, WB_ERROR_INPUT, "has its numbers in another order of bytes, or is damaged");
    if (size == whole && head <= whole - WB_CHECKPOINT_HEADER) return WB_OK;
    if (size > whole || head > whole)
      return wb_fail(message, WB_ERROR_INPUT, "is damaged: it has %llu bytes, but should have %llu",
                     (unsigned long long)size, (unsigned long long)whole);
    return wb_fail(message, WB_ERROR_INPUT, "is truncated: it has %llu of %llu bytes", (unsigned long long)size,
                   (unsigned long long)whole);
  }
  return wb_fail(message, WB_ERROR_INPUT, "is truncated: it has only %llu bytes", (unsigned long long)size);
}

int wb_checkpoint_open(wb_checkpoint_reader *reader, const char *path, wb_message *message) {
  unsigned char header[WB_CHECKPOINT_HEADER];
  size_t held;
  WB_TRY(open_checkpoint(path, &reader->file, header, &held, &reader->size, message));
  WB_TRY(check_header(header, held, reader->size, message));
  reader->head = wb_whole_from_bytes(header + 24);
  memcpy(reader->digest, header + DIGESTED, sizeof reader->digest);
  wb_digest_start(&reader->found);
  wb_digest_add(&reader->found, header, DIGESTED, 1);
  reader->done = WB_CHECKPOINT_HEADER;
  return WB_OK;
}

int wb_checkpoint_read(wb_checkpoint_reader *reader, void *values, size_t count, size_t width, wb_message *message) {
  unsigned char turned[1 << 12];
  unsigned char *bytes = values;
  const size_t most = sizeof turned / width;
  while (count > 0) {
    const size_t now = count < most ? count : most;
    const long long got = read_all(reader->file, turned, now * width);
    if (got < 0) return say(message, "cannot be read");
    if ((size_t)got < now * width) return wb_fail(message, WB_ERROR_INPUT, "changed while it was read");
    wb_digest_add(&reader->found, turned, now * width, 1);
    wb_lowest_first(bytes, turned, now, width);
    reader->done += now * width;
    bytes += now * width;
    count -= now;
  }
  return WB_OK;
}

static int check_digest(wb_checkpoint_reader *reader, wb_message *message) {
  unsigned char *const buffer = malloc(BUFFER);
  if (!buffer) return wb_out_of_memory(message, "the buffer of a checkpoint", BUFFER);
  long long got;
  while ((got = read_all(reader->file, buffer, BUFFER)) > 0) {
    wb_digest_add(&reader->found, buffer, (size_t)got, 1);
    reader->done += (uint64_t)got;
  }
  free(buffer);
  if (got < 0) return say(message, "cannot be read");
  unsigned char found[WB_DIGEST_BYTES];
  wb_digest_end(&reader->found, found);
  if (reader->done == reader->size && memcmp(found, reader->digest, sizeof found) == 0) return WB_OK;
  return wb_fail(message, WB_ERROR_INPUT, "is damaged: its bytes are not those that were written");
}

int wb_checkpoint_close(wb_checkpoint_reader *reader, int status, wb_message *message) {
  if (status == WB_OK) status = check_digest(reader, message);
  if (reader->file >= 0) (void)close(reader->file);
  reader->file = -1;
  return status;
}
