/* Loops, from branches that lead back. */
#include "code_listing.h"

#include <stdlib.h>
#include <string.h>

enum { LOOPS_MOST = 1024 };

/* For each instruction, those that branch to it: a list through `next`. */
typedef struct flow {
  const code_step *steps;
  size_t count;
  size_t *first, *next; /* CODE_NO_TARGET ends a list */
  size_t *stack;
  unsigned char *in; /* of the loop that is being looked at */
} flow;

static void free_flow(flow *f) {
  free(f->first);
  free(f->next);
  free(f->stack);
  free(f->in);
}

static bool make_flow(flow *f) {
  f->first = malloc(f->count * sizeof *f->first);
  f->next = malloc(f->count * sizeof *f->next);
  f->stack = malloc(f->count * sizeof *f->stack);
  f->in = malloc(f->count);
  if (!f->first || !f->next || !f->stack || !f->in) return false;
  for (size_t i = 0; i < f->count; i++)
    f->first[i] = CODE_NO_TARGET;
  for (size_t i = 0; i < f->count; i++) {
    size_t target = f->steps[i].target;
    if (target == CODE_NO_TARGET) continue;
    f->next[i] = f->first[target];
    f->first[target] = i;
  }
  return true;
}

static void push(flow *f, size_t *depth, size_t i) {
  if (f->in[i]) return;
  f->in[i] = 1;
  f->stack[(*depth)++] = i;
}

/* Marks what leads to `from` without passing `head`. False: the function's
 * first instruction is among it, so that `head` can be passed by: the branch
 * leads back in the text, not to the head of a loop. */
static bool mark_body(flow *f, size_t head, size_t from) {
  size_t depth = 0;
  push(f, &depth, from);
  while (depth) {
    size_t i = f->stack[--depth];
    if (i == head) continue;
    if (i == 0) return false;
    if (!f->steps[i - 1].ends) push(f, &depth, i - 1);
    for (size_t b = f->first[i]; b != CODE_NO_TARGET; b = f->next[b])
      push(f, &depth, b);
  }
  return true;
}

/* Adds the loop with this head, if there is one. */
static void add_loop(flow *f, size_t head, code_summary *to) {
  code_loop *loop = &to->loops[to->loop_count];
  bool found = false;
  memset(f->in, 0, f->count);
  f->in[head] = 1;
  for (size_t b = f->first[head]; b != CODE_NO_TARGET; b = f->next[b]) {
    if (b <= head) continue;
    if (!mark_body(f, head, b)) return;
    found = true;
  }
  if (!found) return;
  *loop = (code_loop){.from = f->steps[head].address};
  for (size_t i = 0; i < f->count; i++) {
    if (!f->in[i]) continue;
    loop->instructions++;
    loop->counts[f->steps[i].id]++;
    loop->to = f->steps[i].address;
  }
  /* Of nested loops the outer one holds the inner one's head. */
  loop->innermost = true;
  to->loop_count++;
}

static void find_innermost(code_summary *to) {
  for (size_t i = 0; i < to->loop_count; i++)
    for (size_t j = 0; j < to->loop_count; j++)
      if (i != j && to->loops[j].from >= to->loops[i].from &&
          to->loops[j].to <= to->loops[i].to &&
          to->loops[j].instructions < to->loops[i].instructions)
        to->loops[i].innermost = false;
}

bool code_find_loops(const code_step *steps, size_t count, code_summary *to) {
  flow f = {.steps = steps, .count = count};
  size_t heads = 0;
  for (size_t i = 0; i < count; i++)
    heads += steps[i].target < i;
  if (!heads) return true;
  if (heads > LOOPS_MOST) {
    to->loops_unknown = true;
    return true;
  }
  to->loops = calloc(heads, sizeof *to->loops);
  if (!to->loops) return false;
  bool made = make_flow(&f);
  for (size_t i = 0; made && i < count; i++)
    if (f.first[i] != CODE_NO_TARGET) add_loop(&f, i, to);
  free_flow(&f);
  find_innermost(to);
  return made;
}
