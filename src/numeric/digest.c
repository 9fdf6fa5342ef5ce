#include "core/rounding.h"

#include "numeric/digest.h"

#include <string.h>

#include "core/philox.h"
#include "core/unroll.h"

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

static void add_blocks(uint64_t lanes[LANES], const unsigned char *bytes, size_t blocks) {
  uint64_t lane[LANES];
  memcpy(lane, lanes, sizeof lane);
  for (size_t block = 0; block < blocks; block++) {
    WB_UNROLL
    for (int l = 0; l < LANES; l++) {
      const uint64_t product = (lane[l] ^ wb_whole_from_bytes(bytes + BLOCK * block + 8 * l)) * MULTIPLIER;
      lane[l] = product << 29 | product >> 35;
    }
  }
  memcpy(lanes, lane, sizeof lane);
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
  for (int l = 0; l < LANES; l++) bits = wb_philox(digest->lane[l], bits.word[0], bits.word[1], bits.word[2], bits.word[3]);
  wb_whole_to_bytes(wb_bits64(bits, 0), result);
  wb_whole_to_bytes(wb_bits64(bits, 1), result + 8);
}
