/* Options that say what changed, and what of a step: of kmb payoff and of
 * kmb report --step. */
#include "payoff.h"

static int read_shape(const char *command, const char *text,
                      kmb_payoff_params *params) {
  uint32_t *const sizes[] = {&params->grid_x,  &params->grid_y,
                             &params->grid_z,  &params->block_x,
                             &params->block_y, &params->block_z};
  static const char ends[] = "xx,xx";
  char copy[80];
  bool good = strlen(text) < sizeof copy;
  char *at = copy;
  snprintf(copy, sizeof copy, "%s", text);
  for (int i = 0; i < 6 && good; i++) {
    uint64_t size = 0;
    size_t digits = strcspn(at, "x,");
    good = at[digits] == ends[i];
    at[digits] = '\0';
    good = good && read_number(at, &size) && size && size <= UINT32_MAX;
    *sizes[i] = (uint32_t)size;
    at += digits + 1;
  }
  params->flags |= KMB_PAYOFF_ONE_SHAPE;
  if (good) return OPTION_TAKEN;
  usage(command, "--shape cannot be \"%s\": GXxGYxGZ,BXxBYxBZ", text);
  return OPTION_WRONG;
}

static int read_added(const char *command, const char *text, double *ns) {
  if (read_real(text, ns) && *ns > 0 && *ns <= PAYOFF_ADDED_MOST)
    return OPTION_TAKEN;
  usage(command, "--added cannot be \"%s\": ns above 0, and at most %d", text,
        PAYOFF_ADDED_MOST);
  return OPTION_WRONG;
}

static int read_axis(const char *command, const char *text, payoff_choice *o) {
  if (*text != '=' && strchr(text, '=') && o->axis_count < PAYOFF_AXES) {
    o->axes[o->axis_count++] = text;
    return OPTION_TAKEN;
  }
  usage(command, "--axis cannot be \"%s\": KEY=VALUE, up to %d times", text,
        PAYOFF_AXES);
  return OPTION_WRONG;
}

static bool take_flag(const char *word, kmb_payoff_params *params) {
  uint32_t flag = strcmp(word, "--all-names") == 0    ? KMB_PAYOFF_ALL_NAMES
                  : strcmp(word, "--all-shapes") == 0 ? KMB_PAYOFF_ALL_SHAPES
                  : strcmp(word, "--any-device") == 0 ? KMB_PAYOFF_ANY_DEVICE
                                                      : 0;
  params->flags |= flag;
  return flag != 0;
}

int take_payoff_option(const char *command, int argc, char **argv, int *at,
                       payoff_choice *choice, kmb_payoff_params *params) {
  const char *word = argv[*at], *added = NULL, *axis = NULL, *shape = NULL;
  const struct {
    const char *name;
    const char **value;
  } rows[] = {{"--kernel", &params->kernel},
              {"--range", &params->range},
              {"--code", &choice->code},
              {"--baseline", &choice->baseline},
              {"--candidate", &choice->candidate},
              {"--added", &added},
              {"--axis", &axis},
              {"--shape", &shape}};
  size_t i = 0, count = sizeof rows / sizeof rows[0];
  if (take_flag(word, params)) return OPTION_TAKEN;
  while (i < count && strcmp(word, rows[i].name) != 0)
    i++;
  if (i == count) return OPTION_OTHER;
  const char *value = option_value(command, argc, argv, at);
  if (!value) return OPTION_WRONG;
  *rows[i].value = value;
  return added   ? read_added(command, added, &params->added_ns)
         : axis  ? read_axis(command, axis, choice)
         : shape ? read_shape(command, shape, params)
                 : OPTION_TAKEN;
}

bool is_any_chosen(const payoff_choice *o) {
  return o->baseline || o->candidate || o->axis_count;
}
