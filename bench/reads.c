/* Reading a buffer. */
#include "reads.h"

kmb_status read_in_order(void *user, const kmb_launch *launch) {
  reading *r = user;
  const uint64_t *word = launch->args[0];
  const uint64_t *end = word + r->bytes / sizeof *word;
  uint64_t a = 0, b = 0, c = 0, d = 0;
  for (; word < end; word += 8) {
    a += word[0] ^ word[4];
    b += word[1] ^ word[5];
    c += word[2] ^ word[6];
    d += word[3] ^ word[7];
  }
  r->sink = a + b + c + d;
  return KMB_OK;
}

kmb_status read_scattered(void *user, const kmb_launch *launch) {
  reading *r = user;
  const unsigned char *data = launch->args[0];
  uint64_t end = r->bytes, step = r->stride * READ_LINE, at = 0, sum = 0;
  for (uint64_t i = 0; i < end; i += READ_LINE) {
    sum += data[at];
    at += step;
    at -= at >= end ? end : 0;
  }
  r->sink = sum;
  return KMB_OK;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

uint64_t read_stride(uint64_t lines) {
  uint64_t stride = (uint64_t)((double)lines * 0.6180339887) | 1;
  while (common_divisor(stride, lines) != 1)
    stride += 2;
  return stride % lines ? stride % lines : 1;
}
