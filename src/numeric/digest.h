/* A digest of 128 bits of a stream of bytes or values: whether data are the data of before, and
 * whether a file is as it was written. It is the same on every machine. Accidents are found, but it is
 * not cryptographic: who wants to can make another stream with the same digest.
 *
 * Words of 64 bits, lowest byte first, go in turn to eight lanes: lane = rotl((lane ^ word) * K, 29),
 * where K is odd, so that a change of one word always changes its lane. The last words are padded
 * with zeros. In the end the lanes are the keys of eight Philox steps, one after the other, of which the first
 * begins with the number of bytes. One core digests at the speed of memory: eight products for 64 bytes. */
#ifndef WB_DIGEST_H
#define WB_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define WB_DIGEST_BYTES 16

typedef struct wb_digest {
  uint64_t lane[8], length;
  unsigned char tail[64]; /* the last length % 64 bytes */
} wb_digest;

void wb_digest_start(wb_digest *digest);

/* `count` values of `width` bytes each, 1 to 8; of a wider value the lowest byte comes first. */
void wb_digest_add(wb_digest *digest, const void *values, size_t count, size_t width);

void wb_digest_end(wb_digest *digest, unsigned char result[WB_DIGEST_BYTES]);

/* Copies values so that the lowest byte of each comes first, as they are in digests and files. */
void wb_lowest_first(void *to, const void *values, size_t count, size_t width);

/* A whole number of eight bytes, lowest first. */
uint64_t wb_whole_from_bytes(const unsigned char *bytes);
void wb_whole_to_bytes(uint64_t whole, unsigned char *bytes);

#endif
