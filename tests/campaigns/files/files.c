/* Counts the calls of the C library that touch files below the folder WB_FILES_FOLDER, and lets the one with a given
 * number fail, as on a full disk or a broken one. run.sh preloads this. Calls within the C library do not come here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long made, chosen;
static const char *failed = "";

static int is_below(const char *path) {
  const char *const folder = getenv("WB_FILES_FOLDER");
  return chosen >= 0 && folder && path && strstr(path, folder) != NULL;
}

static int is_ours(int file) {
  char link[64], path[4096];
  if (chosen < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return is_below(path);
}

/* Whether this call fails. */
static int fails(const char *name, int code) {
  if (++made != chosen) return 0;
  failed = name;
  errno = code;
  return 1;
}

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name)

/* For calls with a path, and for calls with a file; `close` makes the call before it fails. */
#define BY_PATH(name, result, code, failure, arguments, values) \
  result name arguments { \
    REAL(name); \
    return is_below(path) && fails(#name, code) ? failure : real values; \
  }
#define BY_FILE(name, result, file, code, failure, close, arguments, values) \
  result name arguments { \
    REAL(name); \
    if (is_ours(file) && fails(#name, code)) { \
      if (close) (void)real values; \
      errno = code; \
      return failure; \
    } \
    return real values; \
  }

BY_PATH(fopen, FILE *, EMFILE, NULL, (const char *path, const char *mode), (path, mode))
BY_PATH(fopen64, FILE *, EMFILE, NULL, (const char *path, const char *mode), (path, mode))
BY_PATH(unlink, int, EIO, -1, (const char *path), (path))
BY_PATH(remove, int, EIO, -1, (const char *path), (path))
BY_PATH(chmod, int, EPERM, -1, (const char *path, mode_t mode), (path, mode))
BY_PATH(rename, int, EACCES, -1, (const char *path, const char *to), (path, to))
BY_FILE(write, ssize_t, file, ENOSPC, -1, 0, (int file, const void *bytes, size_t count), (file, bytes, count))
BY_FILE(read, ssize_t, file, EIO, -1, 0, (int file, void *bytes, size_t count), (file, bytes, count))
BY_FILE(fsync, int, file, EIO, -1, 0, (int file), (file))
BY_FILE(close, int, file, EIO, -1, 1, (int file), (file))
BY_FILE(fwrite, size_t, fileno(stream), ENOSPC, 0, 0, (const void *bytes, size_t size, size_t count, FILE *stream),
        (bytes, size, count, stream))
BY_FILE(fread, size_t, fileno(stream), EIO, 0, 0, (void *bytes, size_t size, size_t count, FILE *stream),
        (bytes, size, count, stream))
BY_FILE(fflush, int, stream ? fileno(stream) : -1, ENOSPC, EOF, 0, (FILE * stream), (stream))
BY_FILE(fclose, int, fileno(stream), ENOSPC, EOF, 1, (FILE * stream), (stream))

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(name); \
    va_list rest; \
    va_start(rest, flags); \
    const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0; \
    va_end(rest); \
    return is_below(path) && fails(#name, EMFILE) ? -1 : real(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

/* For .C(). at: the number of the call that fails, from 1; 0: none; -1: calls are not counted. */
void files_arm(int *at) {
  made = 0;
  failed = "";
  chosen = *at;
}

void files_count(int *calls, char **name) {
  *calls = (int)made;
  *name = (char *)failed;
}
