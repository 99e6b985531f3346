/* kmb code: what a kernel was compiled to. */
#include "kmb.h"

static const char name[] = "code";

void code_help(FILE *to) {
  fputs("usage: kmb code RESULT.json|CUBIN [--kernel REGEX] [--expect UNIT] "
        "[--list]\n"
        "                [--json]\n"
        "       kmb code RESULT.json|CUBIN --diff OTHER [--kernel REGEX]\n"
        "                [--other-kernel REGEX] [--json]\n"
        "\n"
        "Shows the kernels of a cubin, or of a code object for AMD GPUs: "
        "registers,\n"
        "memory, limits, hashes by which code is told apart, and, by "
        "nvdisasm,\n"
        "cuobjdump or llvm-objdump, what their instructions are and what is "
        "worth a look.\n"
        "Of results, those kernels that they list, from the images that were "
        "saved in\n"
        "RESULT.d beside RESULT.json; images that are missing or are others "
        "are named.\n"
        "\n"
        "  --kernel REGEX        only kernels whose name, mangled or as C++ "
        "has it,\n"
        "                        matches (POSIX extended)\n"
        "  --expect UNIT         say so if this matrix unit is not used: "
        "HGMMA, QGMMA,\n"
        "                        HMMA, IMMA, DMMA, MFMA ..., or any\n"
        "  --list                the listing itself\n"
        "  --diff OTHER          compare with another cubin, or with results: "
        "kernels of\n"
        "                        the same name, or one with one\n"
        "  --other-kernel REGEX  kernels of OTHER (as --kernel)\n"
        "  --disassembler FILE   the program to use: nvdisasm, cuobjdump or "
        "llvm-objdump\n"
        "  --deadline SECONDS    how long it may take (60)\n"
        "  --listing FILE        what a disassembler printed (nvdisasm -c, "
        "cuobjdump\n"
        "                        -sass, llvm-objdump -d), in place of running "
        "one\n"
        "  --other-listing FILE  the same for OTHER\n"
        "  --json                JSON instead of text\n",
        to);
}

#ifdef KMB_HAS_LIBELF

#include "code_set.h"

#include <strings.h>

static const struct {
  const char *name;
  size_t offset;
} texts[] = {
    {"--kernel", offsetof(code_options, kernel)},
    {"--other-kernel", offsetof(code_options, other_kernel)},
    {"--diff", offsetof(code_options, other)},
    {"--listing", offsetof(code_options, listing)},
    {"--other-listing", offsetof(code_options, other_listing)},
    {"--disassembler", offsetof(code_options, disassembler)},
};

static bool read_expected(const char *text, int *expect) {
  *expect = CODE_OTHER; /* any */
  if (strcasecmp(text, "any") == 0) return true;
  for (int id = 0; id < CODE_CLASSES; id++) {
    if (strcmp(code_class_group(id), "matrix") != 0 ||
        (strcasecmp(text, code_class_key(id)) != 0 &&
         strcasecmp(text, code_class_text(id)) != 0))
      continue;
    *expect = id;
    return true;
  }
  return false;
}

static int take_value(int argc, char **argv, int *at, code_options *o) {
  const char *word = argv[*at];
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    if (strcmp(word, texts[i].name) != 0) continue;
    const char *value = option_value(name, argc, argv, at);
    if (!value) return OPTION_WRONG;
    memcpy((char *)o + texts[i].offset, &value, sizeof value);
    return OPTION_TAKEN;
  }
  bool expect = strcmp(word, "--expect") == 0;
  if (!expect && strcmp(word, "--deadline") != 0) return OPTION_OTHER;
  const char *value = option_value(name, argc, argv, at);
  if (!value) return OPTION_WRONG;
  if (expect ? read_expected(value, &o->expect)
             : read_real(value, &o->deadline_s) && o->deadline_s > 0 &&
                   o->deadline_s <= 86400)
    return OPTION_TAKEN;
  usage(name, "%s cannot be \"%s\"", word, value);
  return OPTION_WRONG;
}

static int read_options(int argc, char **argv, code_options *o) {
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    int taken = take_value(argc, argv, &i, o);
    if (taken == OPTION_WRONG) return EXIT_USAGE;
    if (taken == OPTION_TAKEN) continue;
    if (strcmp(word, "--json") == 0)
      o->json = true;
    else if (strcmp(word, "--list") == 0)
      o->list = true;
    else if (word[0] == '-' && word[1])
      return usage(name, "there is no option \"%s\"", word);
    else if (o->path)
      return usage(name, "one file, and one after --diff");
    else
      o->path = word;
  }
  if (!o->path) return usage(name, "a file is needed");
  if (!o->other && (o->other_kernel || o->other_listing))
    return usage(name, "--other-... needs --diff");
  if (o->list && (o->other || o->json))
    return usage(name, "--list goes with neither --diff nor --json");
  return EXIT_DONE;
}

static int flush(int code) {
  if (!fflush(stdout)) return code;
  fputs("kmb: the output could not be written\n", stderr);
  return EXIT_FAILED;
}

/* What could be shown was; what kept the rest from it is an error still. */
static int show(const code_options *o, const code_set *set) {
  int code = EXIT_DONE;
  if (o->list)
    code = code_list(set) ? EXIT_DONE : EXIT_USAGE;
  else if (o->json)
    code = print_json(code_json(set, o));
  else
    code_print(set, o);
  code = flush(code);
  return code ? code : code_set_say(set);
}

static int compare(const code_options *o, const code_set *set) {
  code_set other;
  int code = code_set_open(&other, o, true);
  if (code) return code;
  code = flush(code_diff(set, &other, o));
  if (!code) code = code_set_say(set);
  if (!code) code = code_set_say(&other);
  code_set_close(&other);
  return code;
}

int code_main(int argc, char **argv) {
  code_options o = {.expect = -1, .deadline_s = 60};
  code_set set;
  int code = read_options(argc, argv, &o);
  if (!code) code = code_set_open(&set, &o, false);
  if (code) return code;
  code = o.other ? compare(&o, &set) : show(&o, &set);
  code_set_close(&set);
  return code;
}

#else

int code_main(int argc, char **argv) {
  (void)argc, (void)argv;
  fprintf(stderr,
          "kmb: this build has no kmb %s: libelf was absent when it "
          "was built (Debian package libelf-dev)\n",
          name);
  return EXIT_USAGE;
}

#endif
