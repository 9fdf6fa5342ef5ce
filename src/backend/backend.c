/* Writes the messages of failures, and checks whether a backend has the functions of a topic. */
#include "backend/backend.h"

#include <stdarg.h>
#include <stdio.h>

void wb_message_write(wb_message *message, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(message->text, sizeof message->text, format, values);
  va_end(values);
}

int wb_backend_has(const wb_backend *backend, const void *functions, const char *topic, wb_message *message) {
  if (functions) return WB_OK;
  return wb_fail(message, WB_ERROR_BACKEND, "the backend \"%s\" cannot compute %s: choose another backend",
                 backend->name, topic);
}
