/* Looks at 64 bytes at once for a byte that matters. */
#ifndef KMB_LIB_SCAN_H
#define KMB_LIB_SCAN_H

#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* What is scanned must be readable so far behind its last byte. */
enum { KMBI_SCAN_SIZE = 64 };

/* A bit for each of the 64 bytes from `at` that is `c` or at most a carriage
 * return: the ends of lines, zero, and what is rare in text. */
static inline uint64_t kmbi_scan_block(const char *at, char c) {
  uint64_t found = 0;
#if defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi8(c), low = _mm_set1_epi8('\r');
  for (unsigned i = 0; i < KMBI_SCAN_SIZE; i += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
    __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(bytes, low), bytes),
                               _mm_cmpeq_epi8(bytes, wanted));
    found |= (uint64_t)(uint32_t)_mm_movemask_epi8(hit) << i;
  }
#else
  for (unsigned i = 0; i < KMBI_SCAN_SIZE; i++)
    found |= (uint64_t)(at[i] == c || (unsigned char)at[i] <= '\r') << i;
#endif
  return found;
}

/* The first byte from `at` on that is no space of JSON; there must be one. */
static inline const char *kmbi_scan_space(const char *at) {
#if defined(__SSE2__)
  for (;; at += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i line = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')),
                                _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r')));
    __m128i gap = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')),
                               _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')));
    unsigned found =
        (unsigned)_mm_movemask_epi8(_mm_or_si128(line, gap)) ^ 0xFFFFu;
    if (found) return at + __builtin_ctz(found);
  }
#else
  while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')
    at++;
  return at;
#endif
}

/* The first byte from `at` on that ends a plain stretch of a string: a quote, a
 * backslash, a control character; there must be one. */
static inline const char *kmbi_scan_string(const char *at) {
#if defined(__SSE2__)
  for (;; at += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i low = _mm_min_epu8(bytes, _mm_set1_epi8(0x1F));
    __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                               _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    unsigned found = (unsigned)_mm_movemask_epi8(
        _mm_or_si128(hit, _mm_cmpeq_epi8(low, bytes)));
    if (found) return at + __builtin_ctz(found);
  }
#else
  while ((unsigned char)*at >= 0x20 && *at != '"' && *at != '\\')
    at++;
  return at;
#endif
}

/* How often `c` is among `size` bytes. */
static inline uint64_t kmbi_scan_count(const char *at, size_t size, char c) {
  uint64_t count = 0;
  size_t i = 0;
#if defined(__SSE2__)
  /* Each byte of a sum counts up to 255 blocks. */
  const __m128i wanted = _mm_set1_epi8(c), zero = _mm_setzero_si128();
  while (size - i >= 16) {
    __m128i sum = zero;
    for (int k = 0; k < 255 && size - i >= 16; k++, i += 16) {
      __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
      sum = _mm_sub_epi8(sum, _mm_cmpeq_epi8(bytes, wanted));
    }
    uint64_t halves[2];
    _mm_storeu_si128((__m128i *)(void *)halves, _mm_sad_epu8(sum, zero));
    count += halves[0] + halves[1];
  }
#endif
  for (; i < size; i++)
    count += at[i] == c;
  return count;
}

/* Where a scan stands: what it has found in the block and not yet used. */
typedef struct kmbi_scan {
  const char *block;
  uint64_t found;
} kmbi_scan;

static inline kmbi_scan kmbi_scan_from(const char *at, char c) {
  return (kmbi_scan){at, kmbi_scan_block(at, c)};
}

/* The next byte that is `c` or at most a carriage return; there must be one. */
static inline const char *kmbi_scan_at(kmbi_scan *scan, char c) {
  while (!scan->found)
    *scan = kmbi_scan_from(scan->block + KMBI_SCAN_SIZE, c);
  return scan->block + __builtin_ctzll(scan->found);
}

/* Done with that byte. */
static inline void kmbi_scan_pass(kmbi_scan *scan) {
  scan->found &= scan->found - 1;
}

#endif
