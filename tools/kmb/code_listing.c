/* Reads the listings of nvdisasm -c, cuobjdump -sass and llvm-objdump -d. */
#include "code_listing.h"

#include <stdlib.h>
#include <string.h>

enum { PAD_BYTES = 4, WORD_DIGITS = 8 };

typedef struct words {
  const char *at;
  size_t size;
} words;

/* Where a branch leads: a label's name, or an address. */
typedef struct target {
  words label;
  uint64_t address;
  bool given;
} target;

typedef struct label {
  words name;
  size_t index; /* of the instruction after it */
} label;

typedef struct reader {
  code_listing *listing;
  code_summary *now; /* NULL: not in a function */
  code_step *steps;
  target *targets; /* one a step */
  label *labels;
  size_t count, step_room, label_count, label_room;
  bool amd;       /* the function is of llvm-objdump's listing */
  uint64_t start; /* its address */
  size_t pads;    /* instructions at its end that do nothing */
} reader;

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static words trimmed(words w) {
  while (w.size && is_space(*w.at))
    w.at++, w.size--;
  while (w.size && is_space(w.at[w.size - 1]))
    w.size--;
  return w;
}

static bool begins(words w, const char *with) {
  size_t size = strlen(with);
  return w.size >= size && memcmp(w.at, with, size) == 0;
}

static words after(words w, size_t size) {
  return (words){w.at + size, w.size - size};
}

/* Up to the first of these characters, or all. */
static words until(words w, const char *stops) {
  size_t size = 0;
  while (size < w.size && !strchr(stops, w.at[size]))
    size++;
  return (words){w.at, size};
}

static bool read_hex(words w, uint64_t *value) {
  *value = 0;
  if (!w.size || w.size > 16) return false;
  for (size_t i = 0; i < w.size; i++) {
    char c = w.at[i];
    uint64_t digit = 0;
    if (c >= '0' && c <= '9')
      digit = (uint64_t)(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = (uint64_t)(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F')
      digit = (uint64_t)(c - 'A') + 10;
    else
      return false;
    *value = *value << 4 | digit;
  }
  return true;
}

/* Room for one more of `count` things of `each` bytes. */
static bool grow(void *list, size_t *room, size_t count, size_t each) {
  void *now = NULL, *more = NULL;
  memcpy(&now, list, sizeof now);
  if (count < *room) return true;
  size_t wanted = *room ? 2 * *room : 64;
  if (wanted > SIZE_MAX / each) return false;
  more = realloc(now, wanted * each);
  if (!more) return false;
  memcpy(list, &more, sizeof more);
  *room = wanted;
  return true;
}

static bool same(words a, words b) {
  return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

static int by_label(const void *a, const void *b) {
  words x = ((const label *)a)->name, y = ((const label *)b)->name;
  int order = memcmp(x.at, y.at, x.size < y.size ? x.size : y.size);
  return order ? order : (x.size > y.size) - (x.size < y.size);
}

static size_t index_of_address(const reader *r, uint64_t address) {
  size_t low = 0, high = r->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (r->steps[middle].address < address)
      low = middle + 1;
    else
      high = middle;
  }
  return low < r->count && r->steps[low].address == address ? low
                                                            : CODE_NO_TARGET;
}

static size_t index_of(const reader *r, const target *t) {
  if (!t->given) return CODE_NO_TARGET;
  if (!t->label.at) return index_of_address(r, t->address);
  label wanted = {t->label, 0};
  const label *found = r->label_count
                           ? bsearch(&wanted, r->labels, r->label_count,
                                     sizeof *r->labels, by_label)
                           : NULL;
  return found && found->index < r->count ? found->index : CODE_NO_TARGET;
}

/* The function's last line has been read. */
static bool end_function(reader *r, const char *at) {
  code_summary *s = r->now;
  if (!s) return true;
  s->text_size = (size_t)(at - s->text);
  r->count -= r->pads;
  s->counts[CODE_OTHER] -= r->pads;
  s->pad_bytes = PAD_BYTES * r->pads;
  s->bytes -= s->pad_bytes;
  s->instructions = r->count;
  if (r->label_count)
    qsort(r->labels, r->label_count, sizeof *r->labels, by_label);
  for (size_t i = 0; i < r->count; i++)
    r->steps[i].target = index_of(r, &r->targets[i]);
  r->now = NULL;
  return code_find_loops(r->steps, r->count, s);
}

static bool begin_function(reader *r, words name, const char *at) {
  code_listing *l = r->listing;
  if (!end_function(r, at)) return false;
  code_summary *more =
      realloc(l->functions, (l->function_count + 1) * sizeof *more);
  if (!more) return false;
  l->functions = more;
  r->now = &more[l->function_count++];
  *r->now = (code_summary){
      .name = name.at, .name_size = name.size, .text = at, .text_size = 0};
  r->count = r->label_count = r->pads = 0;
  r->amd = false;
  return true;
}

static bool add_label(reader *r, words name) {
  if (!r->now) return true;
  if (!grow(&r->labels, &r->label_room, r->label_count, sizeof *r->labels))
    return false;
  r->labels[r->label_count++] = (label){name, r->count};
  return true;
}

/* A branch's last operand: `(.L_x_1), or 0x1e0 */
static target read_target(words operands) {
  target t = {.given = false};
  words last = operands;
  for (size_t i = operands.size; i > 0; i--)
    if (operands.at[i - 1] == ',' || is_space(operands.at[i - 1])) {
      last = after(operands, i);
      break;
    }
  if (begins(last, "`(")) {
    t.label = until(after(last, 2), ")");
    t.given = true;
  } else if (begins(last, "0x")) {
    t.given = read_hex(after(last, 2), &t.address);
  }
  return t;
}

/* A branch that is taken whatever holds, an exit, a return. */
static bool ends_flow(words op, words operands, bool predicated) {
  static const char *const ends[] = {"EXIT", "RET", "BRX", "JMX", "KILL"};
  words base = until(op, ".");
  if (predicated) return false;
  if (same(op, (words){"BRA", 3}) || same(op, (words){"JMP", 3}))
    return !memchr(operands.at, ',', operands.size);
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
    if (same(base, (words){ends[i], strlen(ends[i])})) return true;
  return false;
}

static void count_local(code_summary *s, int id, const code_words *w) {
  bool stack = code_is_at_stack(w);
  if (id >= CODE_LOCAL_LOAD_1 && id <= CODE_LOCAL_LOAD_32)
    ++*(stack ? &s->stack_loads : &s->indexed_loads);
  if (id >= CODE_LOCAL_STORE_1 && id <= CODE_LOCAL_STORE_32)
    ++*(stack ? &s->stack_stores : &s->indexed_stores);
}

/* Room for one more step, with its target. */
static bool grow_steps(reader *r) {
  size_t room = r->step_room;
  return grow(&r->steps, &room, r->count, sizeof *r->steps) &&
         grow(&r->targets, &r->step_room, r->count, sizeof *r->targets);
}

static bool add_step(reader *r, uint64_t address, words text) {
  bool predicated = text.size && *text.at == '@';
  if (predicated) text = trimmed(after(text, until(text, " \t").size));
  words op = until(text, " \t");
  words operands = trimmed(after(text, op.size));
  if (!op.size) return true;
  if (!grow_steps(r)) return false;
  code_words w = {op.at, op.size, text.at + op.size, text.size - op.size};
  words base = until(op, ".");
  bool branch = same(base, (words){"BRA", 3}) || same(base, (words){"JMP", 3});
  code_step *step = &r->steps[r->count];
  *step = (code_step){.address = address,
                      .target = CODE_NO_TARGET,
                      .id = code_classify(&w),
                      .ends = ends_flow(op, operands, predicated)};
  r->targets[r->count++] =
      branch ? read_target(operands) : (target){.given = false};
  r->now->counts[step->id]++;
  count_local(r->now, step->id, &w);
  return true;
}

/* What follows the address, up to the semicolon. */
static bool read_instruction(reader *r, words line) {
  uint64_t address = 0;
  words digits = until(after(line, 2), "*");
  if (!r->now || !read_hex(digits, &address)) return true;
  line = after(line, 2 + digits.size);
  if (!begins(line, "*/")) return true;
  words text = trimmed(until(after(line, 2), ";/"));
  /* Two that go together stand in braces. */
  while (text.size && strchr("{} \t", *text.at))
    text = after(text, 1);
  return add_step(r, address, text);
}

/* AMD. */

/* "0000000000001000 <NAME>:", NULL for another line. */
static bool is_amd_head(words line, words *name, uint64_t *start) {
  words digits = until(line, " ");
  words rest = after(line, digits.size);
  if (digits.size != 16 || !read_hex(digits, start) || !begins(rest, " <") ||
      rest.size < 5 || rest.at[rest.size - 1] != ':' ||
      rest.at[rest.size - 2] != '>')
    return false;
  *name = (words){rest.at + 2, rest.size - 4};
  return true;
}

/* "<NAME+0x5c>" of this function; of another it is a call. */
static target amd_target(const reader *r, words text) {
  target t = {.given = false};
  words name = {r->now->name, r->now->name_size};
  if (text.size < name.size + 2 || *text.at != '<' ||
      text.at[text.size - 1] != '>' ||
      memcmp(text.at + 1, name.at, name.size) != 0)
    return t;
  words rest = {text.at + 1 + name.size, text.size - 2 - name.size};
  uint64_t offset = 0;
  t.given =
      !rest.size || (begins(rest, "+0x") && read_hex(after(rest, 3), &offset));
  t.address = r->start + offset;
  return t;
}

static bool ends_amd(words op) {
  return begins(op, "s_endpgm") || same(op, (words){"s_branch", 8}) ||
         same(op, (words){"s_setpc_b64", 11});
}

/* What stands behind "//": the address, the words of the encoding, and where a
 * branch leads. False: it is no such thing. */
static bool read_encoding(words text, uint64_t *address, uint64_t *bytes,
                          words *where) {
  words digits = until(text, ":");
  if (digits.size == text.size || !read_hex(digits, address)) return false;
  text = trimmed(after(text, digits.size + 1));
  for (*bytes = 0; text.size && *text.at != '<'; *bytes += PAD_BYTES) {
    uint64_t ignored = 0;
    words word = until(text, " ");
    if (word.size != WORD_DIGITS || !read_hex(word, &ignored)) return false;
    text = trimmed(after(text, word.size));
  }
  *where = text;
  return *bytes != 0;
}

static bool read_amd(reader *r, words line) {
  uint64_t address = 0, bytes = 0;
  words where, op = until(line, " \t");
  size_t at = op.size;
  while (at + 1 < line.size && (line.at[at] != '/' || line.at[at + 1] != '/'))
    at++;
  if (at + 1 >= line.size || !op.size ||
      !read_encoding(trimmed(after(line, at + 2)), &address, &bytes, &where))
    return true;
  if (!grow_steps(r)) return false;
  code_words w = {op.at, op.size, op.at + op.size, at - op.size};
  while (w.operands_size && is_space(w.operands[w.operands_size - 1]))
    w.operands_size--;
  code_step *step = &r->steps[r->count];
  *step = (code_step){.address = address,
                      .target = CODE_NO_TARGET,
                      .id = code_classify_amd(&w),
                      .ends = ends_amd(op)};
  bool branch = begins(op, "s_branch") || begins(op, "s_cbranch_");
  r->targets[r->count++] =
      branch ? amd_target(r, where) : (target){.given = false};
  bool pad = bytes == PAD_BYTES && (same(op, (words){"s_nop", 5}) ||
                                    same(op, (words){"s_code_end", 10}));
  r->pads = pad ? r->pads + 1 : 0;
  r->now->counts[step->id]++;
  r->now->bytes += bytes;
  return true;
}

static bool read_line(reader *r, words raw) {
  words line = trimmed(raw), head;
  uint64_t start = 0;
  if (is_amd_head(line, &head, &start)) {
    if (!begin_function(r, head, raw.at)) return false;
    r->amd = true;
    r->start = start;
    return true;
  }
  if (r->amd && r->now) return read_amd(r, line);
  if (begins(line, "/*")) return read_instruction(r, line);
  if (begins(line, ".section\t") || begins(line, ".section ")) {
    words name = trimmed(after(line, strlen(".section")));
    if (begins(name, ".text."))
      return begin_function(r, until(after(name, strlen(".text.")), ",\t "),
                            raw.at);
    return end_function(r, raw.at);
  }
  if (begins(line, "Function : "))
    return begin_function(r, after(line, strlen("Function : ")), raw.at);
  if (line.size > 1 && line.at[line.size - 1] == ':')
    return add_label(r, (words){line.at, line.size - 1});
  return true;
}

bool code_listing_read(const char *text, size_t size, code_listing *listing) {
  reader r = {.listing = listing};
  bool good = true;
  *listing = (code_listing){.functions = NULL};
  for (size_t at = 0; good && at < size;) {
    const char *end = memchr(text + at, '\n', size - at);
    size_t length = end ? (size_t)(end - text) - at : size - at;
    good = read_line(&r, (words){text + at, length});
    at += length + 1;
  }
  good = good && end_function(&r, text + size);
  free(r.steps);
  free(r.targets);
  free(r.labels);
  if (!good) code_listing_free(listing);
  return good;
}

void code_listing_free(code_listing *listing) {
  for (size_t i = 0; i < listing->function_count; i++)
    free(listing->functions[i].loops);
  free(listing->functions);
  *listing = (code_listing){.functions = NULL};
}

const code_summary *code_listing_find(const code_listing *listing,
                                      const char *name) {
  words wanted = {name, strlen(name)};
  for (size_t i = 0; i < listing->function_count; i++) {
    const code_summary *s = &listing->functions[i];
    if (same(wanted, (words){s->name, s->name_size})) return s;
  }
  return NULL;
}
