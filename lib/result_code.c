/* A result's rows of code: which kernels were launched, and the hashes by which
 * their code is told apart. */
#include "error.h"
#include "result.h"
#include "structs.h"
#include "utf8.h"

/* Of what a capture holds, whatever its texts are made of. */
static void copy_row(kmbi_arena *arena, kmb_code_kernel *row,
                     const kmb_code_kernel *from) {
  *row = *from;
  row->struct_size = sizeof *row;
  row->name = kmbi_utf8_copy(arena, from->name);
  row->arch = kmbi_utf8_copy(arena, from->arch ? from->arch : "");
  row->hash = kmbi_utf8_copy(arena, from->hash);
  row->reason = kmbi_utf8_copy(arena, from->reason);
  row->demangled = kmbi_utf8_copy(arena, from->demangled);
  row->file = kmbi_utf8_copy(arena, from->file);
  row->code_hash = kmbi_utf8_copy(arena, from->code_hash);
}

void kmbi_result_set_kernels(kmb_result *result, const kmb_code_kernel *rows,
                             uint64_t count) {
  result->code_count = 0;
  result->code =
      kmbi_arena_alloc(&result->arena, (size_t)count, sizeof *result->code);
  if (!result->code) return;
  for (uint64_t i = 0; i < count; i++)
    copy_row(&result->arena, &result->code[i], &rows[i]);
  result->code_count = count;
}

uint64_t kmb_result_code_count(const kmb_result *result) {
  return result ? result->code_count : 0;
}

kmb_status kmb_result_code(const kmb_result *result, uint64_t index,
                           kmb_code_kernel *kernel) {
  if (!result || !kernel)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_result_code: %s is NULL",
                     !result ? "result" : "kernel");
  if (index >= result->code_count)
    return kmbi_fail(KMB_ERR_INVALID, "kmb_result_code: index %llu of %llu",
                     (unsigned long long)index,
                     (unsigned long long)result->code_count);
  return kmbi_copy_out(kernel, &result->code[index], sizeof *kernel,
                       KMBI_CODE_KERNEL_V1, "kmb_result_code: kernel");
}
