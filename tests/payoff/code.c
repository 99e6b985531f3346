/* Launches by what they ran: the step's captured code beside that which was
 * measured. */
#include "evaluate.h"

#include "heap.h"

#include <kmb/kmb.h>

#define SHAPED \
  "Start (ns),Duration (ns),GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Strm,Name\n"
/* Three launches of 64 blocks and two of 8. */
static const char shaped[] =
    SHAPED "1000,100,64,1,1,128,1,1,7,k\n2000,300,8,1,1,128,1,1,7,k\n"
           "3000,100,64,1,1,128,1,1,7,k\n4000,300,8,1,1,128,1,1,7,k\n"
           "5000,120,64,1,1,128,1,1,7,k\n";
static const char unshaped[] =
    "Start (ns),Duration (ns),Strm,Name\n1000,100,7,k\n2000,300,7,k\n";

/* A row of code; of the hashes the first two digits, "" for none. */
typedef struct row {
  const char *name;
  unsigned grid;
  const char *image, *code;
} row;

#define ZEROS "00000000000000000000000000000000000000000000000000000000000000"

/* `more`: members of the result before its code. */
static kmb_results *list_with(const row *rows, int count, const char *more) {
  char text[4096];
  kmb_results *list = NULL;
  int size =
      snprintf(text, sizeof text,
               "{\"schema\": \"kmb-result\", \"version\": 1, \"results\": "
               "[{\"axes\": [], \"absent\": {}, \"findings\": [], "
               "\"samples_ns\": [], \"metadata\": {}, \"metadata_absent\": {}, "
               "\"time_ns\": 100%s, \"code\": [",
               more);
  for (int i = 0; i < count; i++) {
    const row *r = &rows[i];
    size += snprintf(
        text + size, sizeof text - (size_t)size,
        "%s{\"name\": \"%s\", \"launches\": 1, \"dynamic_shared_bytes\": "
        "0, \"grid\": [%u, 1, 1], \"block\": [128, 1, 1]%s%s%s%s%s%s}",
        i ? ", " : "", r->name, r->grid, *r->image ? ", \"sha256\": \"" : "",
        r->image, *r->image ? ZEROS "\"" : "",
        *r->code ? ", \"code_offset\": 0, \"code_bytes\": 1, "
                   "\"code_sha256\": \""
                 : "",
        r->code, *r->code ? ZEROS "\"" : "");
    REQUIRE(size < (int)sizeof text - 8);
  }
  size += snprintf(text + size, sizeof text - (size_t)size, "]}]}");
  bytes b = {text, (size_t)size, 0, 0};
  REQUIRE_OK(kmb_results_read_json(give_bytes, &b, NULL, &list));
  return list;
}

static const kmb_result *first_of(const kmb_results *list) {
  const kmb_result *r = NULL;
  REQUIRE_OK(kmb_results_get(list, 0, &r));
  return r;
}

/* A step, a measured kernel and what the step ran. */
typedef struct scene {
  kmb_trace *trace;
  kmb_results *old, *step;
  kmb_payoff_change change;
  kmb_payoff_params params;
  const kmb_result *listed[1];
} scene;

static void begin(scene *s, const char *trace, const row *old, int olds,
                  const row *step, int steps) {
  s->trace = load(trace);
  s->old = list_with(old, olds, "");
  s->step = list_with(step, steps, "");
  s->change = changed("k", 0.5);
  s->change.before = first_of(s->old);
  s->params = kmb_payoff_params_init();
  s->listed[0] = first_of(s->step);
  s->params.listed = s->listed;
  s->params.listed_count = 1;
}

/* What was looked up is not needed any more. */
static kmb_payoff *end(scene *s) {
  kmb_payoff *payoff = evaluate(s->trace, &s->change, &s->params);
  kmb_trace_destroy(s->trace);
  kmb_results_destroy(s->old);
  kmb_results_destroy(s->step);
  return payoff;
}

static void set_shape(kmb_payoff_change *change, uint32_t grid_x) {
  change->grid_x = grid_x;
  change->block_x = 128;
  change->grid_y = change->grid_z = change->block_y = change->block_z = 1;
  change->flags |= KMB_PAYOFF_HAS_SHAPE;
}

/* Of the grid that the shape has. */
static kmb_payoff_shape shape_of(const kmb_payoff *payoff, uint32_t grid_x) {
  kmb_payoff_shape shape = kmb_payoff_shape_init();
  for (uint64_t i = 0; i < summary_of(payoff).shapes; i++) {
    REQUIRE_OK(kmb_payoff_get_shape(payoff, i, &shape));
    if (shape.grid_x == grid_x) return shape;
  }
  REQUIRE(!"there is no such shape");
  return shape;
}

static bool notes(const kmb_payoff *payoff, const char *part) {
  for (uint64_t i = 0; i < kmb_payoff_note_count(payoff); i++)
    if (strstr(kmb_payoff_note(payoff, i), part)) return true;
  return false;
}

static written text_of(const kmb_payoff *payoff) {
  written words = {NULL, 0};
  REQUIRE_OK(kmb_payoff_write_text(payoff, take_bytes, &words));
  return words;
}

static void says(const kmb_payoff *payoff, const char *text,
                 const char *markdown, const char *json) {
  written words = text_of(payoff);
  REQUIRE_HAS(words.data, text);
  free(words.data);
  words = (written){NULL, 0};
  REQUIRE_OK(kmb_payoff_write_markdown(payoff, take_bytes, &words));
  REQUIRE_HAS(words.data, markdown);
  free(words.data);
  words = (written){NULL, 0};
  REQUIRE_OK(kmb_payoff_write_json(payoff, take_bytes, &words));
  REQUIRE_HAS(words.data, json);
  free(words.data);
}

/* Other images around the same instructions. */
static void launches_of_the_same_code_are_matched_by_it(void) {
  const row old[] = {{"k", 64, "01", "0a"}};
  const row step[] = {{"k", 64, "02", "0a"}, {"q", 64, "02", "0c"}};
  scene s;
  begin(&s, shaped, old, 1, step, 2);
  set_shape(&s.change, 64);
  kmb_payoff *payoff = end(&s);
  kmb_payoff_summary sum = summary_of(payoff);
  REQUIRE_EQ(sum.flags, KMB_PAYOFF_MATCHED | KMB_PAYOFF_SHAPES_KNOWN |
                            KMB_PAYOFF_BY_SHAPE | KMB_PAYOFF_BY_CODE);
  REQUIRE_EQ(sum.launches, 3);
  REQUIRE_EQ(sum.code_launches, 3);
  REQUIRE_EQ(sum.unknown_launches, 0);
  REQUIRE_EQ(sum.other_code_launches, 0);
  REQUIRE_EQ(sum.other_launches, 2);
  REQUIRE_EQ(shape_of(payoff, 64).flags,
             KMB_PAYOFF_SCALED | KMB_PAYOFF_CODE_SAME);
  REQUIRE_STR(shape_of(payoff, 64).code, "0a" ZEROS);
  REQUIRE_EQ(shape_of(payoff, 8).flags, 0);
  REQUIRE(!shape_of(payoff, 8).code);
  REQUIRE(!notes(payoff, "code"));
  says(payoff,
       "  code                      0a0000000000, as measured in 3 of 3 "
       "launches\n",
       ", block 128 × 1 × 1, code as measured in 3 of 3 (0a0000000000), 3 "
       "launches of 100.0 ns",
       "\"code_launches\": 3,\n \"unknown_launches\": 0,\n "
       "\"other_code_launches\": 0");
  says(payoff, "block 128 × 1 × 1, scaled, code 0a0000000000 as measured\n",
       "**Payoff of ", "\"scaled\": true}");
  says(payoff, ", left as they were, code unknown\n", "**Payoff of ",
       "\"total_ns\": 320, \"code\": \"same\", \"hashes\": [\"0a" ZEROS
       "\"], \"scaled\": true}");
  kmb_payoff_destroy(payoff);
}

/* Two kernels of one name; nobody says at which shape was measured, and but one
 * shape is left. */
static void launches_of_other_code_are_left_as_they_were(void) {
  const row old[] = {{"k", 1, "01", "0a"}};
  const row step[] = {{"k", 64, "01", "0a"}, {"k", 8, "01", "0b"}};
  scene s;
  begin(&s, shaped, old, 1, step, 2);
  kmb_payoff *payoff = end(&s);
  kmb_payoff_summary sum = summary_of(payoff);
  REQUIRE_EQ(sum.flags,
             KMB_PAYOFF_MATCHED | KMB_PAYOFF_SHAPES_KNOWN | KMB_PAYOFF_BY_CODE);
  REQUIRE_EQ(sum.launches, 3);
  REQUIRE_EQ(sum.other_launches, 0);
  REQUIRE_EQ(sum.other_code_launches, 2);
  REQUIRE_NEAR(sum.in_step_total_ns, 320, 0);
  REQUIRE_NEAR(sum.gain_ns, 160, 1e-9);
  REQUIRE_NEAR(sum.graph_ns - sum.graph_after_ns, 160, 1e-9);
  REQUIRE_EQ(shape_of(payoff, 8).flags, KMB_PAYOFF_CODE_OTHER);
  REQUIRE(notes(payoff, "2 launches that match by name, 600.0 ns in sum, ran "
                        "other code than was measured: left as they were"));
  REQUIRE(!notes(payoff, "several shapes"));
  REQUIRE(!notes(payoff, "not known"));
  says(payoff,
       "grid 8 × 1 × 1, block 128 × 1 × 1, left as they were, other code "
       "0b0000000000\n",
       "2 launches that match by name",
       "\"total_ns\": 600, \"code\": \"other\", \"hashes\": [\"0b" ZEROS
       "\"], \"scaled\": false}");
  kmb_payoff_destroy(payoff);
  /* All shapes are all of that code. */
  begin(&s, shaped, old, 1, step, 2);
  s.params.flags = KMB_PAYOFF_ALL_SHAPES;
  payoff = end(&s);
  REQUIRE_EQ(summary_of(payoff).launches, 3);
  REQUIRE_NEAR(summary_of(payoff).gain_ns, 160, 1e-9);
  kmb_payoff_destroy(payoff);
}

static void a_step_of_other_code_predicts_nothing(void) {
  const row old[] = {{"k", 64, "01", "0a"}};
  const row step[] = {{"k", 64, "01", "0b"}, {"k", 8, "01", "0c"}};
  scene s;
  begin(&s, shaped, old, 1, step, 2);
  kmb_payoff *payoff = end(&s);
  kmb_payoff_summary sum = summary_of(payoff);
  REQUIRE_EQ(sum.flags, KMB_PAYOFF_SHAPES_KNOWN);
  REQUIRE_EQ(sum.other_code_launches, 5);
  REQUIRE_EQ(sum.launches, 5);
  REQUIRE_EQ(kmb_payoff_note_count(payoff), 0);
  REQUIRE(sum.predicted_high_ns == 0);
  REQUIRE_HAS(sum.verdict, "unknown: the step ran other code than was "
                           "measured, in all 5 launches; ");
  says(payoff, "block 128 × 1 × 1, other code 0c0000000000\n",
       "block 128 × 1 × 1, other code 0c0000000000; ",
       "\"matched\": false,\n \"name\": \"new\",\n \"ratio\": 0.5,\n "
       "\"other_code_launches\": 5");
  kmb_payoff_destroy(payoff);
  /* So it is where the measured shape alone did. */
  begin(&s, shaped, old, 1, step, 1);
  set_shape(&s.change, 64);
  payoff = end(&s);
  REQUIRE_HAS(summary_of(payoff).verdict,
              "in all 3 launches with grid 64 × 1 × 1, block 128 × 1 × 1; ");
  REQUIRE_EQ(shape_of(payoff, 8).flags, 0);
  kmb_payoff_destroy(payoff);
  /* No launch has the measured shape; none has its code, and that counts. */
  begin(&s, shaped, old, 1, step, 2);
  set_shape(&s.change, 65);
  payoff = end(&s);
  REQUIRE_HAS(summary_of(payoff).verdict, "in all 5 launches; ");
  kmb_payoff_destroy(payoff);
  /* Or where several names matched. */
  const row others[] = {{"k", 64, "01", "0b"}, {"q", 64, "01", "0b"}};
  begin(&s, SHAPED "1,1,64,1,1,128,1,1,7,k\n2,1,64,1,1,128,1,1,7,q\n", old, 1,
        others, 2);
  s.params.kernel = ".";
  payoff = end(&s);
  REQUIRE_HAS(summary_of(payoff).verdict, "in all 2 launches");
  kmb_payoff_destroy(payoff);
  /* One launch. */
  begin(&s, SHAPED "1,1,64,1,1,128,1,1,7,k\n", old, 1, step, 1);
  payoff = end(&s);
  REQUIRE_HAS(summary_of(payoff).verdict, "measured, in 1 launch; ");
  kmb_payoff_destroy(payoff);
}

/* What is left for its shape and what for its code is counted apart. */
static void shape_and_code_are_counted_apart(void) {
  const row old[] = {{"k", 64, "01", "0a"}};
  const row step[] = {{"k", 64, "01", "0a"}, {"k", 9, "01", "0b"}};
  scene s;
  begin(&s,
        SHAPED "1000,100,64,1,1,128,1,1,7,k\n2000,200,8,1,1,128,1,1,7,k\n"
               "3000,400,9,1,1,128,1,1,7,k\n4000,400,9,1,1,128,1,1,7,k\n",
        old, 1, step, 2);
  set_shape(&s.change, 64);
  kmb_payoff *payoff = end(&s);
  REQUIRE_EQ(summary_of(payoff).launches, 1);
  REQUIRE_EQ(summary_of(payoff).other_launches, 1);
  REQUIRE_EQ(summary_of(payoff).other_code_launches, 2);
  REQUIRE(notes(payoff, "1 launch of the name that matches, 200.0 ns in sum"));
  REQUIRE(notes(payoff, "2 launches that match by name, 800.0 ns in sum"));
  kmb_payoff_destroy(payoff);
}

/* Of one name and shape: nobody knows which launch ran which. */
static void several_codes_of_a_name_and_shape_are_listed(void) {
  const row old[] = {{"k", 64, "01", "0a"}};
  const row step[] = {
      {"k", 64, "01", "0a"}, {"k", 64, "02", "1b"}, {"k", 8, "01", "0a"}};
  scene s;
  begin(&s, shaped, old, 1, step, 3);
  set_shape(&s.change, 64);
  kmb_payoff *payoff = end(&s);
  kmb_payoff_summary sum = summary_of(payoff);
  REQUIRE_EQ(sum.flags, KMB_PAYOFF_SHAPES_KNOWN);
  REQUIRE(sum.predicted_high_ns == 0);
  REQUIRE_HAS(sum.verdict,
              "unknown: which of 3 launches ran the measured code");
  REQUIRE_EQ(shape_of(payoff, 64).flags, KMB_PAYOFF_CODE_SEVERAL);
  REQUIRE_STR(shape_of(payoff, 64).code, "0a" ZEROS " 1b" ZEROS);
  REQUIRE_EQ(shape_of(payoff, 8).flags, KMB_PAYOFF_CODE_SAME);
  says(payoff, "several codes 0a0000000000, 1b0000000000, one as measured\n",
       "several codes 0a0000000000, 1b0000000000",
       "\"code\": \"several\", \"hashes\": [\"0a" ZEROS "\", \"1b" ZEROS "\"]");
  kmb_payoff_destroy(payoff);
  /* Those of the other shape can be told. */
  begin(&s, shaped, old, 1, step, 3);
  set_shape(&s.change, 8);
  payoff = end(&s);
  REQUIRE(summary_of(payoff).flags & KMB_PAYOFF_BY_CODE);
  REQUIRE_EQ(summary_of(payoff).launches, 2);
  kmb_payoff_destroy(payoff);
  /* If none of them is the measured one it is no question which ran it. */
  const row others[] = {{"k", 64, "01", "1b"}, {"k", 64, "02", "2b"}};
  begin(&s, shaped, old, 1, others, 2);
  set_shape(&s.change, 64);
  payoff = end(&s);
  REQUIRE_EQ(shape_of(payoff, 64).flags, KMB_PAYOFF_CODE_OTHER);
  kmb_payoff_destroy(payoff);
}

/* Name and shape decide, and it is said for how many. */
static void unknown_code_leaves_it_to_name_and_shape(void) {
  static const row known = {"k", 64, "01", "0a"}, other = {"k", 64, "02", "0b"};
  static const row bare = {"k", 64, "", ""}, image = {"k", 64, "02", ""};
  static const row away = {"k", 65, "01", "0a"}, named = {"q", 64, "01", "0a"};
  const struct {
    row old[2], step[2];
    int olds, steps;
  } cases[] = {
      {{known}, {bare}, 1, 1},        {{bare}, {known}, 1, 1},
      {{known}, {image}, 1, 1},       {{image}, {known}, 1, 1},
      {{known}, {known, bare}, 1, 2}, {{known, other}, {known}, 2, 1},
      {{known, bare}, {known}, 2, 1}, {{known}, {away}, 1, 1},
      {{known}, {named}, 1, 1},       {{known}, {other, bare}, 1, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    scene s;
    begin(&s, shaped, cases[i].old, cases[i].olds, cases[i].step,
          cases[i].steps);
    set_shape(&s.change, 64);
    kmb_payoff *payoff = end(&s);
    kmb_payoff_summary sum = summary_of(payoff);
    REQUIRE_EQ(sum.flags, KMB_PAYOFF_MATCHED | KMB_PAYOFF_SHAPES_KNOWN |
                              KMB_PAYOFF_BY_SHAPE);
    REQUIRE_EQ(sum.launches, 3);
    REQUIRE_EQ(sum.code_launches, 0);
    REQUIRE_EQ(sum.unknown_launches, 3);
    REQUIRE_EQ(shape_of(payoff, 64).flags, KMB_PAYOFF_SCALED);
    REQUIRE(notes(payoff, "of 3 of the 3 launches that are scaled it is not "
                          "known which code they ran"));
    says(payoff, "  code                      unknown\n", "it is not known",
         "\"code\": \"unknown\"");
    if (i == 2)
      says(payoff, "code 020000000000, not known to be the measured one\n",
           "it is not known", "\"hashes\": [\"02" ZEROS);
    kmb_payoff_destroy(payoff);
  }
}

/* Without the instructions a hash of the whole image. */
static void images_tell_it_where_instructions_are_not_known(void) {
  const row old[] = {{"k", 64, "01", ""}};
  const row step[] = {{"k", 64, "01", "0a"}, {"k", 8, "01", ""}};
  scene s;
  begin(&s, shaped, old, 1, step, 2);
  s.params.flags = KMB_PAYOFF_ALL_SHAPES;
  kmb_payoff *payoff = end(&s);
  REQUIRE(summary_of(payoff).flags & KMB_PAYOFF_BY_CODE);
  REQUIRE_EQ(summary_of(payoff).code_launches, 5);
  REQUIRE_STR(shape_of(payoff, 64).code, "0a" ZEROS);
  REQUIRE_STR(shape_of(payoff, 8).code, "01" ZEROS);
  /* Two hashes of one code are not shown as one. */
  says(payoff, "  code                      as measured in 5 of 5 launches\n",
       "code as measured in 5 of 5, 5 launches", "\"code_launches\": 5");
  kmb_payoff_destroy(payoff);
}

/* Of a name whose trace says no shape all rows count. */
static void without_shapes_the_name_is_looked_up(void) {
  const row old[] = {{"k", 64, "01", "0a"}};
  const row step[] = {{"k", 64, "01", "0a"}, {"k", 8, "01", "0a"}};
  scene s;
  begin(&s, unshaped, old, 1, step, 2);
  kmb_payoff *payoff = end(&s);
  REQUIRE_EQ(summary_of(payoff).code_launches, 2);
  REQUIRE_STR(shape_of(payoff, 0).code, "0a" ZEROS);
  kmb_payoff_destroy(payoff);
  const row mixed[] = {{"k", 64, "01", "0a"}, {"k", 8, "01", "0b"}};
  begin(&s, unshaped, old, 1, mixed, 2);
  payoff = end(&s);
  REQUIRE_HAS(summary_of(payoff).verdict, "which of 2 launches ran");
  says(payoff,
       "grid and block unknown, several codes 0a0000000000, 0b0000000000, ",
       "2 launches with grid and block unknown, several codes 0a",
       "\"code\": \"several\"");
  kmb_payoff_destroy(payoff);
}

/* A C++ name, and a kernel that the two name differently. */
static void names_are_those_of_either_spelling(void) {
  const row old[] = {{"_Z3olds", 64, "01", "0a"}};
  const row step[] = {{"_Z1ki\", \"demangled\": \"k", 64, "01", "0a"}};
  scene s;
  begin(&s, shaped, old, 1, step, 1);
  set_shape(&s.change, 64);
  kmb_payoff *payoff = end(&s);
  REQUIRE_EQ(summary_of(payoff).code_launches, 3);
  kmb_payoff_destroy(payoff);
  /* Of several that were measured it is the one of that name, or the traced
   * one, or nobody knows. */
  const row both[] = {{"_Z3olds", 64, "01", "0a"}, {"m", 64, "01", "0b"}};
  begin(&s, shaped, both, 2, step, 1);
  set_shape(&s.change, 64);
  payoff = end(&s);
  REQUIRE_EQ(summary_of(payoff).unknown_launches, 3);
  kmb_payoff_destroy(payoff);
  const row twins[] = {{"_Z3olds", 64, "01", "0a"}, {"m", 64, "01", "0a"}};
  begin(&s, shaped, twins, 2, step, 1);
  s.change.kernel = NULL;
  s.params.kernel = "k";
  set_shape(&s.change, 64);
  payoff = end(&s);
  REQUIRE_EQ(summary_of(payoff).unknown_launches, 3);
  kmb_payoff_destroy(payoff);
  for (int i = 0; i < 2; i++) {
    begin(&s, shaped, both, 2, step, 1);
    s.change.kernel = both[i].name;
    s.params.kernel = "k";
    set_shape(&s.change, 64);
    payoff = end(&s);
    REQUIRE_EQ(summary_of(payoff).code_launches, i ? 0 : 3);
    REQUIRE_EQ(summary_of(payoff).other_code_launches, i ? 3 : 0);
    kmb_payoff_destroy(payoff);
  }
  const row own[] = {{"m", 64, "01", "0b"}, {"k", 64, "01", "0a"}};
  begin(&s, shaped, own, 2, step, 1);
  set_shape(&s.change, 64);
  payoff = end(&s);
  REQUIRE_EQ(summary_of(payoff).code_launches, 3);
  kmb_payoff_destroy(payoff);
}

/* What was launched otherwise before it was timed is not what was measured. */
static void the_measured_shape_chooses_among_old_codes(void) {
  const row old[] = {{"k", 64, "01", "0a"}, {"k", 1, "01", "0b"}};
  const row step[] = {{"k", 64, "01", "0a"}};
  scene s;
  begin(&s, shaped, old, 2, step, 1);
  set_shape(&s.change, 64);
  kmb_payoff *payoff = end(&s);
  REQUIRE_EQ(summary_of(payoff).code_launches, 3);
  kmb_payoff_destroy(payoff);
}

/* A name whose code is another is no candidate. */
static void code_tells_kernels_of_several_names_apart(void) {
  const char two[] = SHAPED "1000,100,64,1,1,128,1,1,7,k1\n"
                            "2000,300,8,1,1,128,1,1,7,k2\n"
                            "3000,300,8,1,1,128,1,1,7,k2\n";
  const row old[] = {{"k", 64, "01", "0a"}};
  const row step[] = {{"k1", 64, "01", "0b"}, {"k2", 8, "01", "0a"}};
  scene s;
  begin(&s, two, old, 1, step, 2);
  s.params.kernel = "k";
  kmb_payoff *payoff = end(&s);
  REQUIRE_EQ(summary_of(payoff).candidates, 2);
  REQUIRE_EQ(summary_of(payoff).launches, 2);
  REQUIRE_NEAR(summary_of(payoff).gain_ns, 300, 1e-9);
  kmb_payoff_destroy(payoff);
  /* Two of three may be it. */
  begin(&s,
        SHAPED "1,1,64,1,1,128,1,1,7,k1\n2,1,8,1,1,128,1,1,7,k2\n"
               "3,1,9,1,1,128,1,1,7,k3\n",
        old, 1, step, 1);
  s.params.kernel = "k";
  payoff = end(&s);
  REQUIRE_EQ(summary_of(payoff).candidates, 3);
  REQUIRE_HAS(summary_of(payoff).verdict, "unknown: 2 kernels match");
  kmb_payoff_destroy(payoff);
  /* Both may be it. */
  begin(&s, two, old, 1, step + 1, 1);
  s.params.kernel = "k";
  payoff = end(&s);
  REQUIRE_HAS(summary_of(payoff).verdict, "unknown: 2 kernels match");
  kmb_payoff_destroy(payoff);
  /* Shapes of other code are not counted among those that may be it. */
  const row eight[] = {{"k", 8, "01", "0b"}};
  begin(&s,
        SHAPED "1,1,64,1,1,128,1,1,7,k\n2,1,8,1,1,128,1,1,7,k\n"
               "3,1,9,1,1,128,1,1,7,k\n",
        old, 1, eight, 1);
  payoff = end(&s);
  REQUIRE_HAS(summary_of(payoff).verdict, "launches of 2 shapes match");
  kmb_payoff_destroy(payoff);
}

static void a_result_without_code_is_told_how_to_get_it(void) {
  const row step[] = {{"k", 64, "01", "0a"}};
  scene s;
  begin(&s, unshaped, NULL, 0, step, 1);
  kmb_payoff *payoff = end(&s);
  REQUIRE_EQ(summary_of(payoff).launches, 2);
  REQUIRE_EQ(summary_of(payoff).unknown_launches, 2);
  REQUIRE(notes(payoff, "hand its capture (kmb_code_capture()) to the "
                        "measurement (kmb_bench_params::code)"));
  REQUIRE(!notes(payoff, "it is not known which code"));
  kmb_payoff_destroy(payoff);
  /* A ratio of no result; also where nothing is predicted. */
  begin(&s, shaped, NULL, 0, step, 1);
  s.change.before = NULL;
  payoff = end(&s);
  REQUIRE(!(summary_of(payoff).flags & KMB_PAYOFF_MATCHED));
  REQUIRE_EQ(kmb_payoff_note_count(payoff), 1);
  says(payoff, "- the step's code is given, that of the measured kernel is not",
       "Note: the step's code is given", "\"the step's code is given");
  kmb_payoff_destroy(payoff);
}

/* Without the step's code all is as it was. */
static void nothing_is_said_of_code_that_nobody_gave(void) {
  const row old[] = {{"k", 64, "01", "0a"}};
  scene s;
  begin(&s, shaped, old, 1, old, 1);
  set_shape(&s.change, 64);
  s.params.listed_count = 0;
  kmb_payoff *payoff = end(&s);
  REQUIRE(!(summary_of(payoff).flags & KMB_PAYOFF_BY_CODE));
  REQUIRE_EQ(summary_of(payoff).code_launches, 0);
  REQUIRE_EQ(summary_of(payoff).unknown_launches, 0);
  written words = text_of(payoff);
  REQUIRE(!strstr(words.data, "code"));
  REQUIRE_OK(kmb_payoff_write_json(payoff, take_bytes, &words));
  REQUIRE_OK(kmb_payoff_write_markdown(payoff, take_bytes, &words));
  REQUIRE(!strstr(words.data, "code"));
  free(words.data);
  kmb_payoff_destroy(payoff);
}

static void what_a_capture_did_not_see_is_said(void) {
  const row old[] = {{"k", 64, "01", "0a"}};
  scene s;
  begin(&s, shaped, old, 1, old, 1);
  kmb_results_destroy(s.step);
  s.step = list_with(old, 1, ", \"code_omitted\": 2, \"code_unseen\": 5");
  s.listed[0] = first_of(s.step);
  set_shape(&s.change, 64);
  kmb_payoff *payoff = end(&s);
  REQUIRE_EQ(summary_of(payoff).code_launches, 3);
  REQUIRE(notes(payoff, "did not see 7 launches"));
  kmb_payoff_destroy(payoff);
}

/* Whatever became of the step's code. */
static void a_comparison_of_the_same_code_is_said(void) {
  static const char all[] = ", \"code_omitted\": 0, \"code_unseen\": 0";
  const row same[] = {{"k", 64, "01", "0a"}}, other[] = {{"k", 64, "01", "0b"}};
  const row bare[] = {{"k", 64, "", ""}};
  kmb_trace *trace = load(unshaped);
  kmb_results *old = list_with(same, 1, all);
  for (int i = 0; i < 3; i++) {
    kmb_results *fresh = list_with(i == 1 ? other : i ? bare : same, 1, all);
    kmb_payoff_change change = kmb_payoff_change_init();
    kmb_payoff_params p = kmb_payoff_params_init();
    REQUIRE_OK(
        kmb_payoff_change_between(first_of(old), first_of(fresh), &change));
    REQUIRE(change.before == first_of(old) && change.after == first_of(fresh));
    p.kernel = "k";
    kmb_payoff *payoff = evaluate(trace, &change, &p);
    REQUIRE_EQ(!(summary_of(payoff).flags & KMB_PAYOFF_SAME_CODE), i > 0);
    REQUIRE_EQ(notes(payoff, "compares the same code"), !i);
    if (!i)
      says(payoff, "compares the same code", "compares the same code",
           "\"same_code\": true");
    kmb_payoff_destroy(payoff);
    kmb_results_destroy(fresh);
  }
  kmb_results_destroy(old);
  kmb_trace_destroy(trace);
}

/* A capture, as a program has it at hand. */

static kmb_status launch_nothing(void *user) {
  (void)user;
  return KMB_OK;
}

/* The simulated device gives one code twice, then another. */
static void a_capture_is_looked_up(void) {
  kmb_device *device = NULL;
  kmb_code *codes[3] = {NULL, NULL, NULL};
  kmb_trace *trace = load("Start (ns),Duration (ns),Strm,Name\n"
                          "1000,100,7,_Z3simv\n2000,300,7,_Z3simv\n");
  kmb_code_kernel k = kmb_code_kernel_init();
  char rows[512];
  REQUIRE_OK(kmb_device_open(SIM_DIR "/kmb-backend-sim.so:", NULL, &device));
  for (int i = 0; i < 3; i++)
    REQUIRE_OK(kmb_code_capture(device, launch_nothing, NULL, &codes[i]));
  REQUIRE_OK(kmb_code_get_kernel(codes[0], 0, &k));
  snprintf(rows, sizeof rows,
           "_Z3simv\", \"sha256\": \"%s\", \"code_offset\": 0, \"code_bytes\": "
           "1, \"code_sha256\": \"%s",
           k.hash, k.code_hash);
  const row old[] = {{rows, 0, "", ""}};
  kmb_results *list = list_with(old, 1, "");
  kmb_payoff_change change = changed("_Z3simv", 0.5);
  change.before = first_of(list);
  for (int i = 0; i < 3; i++) {
    kmb_payoff_params p = kmb_payoff_params_init();
    p.code = codes[i];
    kmb_payoff *payoff = evaluate(trace, &change, &p);
    kmb_payoff_summary sum = summary_of(payoff);
    REQUIRE_EQ(sum.code_launches, i < 2 ? 2 : 0);
    REQUIRE_EQ(sum.other_code_launches, i < 2 ? 0 : 2);
    REQUIRE_EQ(!(sum.flags & KMB_PAYOFF_BY_CODE), i == 2);
    kmb_payoff_destroy(payoff);
    /* What another run of the step lists counts as well. */
    p.listed = &change.before;
    p.listed_count = 1;
    payoff = evaluate(trace, &change, &p);
    REQUIRE_EQ(summary_of(payoff).code_launches, i < 2 ? 2 : 0);
    REQUIRE_EQ(summary_of(payoff).other_code_launches, 0);
    kmb_payoff_destroy(payoff);
  }
  kmb_results_destroy(list);
  for (int i = 0; i < 3; i++)
    kmb_code_destroy(codes[i]);
  kmb_device_close(device);
  kmb_trace_destroy(trace);
}

/* Callers, old and careless, and want of memory. */

/* A caller who knows nothing of code sets nothing of it, whatever lies behind
 * what he knows. */
static void older_callers_are_understood(void) {
  const row old[] = {{"k", 64, "01", "0a"}}, step[] = {{"k", 64, "01", "0b"}};
  scene s;
  begin(&s, shaped, old, 1, step, 1);
  set_shape(&s.change, 64);
  s.params.struct_size = offsetof(kmb_payoff_params, code);
  kmb_payoff *payoff = evaluate(s.trace, &s.change, &s.params);
  REQUIRE_EQ(summary_of(payoff).launches, 3);
  REQUIRE_EQ(summary_of(payoff).other_code_launches, 0);
  kmb_payoff_destroy(payoff);
  s.params.struct_size = sizeof s.params;
  s.change.struct_size = offsetof(kmb_payoff_change, before);
  payoff = evaluate(s.trace, &s.change, &s.params);
  REQUIRE(notes(payoff, "that of the measured kernel is not"));
  kmb_payoff_destroy(payoff);
  s.change.struct_size = sizeof s.change;
  payoff = end(&s);
  struct {
    kmb_payoff_summary s;
    char behind;
  } sum = {.s = {.struct_size = offsetof(kmb_payoff_summary, code_launches),
                 .other_code_launches = 77}};
  kmb_payoff_shape shape = {.struct_size = offsetof(kmb_payoff_shape, code),
                            .code = ZEROS};
  REQUIRE_OK(kmb_payoff_get_summary(payoff, &sum.s));
  REQUIRE_EQ(sum.s.other_code_launches, 77);
  REQUIRE_OK(kmb_payoff_get_shape(payoff, 0, &shape));
  REQUIRE_STR(shape.code, ZEROS);
  kmb_payoff_destroy(payoff);
}

static void arguments_are_checked(void) {
  const row old[] = {{"k", 64, "01", "0a"}};
  scene s;
  begin(&s, shaped, old, 1, old, 1);
  s.listed[0] = NULL;
  refuses(s.trace, &s.change, &s.params, KMB_ERR_INVALID,
          "of 1 results that list code number 0 is NULL");
  s.params.listed = NULL;
  refuses(s.trace, &s.change, &s.params, KMB_ERR_INVALID, "is NULL");
  s.params.listed_count = 0;
  s.params.flags = KMB_PAYOFF_ALL_SHAPES;
  kmb_payoff_destroy(end(&s));
}

static void memory_may_run_out_anywhere(void) {
  const row old[] = {{"k", 64, "01", "0a"}, {"_Z1mv", 1, "01", "0b"}};
  const row step[] = {{"k", 64, "01", "0a"}, {"k", 8, "01", "0b"}};
  scene s;
  heap h;
  uint64_t k = 1 - heap_step();
  begin(&s, shaped, old, 2, step, 2);
  s.change.after = s.change.before;
  do {
    h = (heap){.fail_at = k += heap_step()};
    kmb_hooks hooks = heap_hooks(&h);
    kmb_payoff *payoff = NULL;
    written words = {NULL, 0};
    s.params.hooks = &hooks;
    kmb_status status =
        kmb_payoff_evaluate(s.trace, &s.change, &s.params, &payoff);
    REQUIRE(!status == !!payoff);
    if (!status) status = kmb_payoff_write_text(payoff, take_bytes, &words);
    if (!status) status = kmb_payoff_write_markdown(payoff, take_bytes, &words);
    if (!status) status = kmb_payoff_write_json(payoff, take_bytes, &words);
    kmb_payoff_destroy(payoff);
    free(words.data);
    REQUIRE_STATUS(status, h.failed ? KMB_ERR_NOMEM : KMB_OK);
    REQUIRE_EQ(h.blocks_out, 0);
    REQUIRE_EQ(h.bytes_out, 0);
  } while (h.failed);
  REQUIRE(k > 10);
  kmb_trace_destroy(s.trace);
  kmb_results_destroy(s.old);
  kmb_results_destroy(s.step);
}

int main(void) {
  RUN(launches_of_the_same_code_are_matched_by_it);
  RUN(launches_of_other_code_are_left_as_they_were);
  RUN(a_step_of_other_code_predicts_nothing);
  RUN(shape_and_code_are_counted_apart);
  RUN(several_codes_of_a_name_and_shape_are_listed);
  RUN(unknown_code_leaves_it_to_name_and_shape);
  RUN(images_tell_it_where_instructions_are_not_known);
  RUN(without_shapes_the_name_is_looked_up);
  RUN(names_are_those_of_either_spelling);
  RUN(the_measured_shape_chooses_among_old_codes);
  RUN(code_tells_kernels_of_several_names_apart);
  RUN(a_result_without_code_is_told_how_to_get_it);
  RUN(nothing_is_said_of_code_that_nobody_gave);
  RUN(what_a_capture_did_not_see_is_said);
  RUN(a_comparison_of_the_same_code_is_said);
  RUN(a_capture_is_looked_up);
  RUN(older_callers_are_understood);
  RUN(arguments_are_checked);
  RUN(memory_may_run_out_anywhere);
  return 0;
}
