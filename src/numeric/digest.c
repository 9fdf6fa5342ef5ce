/* The digest that numeric/digest.h defines. */
#include "core/rounding.h"

#include "numeric/digest.h"

#include <string.h>

#include "core/philox.h"

#define LANES 8
#define BLOCK (8 * LANES)
#define MULTIPLIER 0x9E3779B97F4A7C15u /* 2^64 / golden ratio, odd */

uint64_t wb_whole_from_bytes(const unsigned char *bytes) {
  uint64_t whole = 0;
  for (int i = 0; i < 8; i++) whole |= (uint64_t)bytes[i] << 8 * i;
  return whole;
}

void wb_whole_to_bytes(uint64_t whole, unsigned char *bytes) {
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(whole >> 8 * i & 0xff);
}

static int is_lowest_first(void) {
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 1;
}

void wb_lowest_first(void *to, const void *values, size_t count, size_t width) {
  unsigned char *out = to;
  const unsigned char *in = values;
  if (width == 1 || is_lowest_first()) {
    memcpy(out, in, count * width);
    return;
  }
  for (size_t i = 0; i < count; i++)
    for (size_t b = 0; b < width; b++) out[i * width + b] = in[i * width + width - 1 - b];
}

static inline uint64_t add_word(uint64_t lane, const unsigned char *bytes) {
  const uint64_t product = (lane ^ wb_whole_from_bytes(bytes)) * MULTIPLIER;
  return product << 29 | product >> 35;
}

/* Eight variables: compilers would keep an array in memory, which takes twice as long. */
static void add_blocks(uint64_t lane[LANES], const unsigned char *bytes, size_t blocks) {
  uint64_t l0 = lane[0], l1 = lane[1], l2 = lane[2], l3 = lane[3], l4 = lane[4], l5 = lane[5], l6 = lane[6],
           l7 = lane[7];
  for (; blocks > 0; blocks--, bytes += BLOCK) {
    l0 = add_word(l0, bytes);
    l1 = add_word(l1, bytes + 8);
    l2 = add_word(l2, bytes + 16);
    l3 = add_word(l3, bytes + 24);
    l4 = add_word(l4, bytes + 32);
    l5 = add_word(l5, bytes + 40);
    l6 = add_word(l6, bytes + 48);
    l7 = add_word(l7, bytes + 56);
  }
  const uint64_t after[LANES] = {l0, l1, l2, l3, l4, l5, l6, l7};
  memcpy(lane, after, sizeof after);
}

static void add_bytes(wb_digest *digest, const unsigned char *bytes, size_t count) {
  const size_t held = digest->length % BLOCK;
  digest->length += count;
  if (held) {
    const size_t room = BLOCK - held, taken = count < room ? count : room;
    memcpy(digest->tail + held, bytes, taken);
    if (taken < room) return;
    add_blocks(digest->lane, digest->tail, 1);
    bytes += taken;
    count -= taken;
  }
  add_blocks(digest->lane, bytes, count / BLOCK);
  memcpy(digest->tail, bytes + count / BLOCK * BLOCK, count % BLOCK);
}

void wb_digest_start(wb_digest *digest) {
  memset(digest, 0, sizeof *digest);
  for (int l = 0; l < LANES; l++) digest->lane[l] = (uint64_t)(l + 1) * MULTIPLIER;
}

void wb_digest_add(wb_digest *digest, const void *values, size_t count, size_t width) {
  const unsigned char *bytes = values;
  if (count == 0) return;
  if (width == 1 || is_lowest_first()) {
    add_bytes(digest, bytes, count * width);
    return;
  }
  unsigned char turned[1024];
  const size_t most = sizeof turned / width;
  for (size_t first = 0; first < count; first += most) {
    const size_t now = count - first < most ? count - first : most;
    wb_lowest_first(turned, bytes + first * width, now, width);
    add_bytes(digest, turned, now * width);
  }
}

void wb_digest_end(wb_digest *digest, unsigned char result[WB_DIGEST_BYTES]) {
  const size_t held = digest->length % BLOCK;
  if (held) {
    memset(digest->tail + held, 0, BLOCK - held);
    add_blocks(digest->lane, digest->tail, 1);
  }
  wb_bits bits = {{(uint32_t)digest->length, (uint32_t)(digest->length >> 32), 0, 0}};
  for (int l = 0; l < LANES; l++)
    bits = wb_philox(digest->lane[l], bits.word[0], bits.word[1], bits.word[2], bits.word[3]);
  wb_whole_to_bytes(wb_bits64(bits, 0), result);
  wb_whole_to_bytes(wb_bits64(bits, 1), result + 8);
}
