/* kmb work: FLOPs and least bytes of an operation. */
#include "work.h"

void work_help(FILE *to) {
  fputs("usage: kmb work OPERATION [OPTION]... [--json]\n"
        "\n"
        "Counts FLOPs and least bytes of an operation, with the convention by "
        "which\n"
        "they are counted. Sizes may be written with an exponent (1e6); types "
        "are named\n"
        "bf16, f16, f32, tf32, f8_e4m3, f4_e2m1 …\n"
        "\n"
        "  --json  JSON instead of text; beside it, by operation:\n"
        "\n",
        to);
  list_work_options(to);
}

/* A list says how many there are; false if that was said otherwise. */
static bool number_of(const work_list *list, uint64_t *number) {
  if (!list->count) return true;
  if (*number && *number != list->count) return false;
  *number = list->count;
  return true;
}

static kmb_status count_gemm(const work_options *o, kmb_work *work) {
  kmb_matmul_shape s = kmb_matmul_shape_init();
  s.m = o->m;
  s.n = o->n;
  s.k = o->k;
  s.batch = o->batch;
  s.dtype = o->dtype;
  s.a_dtype = o->a_dtype;
  s.b_dtype = o->b_dtype;
  s.out_dtype = o->out_dtype;
  s.a_scales = o->a_scales;
  s.b_scales = o->b_scales;
  s.flags = (o->bias ? KMB_MATMUL_BIAS : 0) | (o->beta ? KMB_MATMUL_BETA : 0) |
            (o->epilogue ? KMB_MATMUL_EPILOGUE : 0) |
            (o->complex ? KMB_MATMUL_COMPLEX : 0);
  return kmb_work_matmul(&s, work);
}

static kmb_status count_grouped(const work_options *o, kmb_work *work) {
  kmb_grouped_shape s = kmb_grouped_shape_init();
  s.groups = o->groups;
  s.n = o->n;
  s.k = o->k;
  s.m = o->m;
  s.rows = o->row_list.count ? o->row_list.items : NULL;
  s.dtype = o->dtype;
  s.a_dtype = o->a_dtype;
  s.b_dtype = o->b_dtype;
  s.out_dtype = o->out_dtype;
  s.a_scales = o->a_scales;
  s.b_scales = o->b_scales;
  s.flags = o->used_only ? KMB_GROUPED_USED_B : 0;
  return kmb_work_grouped(&s, work);
}

static kmb_status count_attention(const work_options *o, kmb_work *work) {
  kmb_attention_shape s = kmb_attention_shape_init();
  bool decode = o->operation == WORK_DECODE;
  s.batch = o->batch ? o->batch : 1;
  s.q_heads = o->heads;
  s.kv_heads = o->kv_heads;
  s.q_len = o->q_len ? o->q_len : decode;
  s.kv_len = o->kv_len;
  s.qk_dim = o->dim;
  s.v_dim = o->v_dim;
  s.q_lens = o->q_list.count ? o->q_list.items : NULL;
  s.kv_lens = o->kv_list.count ? o->kv_list.items : NULL;
  s.dtype = o->dtype;
  s.kv_dtype = o->kv_dtype;
  s.out_dtype = o->out_dtype;
  s.mask = o->mask;
  s.pairs = o->pairs;
  s.pass = o->pass;
  return decode ? kmb_work_paged_decode(&s, work)
                : kmb_work_attention(&s, work);
}

static kmb_status count_mla(const work_options *o, kmb_work *work) {
  kmb_mla_shape s = kmb_mla_shape_init();
  s.batch = o->batch ? o->batch : 1;
  s.heads = o->heads;
  s.q_len = o->q_len ? o->q_len : 1;
  s.kv_len = o->kv_len;
  s.ckv_dim = o->ckv_dim;
  s.kpe_dim = o->kpe_dim;
  s.kv_lens = o->kv_list.count ? o->kv_list.items : NULL;
  s.dtype = o->dtype;
  s.kv_dtype = o->kv_dtype;
  s.out_dtype = o->out_dtype;
  s.mask = o->mask;
  return kmb_work_mla(&s, work);
}

static kmb_status count_moe(const work_options *o, kmb_work *work) {
  kmb_moe_shape s = kmb_moe_shape_init();
  s.tokens = o->tokens;
  s.hidden = o->hidden;
  s.intermediate = o->intermediate;
  s.experts = o->experts;
  s.top_k = o->top_k;
  s.active_experts = o->active_experts;
  s.dtype = o->dtype;
  s.compute_dtype = o->compute_dtype;
  s.weight_dtype = o->weight_dtype;
  s.out_dtype = o->out_dtype;
  s.logits_dtype = o->logits_dtype;
  s.scales = o->a_scales;
  s.weight_scales = o->b_scales;
  s.flags = o->ungated ? KMB_MOE_UNGATED : 0;
  return kmb_work_moe(&s, work);
}

static kmb_status count_norm(const work_options *o, kmb_work *work) {
  kmb_norm_shape s = kmb_norm_shape_init();
  s.rows = o->rows;
  s.hidden = o->hidden;
  s.norm = o->norm ? o->norm : KMB_NORM_RMS;
  s.dtype = o->dtype;
  s.out_dtype = o->out_dtype;
  s.flags = o->residual ? KMB_NORM_RESIDUAL : 0;
  return kmb_work_norm(&s, work);
}

static kmb_status count(const work_options *o, kmb_work *work) {
  switch (o->operation) {
  case WORK_GEMM:
    return count_gemm(o, work);
  case WORK_GROUPED:
    return count_grouped(o, work);
  case WORK_ATTENTION:
  case WORK_DECODE:
    return count_attention(o, work);
  case WORK_MLA:
    return count_mla(o, work);
  case WORK_MOE:
    return count_moe(o, work);
  case WORK_NORM:
    return count_norm(o, work);
  case WORK_SOFTMAX:
    return kmb_work_softmax(o->rows, o->columns, o->dtype, o->out_dtype, work);
  case WORK_ACTIVATION:
    return kmb_work_activation(o->n, o->gated, o->dtype, o->out_dtype, work);
  case WORK_ELEMENTWISE:
    return kmb_work_elementwise(o->n, (uint32_t)o->inputs, (uint32_t)o->outputs,
                                (uint32_t)o->flops_per_element, o->dtype, work);
  default:
    return kmb_work_copy(o->bytes, work);
  }
}

/* Counts beyond 2^53 are strings of their digits, as in results. */
static json_t *count_json(uint64_t number) {
  char digits[24];
  if (number <= 1ULL << 53) return json_integer((json_int_t)number);
  snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
  return json_string(digits);
}

static int print_work(const work_options *o, const kmb_work *w) {
  uint64_t least = w->read_bytes + w->write_bytes;
  const char *name = work_operation_name(o->operation);
  double intensity = (double)w->flops / (double)least;
  if (!o->json) {
    printf("%s, %s\n  FLOP         %llu\n  least bytes  %llu (%llu read, %llu "
           "written)\n",
           name, kmb_dtype_name(w->dtype), (unsigned long long)w->flops,
           (unsigned long long)least, (unsigned long long)w->read_bytes,
           (unsigned long long)w->write_bytes);
    if (w->flops) printf("  intensity    %.6g FLOP/B\n", intensity);
    printf("  convention   %s\n", w->convention);
    return EXIT_DONE;
  }
  json_t *object =
      json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:s}", "operation", name,
                "flops", count_json(w->flops), "read_bytes",
                count_json(w->read_bytes), "write_bytes",
                count_json(w->write_bytes), "least_bytes", count_json(least),
                "dtype", kmb_dtype_name(w->dtype), "convention", w->convention);
  if (w->flops) json_object_set_new(object, "intensity", json_real(intensity));
  return print_json(object);
}

static int print_collective(const work_options *o) {
  kmb_collective_work w = kmb_collective_work_init();
  uint32_t ranks = o->ranks > UINT32_MAX ? 0 : (uint32_t)o->ranks;
  int status = report(kmb_work_collective(o->collective, o->bytes, ranks, &w));
  if (status) return status;
  if (o->json)
    return print_json(json_pack("{s:s, s:o, s:I, s:f, s:s}", "operation",
                                "collective", "bytes", count_json(w.bytes),
                                "ranks", (json_int_t)w.ranks, "bus_factor",
                                w.bus_factor, "convention", w.convention));
  printf("collective\n  bytes        %llu\n  ranks        %u\n"
         "  bus factor   %.6g\n  convention   %s\n",
         (unsigned long long)w.bytes, (unsigned)w.ranks, w.bus_factor,
         w.convention);
  return EXIT_DONE;
}

int work_main(int argc, char **argv) {
  static work_options o;
  kmb_work work = kmb_work_init();
  if (!argc || argv[0][0] == '-') return usage("work", "which operation?");
  o.operation = work_operation(argv[0]);
  if (!o.operation)
    return usage("work", "there is no operation \"%s\"", argv[0]);
  int status = read_work_options(&o, argc - 1, argv + 1);
  if (status) return status;
  if (!number_of(&o.q_list, &o.batch) || !number_of(&o.kv_list, &o.batch) ||
      !number_of(&o.row_list, &o.groups))
    return usage("work", "lists and the number of what they list differ");
  if (o.inputs > UINT32_MAX || o.outputs > UINT32_MAX ||
      o.flops_per_element > UINT32_MAX)
    return usage("work", "a number is too large");
  if (o.operation == WORK_COLLECTIVE) return print_collective(&o);
  if (!o.dtype && o.operation != WORK_COPY)
    return usage("work", "--dtype is needed");
  status = report(count(&o, &work));
  return status ? status : print_work(&o, &work);
}
