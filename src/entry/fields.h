/* Lists of R by tables. A table has a line for each element of a list: its name, its type, its dimensions, and where a
 * struct holds it. Users can change a fit: nothing of it is read before its size is known. */
#pragma once

#include "entry/entry.h"

#include <stddef.h>

/* Dimensions: places in an array of sizes, which begins with WB_SIZES; a table's own begin at WB_OWN. */
enum { WB_NONE, WB_ONE, WB_TWO, WB_EIGHT, WB_ANY, WB_OWN };
#define WB_SIZES 0, 1, 2, 8, -1

/* What `how` adds up. */
enum {
  WB_OPTIONAL = 1, /* read: it may be NULL, and the struct stays as it is; made: not if a dimension is negative */
  WB_FINITE = 2,   /* read: all of its values are finite */
  WB_COPIED = 4    /* read: the struct holds the values, or the key of a raw vector, and no pointer to them. Several
                    * values fill members that follow each other */
};

typedef struct wb_field {
  const char *name;
  SEXPTYPE type;
  int dim[3]; /* one for a vector, more for a matrix or an array */
  int how;
  size_t at; /* offset in the struct */
} wb_field;

/* Reads a list into `to`. Returns 0 if the table does not allow it. An element of length 0 may be missing. */
int wb_fields_read(SEXP list, const wb_field *field, int count, const double *size, void *to);

/* A new list, with pointers to its elements in the struct `to`. Not protected. */
SEXP wb_fields_new(const wb_field *field, int count, const double *size, void *to);

/* Copies the doubles of a list that was read by these fields into one that was made by them. What is missing is 0. */
void wb_fields_copy(SEXP from, const wb_field *field, int count, SEXP to);

#define WB_READ(list, table, size, to) wb_fields_read(list, table, (int)(sizeof(table) / sizeof *(table)), size, to)
#define WB_NEW(table, size, to) wb_fields_new(table, (int)(sizeof(table) / sizeof *(table)), size, to)
