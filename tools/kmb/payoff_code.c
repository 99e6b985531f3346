/* What a step ran, as results list it. */
#include "payoff.h"

#include <dlfcn.h>

static bool lists_code(const results_file *f) {
  for (size_t i = 0; i < f->count; i++)
    if (kmb_result_code_count(f->items[i])) return true;
  return false;
}

int read_step_code(const char *path, results_file *file,
                   kmb_payoff_params *params) {
  bool good = results_read(path, file);
  results_say(file);
  if (!good) return file->unreadable ? EXIT_USAGE : EXIT_FORMAT;
  /* What the step ran may be what was cut off. */
  if (file->cut_line) return EXIT_FORMAT;
  if (!lists_code(file)) {
    fprintf(stderr,
            "kmb: %s: its results list no code: capture the step's "
            "(kmb_code_capture()) and hand it to the measurement of the step "
            "(kmb_bench_params::code)\n",
            path);
    return EXIT_FORMAT;
  }
  /* It reads names of C++ for the library, which only looks whether it is
   * there: traces have such names, code objects have them mangled. */
  dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
  params->listed = file->items;
  params->listed_count = file->count;
  return EXIT_DONE;
}
