/* The counter-based generator Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy as 1,
 * 2, 3", SC11), its uniforms, and the stream of words of one element.
 *
 * There is no generator state: 128 bits are a function of the chain's key and a counter,
 *   c0 = block within the element's stream,   c1 = element, low 32 bits,
 *   c2 = element, bits 32..47 | purpose << 16, c3 = iteration. */
#pragma once

#include "core/host_device.h"
#include "core/purpose.h"

typedef struct wb_bits {
  uint32_t word[4];
} wb_bits;

/* Only products of two 32-bit numbers and xors, which are vectorized in a loop over elements. */
WB_HD wb_bits wb_philox(uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3) {
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  for (int round = 0; round < 10; round++) {
    uint64_t product0 = (uint64_t)c0 * 0xD2511F53u;
    uint64_t product1 = (uint64_t)c2 * 0xCD9E8D57u;
    c0 = (uint32_t)(product1 >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)product1;
    c2 = (uint32_t)(product0 >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)product0;
    k0 += 0x9E3779B9u; /* golden ratio */
    k1 += 0xBB67AE85u; /* sqrt(3) - 1 */
  }
  wb_bits bits = {{c0, c1, c2, c3}};
  return bits;
}

/* The third word of the counter: the high bits of the element, and the purpose. */
WB_HD uint32_t wb_philox_c2(uint32_t purpose, uint64_t element) {
  return (uint32_t)(element >> 32 & 0xFFFFu) | purpose << 16;
}

/* The two 64-bit words of a block: which = 0 or 1, low 32 bits first. */
WB_HD uint64_t wb_bits64(wb_bits bits, int which) {
  return which ? (uint64_t)bits.word[3] << 32 | bits.word[2] : (uint64_t)bits.word[1] << 32 | bits.word[0];
}

/* wb_philox() with each word in the low half of a 64-bit number, which spares loops shuffles; wb_bits64() words. */
WB_HD void wb_philox_wide(uint64_t key, uint64_t c0, uint64_t c1, uint64_t c2, uint64_t c3, uint64_t *first,
                          uint64_t *second) {
  const uint64_t low = 0xFFFFFFFFu;
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  for (int round = 0; round < 10; round++) {
    const uint64_t product0 = (c0 & low) * 0xD2511F53u;
    const uint64_t product1 = (c2 & low) * 0xCD9E8D57u;
    c0 = (product1 >> 32) ^ c1 ^ k0;
    c1 = product1 & low;
    c2 = (product0 >> 32) ^ c3 ^ k1;
    c3 = product0 & low;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  *first = c1 << 32 | c0;
  *second = c3 << 32 | c2;
}

/* ((bits >> 12) + 0.5) 2^-52: exact, never 0 or 1, symmetric about 1/2. It is computed from 1 + (bits >> 12) 2^-52 in
 * [1, 2), since vector units without AVX-512 cannot convert 64-bit integers to doubles. */
WB_HD double wb_uniform(uint64_t bits) {
  uint64_t in_one_two = bits >> 12 | 0x3FF0000000000000u;
  double u;
  memcpy(&u, &in_one_two, sizeof u);
  return (u - 1.0) + 1.1102230246251565e-16; /* 2^-53 */
}

/* ((bits >> 9) + 0.5) 2^-23, likewise. -log(u) is at most 16.6: use wb_uniform() if the tail matters. */
WB_HD float wb_uniformf(uint32_t bits) {
  uint32_t in_one_two = bits >> 9 | 0x3F800000u;
  float u;
  memcpy(&u, &in_one_two, sizeof u);
  return (u - 1.0f) + 5.9604644775390625e-8f; /* 2^-24 */
}

/* The key of a chain. seed + chain would make chain 2 of one seed chain 1 of the next. */
WB_HD uint64_t wb_chain_key(uint64_t seed, uint32_t chain) {
  return wb_bits64(wb_philox(seed, chain, 0, wb_philox_c2(WB_PURPOSE_CHAIN, 0), 0), 0);
}

/* The random words of one element, in order: two from block 0, two from block 1, ... */
typedef struct wb_stream {
  uint64_t key;
  uint32_t block, c1, c2, c3;
  uint64_t second;  /* the second word of the last block */
  int holds_second; /* whether it comes next */
} wb_stream;

WB_HD wb_stream wb_stream_open(uint64_t key, uint32_t purpose, uint32_t iteration, uint64_t element) {
  wb_stream stream;
  stream.key = key;
  stream.block = 0;
  stream.c1 = (uint32_t)element;
  stream.c2 = wb_philox_c2(purpose, element);
  stream.c3 = iteration;
  stream.second = 0;
  stream.holds_second = 0;
  return stream;
}

WB_HD uint64_t wb_stream_bits(wb_stream *stream) {
  stream->holds_second = !stream->holds_second;
  if (!stream->holds_second) return stream->second;
  wb_bits bits = wb_philox(stream->key, stream->block++, stream->c1, stream->c2, stream->c3);
  stream->second = wb_bits64(bits, 1);
  return wb_bits64(bits, 0);
}

/* wb_stream_word(): how many words have been taken. wb_stream_from(): moves a stream that was just opened to `word`. */
WB_HD uint32_t wb_stream_word(const wb_stream *stream) { return 2 * stream->block - (uint32_t)stream->holds_second; }
WB_HD wb_stream wb_stream_from(wb_stream stream, uint32_t word) {
  stream.block = word / 2;
  if (word & 1) (void)wb_stream_bits(&stream);
  return stream;
}

WB_HD double wb_stream_uniform(wb_stream *stream) { return wb_uniform(wb_stream_bits(stream)); }
