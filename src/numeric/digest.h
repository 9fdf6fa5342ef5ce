/* A 128-bit digest of a stream of bytes or values, the same on every machine, against accidents: not cryptographic.
 *
 * Words of 64 bits, lowest byte first, go in turn to eight lanes: lane = rotl((lane ^ word) * K, 29). K is odd, so
 * changing one word changes its lane. Zeros pad the last words. At the end the lanes are the keys of eight successive
 * Philox steps, from the number of bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define WB_DIGEST_BYTES 16

typedef struct wb_digest {
  uint64_t lane[8], length;
  unsigned char tail[64]; /* the last length % 64 bytes */
} wb_digest;

void wb_digest_start(wb_digest *digest);

void wb_digest_add(wb_digest *digest, const void *values, size_t count, size_t width);

void wb_digest_end(wb_digest *digest, unsigned char result[WB_DIGEST_BYTES]);

/* Copies values with the lowest byte of each first, as in digests and files. */
void wb_lowest_first(void *to, const void *values, size_t count, size_t width);

/* An integer of eight bytes, lowest first. */
uint64_t wb_whole_from_bytes(const unsigned char *bytes);
void wb_whole_to_bytes(uint64_t whole, unsigned char *bytes);
