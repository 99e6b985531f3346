/* Launches of one name and several shapes: which are meant. */
#include "evaluate.h"

#define SHAPED \
  "Start (ns),Duration (ns),GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Strm,Name\n"
/* Three launches of 64 blocks, two of 8, one that the trace says nothing of,
 * and another kernel. */
static const char shaped[] =
    SHAPED "1000,100,64,1,1,128,1,1,7,k\n2000,300,8,1,1,128,1,1,7,k\n"
           "3000,100,64,1,1,128,1,1,7,k\n4000,300,8,1,1,128,1,1,7,k\n"
           "5000,120,64,1,1,128,1,1,7,k\n6000,50,,,,,,,7,k\n"
           "7000,10,64,1,1,128,1,1,7,other\n";

static void set_shape(kmb_payoff_change *change, uint32_t grid_x) {
  change->grid_x = grid_x;
  change->block_x = 128;
  change->grid_y = change->grid_z = change->block_y = change->block_z = 1;
  change->flags |= KMB_PAYOFF_HAS_SHAPE;
}

static kmb_payoff_params of_shape(uint32_t grid_x, uint32_t block_y) {
  kmb_payoff_params p = kmb_payoff_params_init();
  p.flags = KMB_PAYOFF_ONE_SHAPE;
  p.grid_x = grid_x;
  p.block_x = 128;
  p.block_y = block_y;
  p.grid_y = p.grid_z = p.block_z = 1;
  return p;
}

static kmb_payoff_shape shape_at(const kmb_payoff *payoff, uint64_t index) {
  kmb_payoff_shape shape = kmb_payoff_shape_init();
  REQUIRE_OK(kmb_payoff_get_shape(payoff, index, &shape));
  return shape;
}

/* Nobody says which shape was measured: listed, never guessed. */
static void several_shapes_are_listed(void) {
  kmb_trace *trace = load(shaped);
  kmb_payoff_change change = changed("k", 0.5);
  written words = {NULL, 0};
  kmb_payoff *payoff = evaluate(trace, &change, NULL);
  kmb_payoff_summary s = summary_of(payoff);
  kmb_trace_destroy(trace);
  REQUIRE_EQ(s.flags, KMB_PAYOFF_SHAPES_KNOWN);
  REQUIRE_EQ(s.candidates, 1);
  REQUIRE_EQ(s.shapes, 3);
  REQUIRE_EQ(s.launches, 6);
  REQUIRE_EQ(s.other_launches, 0);
  REQUIRE(s.predicted_low_ns == 0 && s.predicted_high_ns == 0);
  REQUIRE_HAS(s.verdict, "unknown: launches of 3 shapes match");
  REQUIRE_HAS(s.verdict, "--all-shapes");
  kmb_payoff_shape shape = shape_at(payoff, 0);
  REQUIRE_STR(shape.name, "k");
  REQUIRE_EQ(shape.launches, 2);
  REQUIRE_EQ(shape.total_ns, 600);
  REQUIRE_EQ(shape.grid_x, 8);
  REQUIRE_EQ(shape.block_x, 128);
  REQUIRE_EQ(shape.flags, 0);
  REQUIRE_EQ(shape_at(payoff, 1).grid_x, 64);
  REQUIRE_EQ(shape_at(payoff, 1).launches, 3);
  REQUIRE_EQ(shape_at(payoff, 2).grid_x, 0);
  REQUIRE_STATUS(kmb_payoff_get_shape(payoff, 3, &shape), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_payoff_get_shape(payoff, 0, NULL), KMB_ERR_INVALID);
  REQUIRE_STATUS(kmb_payoff_get_shape(NULL, 0, &shape), KMB_ERR_INVALID);
  REQUIRE_OK(kmb_payoff_write_text(payoff, take_bytes, &words));
  REQUIRE_HAS(words.data, "    2 launches, 600.0 ns, 61.9%  grid 8 × 1 × 1, "
                          "block 128 × 1 × 1\n");
  REQUIRE_HAS(words.data, "    1 launch, 50.00 ns, 5.2%  grid and block "
                          "unknown\n");
  REQUIRE_OK(kmb_payoff_write_json(payoff, take_bytes, &words));
  REQUIRE_HAS(words.data,
              "{\"name\": \"k\", \"grid\": [8, 1, 1], \"block\": [128, 1, "
              "1], \"launches\": 2, \"total_ns\": 600, \"scaled\": false}");
  REQUIRE_HAS(words.data, "{\"name\": \"k\", \"launches\": 1, \"total_ns\": "
                          "50, \"scaled\": false}]");
  REQUIRE_OK(kmb_payoff_write_markdown(payoff, take_bytes, &words));
  REQUIRE_HAS(words.data, "Kernel `k`: 2 launches with grid 8 × 1 × 1, block "
                          "128 × 1 × 1; 3 launches with ");
  free(words.data);
  kmb_payoff_destroy(payoff);
}

/* As the old kernel was launched where it was measured. */
static void the_measured_shape_alone_is_scaled(void) {
  kmb_trace *trace = load(shaped);
  kmb_payoff_change change = changed("k", 0.5);
  written words = {NULL, 0};
  set_shape(&change, 64);
  kmb_payoff *payoff = evaluate(trace, &change, NULL);
  kmb_payoff_summary s = summary_of(payoff);
  REQUIRE_EQ(s.flags, KMB_PAYOFF_MATCHED | KMB_PAYOFF_SHAPES_KNOWN |
                          KMB_PAYOFF_BY_SHAPE);
  REQUIRE_EQ(s.launches, 3);
  REQUIRE_EQ(s.other_launches, 3);
  REQUIRE_NEAR(s.in_step_ns, 100, 0);
  REQUIRE_NEAR(s.in_step_total_ns, 320, 0);
  REQUIRE_NEAR(s.gain_ns, 160, 1e-9);
  REQUIRE_NEAR(s.graph_ns - s.graph_after_ns, 160, 1e-9);
  REQUIRE_EQ(shape_at(payoff, 0).flags, 0);
  REQUIRE_EQ(shape_at(payoff, 1).flags, KMB_PAYOFF_SCALED);
  REQUIRE_HAS(kmb_payoff_note(payoff, kmb_payoff_note_count(payoff) - 1),
              "3 launches of the name that matches, 650.0 ns in sum, are of "
              "other grid or block and left as they were: --all-shapes scales "
              "all");
  REQUIRE_OK(kmb_payoff_write_text(payoff, take_bytes, &words));
  REQUIRE_HAS(words.data, "block 128 × 1 × 1, scaled\n");
  REQUIRE_HAS(words.data, "block 128 × 1 × 1, left as they were\n");
  REQUIRE_HAS(words.data,
              "launched with             grid 64 × 1 × 1, block 128 "
              "× 1 × 1\n");
  REQUIRE_OK(kmb_payoff_write_json(payoff, take_bytes, &words));
  REQUIRE_HAS(words.data, "\"other_launches\": 3");
  REQUIRE_HAS(words.data,
              "\"launches\": 3, \"total_ns\": 320, \"scaled\": true}");
  REQUIRE_OK(kmb_payoff_write_markdown(payoff, take_bytes, &words));
  REQUIRE_HAS(
      words.data,
      "`k`, grid 64 × 1 × 1, block 128 × 1 × 1, 3 launches of 100.0 ns");
  free(words.data);
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
}

/* The caller's word counts more than the result's. */
static void a_shape_or_all_can_be_asked_for(void) {
  kmb_trace *trace = load(shaped);
  kmb_payoff_change change = changed("k", 0.5);
  set_shape(&change, 64);
  kmb_payoff_params p = of_shape(8, 1);
  kmb_payoff *payoff = evaluate(trace, &change, &p);
  REQUIRE_EQ(summary_of(payoff).launches, 2);
  REQUIRE_NEAR(summary_of(payoff).gain_ns, 300, 1e-9);
  kmb_payoff_destroy(payoff);
  p = kmb_payoff_params_init();
  p.flags = KMB_PAYOFF_ALL_SHAPES;
  payoff = evaluate(trace, &change, &p);
  kmb_payoff_summary s = summary_of(payoff);
  REQUIRE_EQ(s.launches, 6);
  REQUIRE_EQ(s.other_launches, 0);
  REQUIRE_EQ(s.flags, KMB_PAYOFF_MATCHED | KMB_PAYOFF_SHAPES_KNOWN);
  REQUIRE_NEAR(s.gain_ns, 485, 1e-9);
  REQUIRE_EQ(shape_at(payoff, 2).flags, KMB_PAYOFF_SCALED);
  REQUIRE_HAS(kmb_payoff_note(payoff, kmb_payoff_note_count(payoff) - 1),
              "launches of several shapes are scaled alike");
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
}

/* The ratio is of other launches than the step has. */
static void a_shape_that_no_launch_has_predicts_nothing(void) {
  kmb_trace *trace = load(shaped);
  kmb_payoff_change change = changed("other", 0.5);
  written words = {NULL, 0};
  set_shape(&change, 65);
  kmb_payoff *payoff = evaluate(trace, &change, NULL);
  kmb_payoff_summary s = summary_of(payoff);
  REQUIRE_EQ(s.flags, KMB_PAYOFF_SHAPES_KNOWN);
  REQUIRE_EQ(s.launches, 1);
  REQUIRE_HAS(s.verdict, "unknown: none of 1 launches has grid 65 × 1 × 1, "
                         "block 128 × 1 × 1, as was measured");
  REQUIRE_OK(kmb_payoff_write_text(payoff, take_bytes, &words));
  REQUIRE_HAS(words.data, "    1 launch, 10.00 ns, 100.0%  grid 64 ");
  free(words.data);
  kmb_payoff_destroy(payoff);
  kmb_payoff_params p = of_shape(64, 2);
  refuses(trace, &change, &p, KMB_ERR_UNAVAILABLE,
          "no launch matches the shape 64x1x1,128x2x1; there are "
          "64x1x1,128x1x1");
  change = changed("k", 0.5);
  refuses(trace, &change, &p, KMB_ERR_UNAVAILABLE,
          "there are 8x1x1,128x1x1, 64x1x1,128x1x1");
  /* One shape and no word of which was measured: it is that one. */
  change = changed("other", 0.5);
  payoff = evaluate(trace, &change, NULL);
  REQUIRE(summary_of(payoff).flags & KMB_PAYOFF_MATCHED);
  REQUIRE(!(summary_of(payoff).flags & KMB_PAYOFF_BY_SHAPE));
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
}

/* No more of them than a message holds; of several names each once. */
static void shapes_that_are_there_are_listed_as_far_as_they_fit(void) {
  char text[4000], name = 'a';
  char *to = text + sprintf(text, SHAPED);
  for (int i = 0; i < 20; i++, name = name == 'a' ? 'b' : 'a')
    to += sprintf(to, "%d,%d,%u,1,1,128,1,1,7,%c\n", 1000 * (i + 1), 900 - i,
                  4000000000u + (unsigned)i / 2, name);
  kmb_trace *trace = load(text);
  kmb_payoff_change change = changed("a", 0.5);
  kmb_payoff_params p = of_shape(4294967295, 4294967295);
  p.flags |= KMB_PAYOFF_ALL_NAMES;
  p.kernel = ".";
  p.grid_y = p.grid_z = p.block_x = p.block_z = p.grid_x;
  refuses(trace, &change, &p, KMB_ERR_UNAVAILABLE,
          "no launch matches the shape "
          "4294967295x4294967295x4294967295,4294967295x4294967295x4294967295; "
          "there are 4000000000x1x1,128x1x1, 4000000001x1x1,128x1x1, "
          "4000000002x1x1,128x1x1, 4000000003x1x1,128x1x1 and 6 more");
  kmb_trace_destroy(trace);
  /* In their order, even where a later one would fit. */
#define WIDE "4294967295,4294967295,4294967295,4294967295,4294967295,"
  trace = load(SHAPED "1000,900," WIDE "1,7,a\n2000,800," WIDE "2,7,a\n"
                      "3000,700,1,1,1,1,1,1,7,a\n");
  refuses(trace, &change, &p, KMB_ERR_UNAVAILABLE,
          "there are 4294967295x4294967295x4294967295,4294967295x4294967295x1 "
          "and 2 more");
  kmb_trace_destroy(trace);
}

/* As before there were shapes; but it is said. */
static void a_trace_without_shapes_says_so(void) {
  kmb_trace *trace =
      load("Start (ns),Duration (ns),Strm,Name\n1000,500,7,other\n");
  kmb_payoff_change change = changed("other", 0.5);
  kmb_payoff_params p = of_shape(64, 1);
  set_shape(&change, 64);
  kmb_payoff *payoff = evaluate(trace, &change, NULL);
  REQUIRE_EQ(summary_of(payoff).flags, KMB_PAYOFF_MATCHED);
  REQUIRE_EQ(summary_of(payoff).shapes, 1);
  REQUIRE_HAS(kmb_payoff_note(payoff, kmb_payoff_note_count(payoff) - 1),
              "launches of several shapes may be among these");
  kmb_payoff_destroy(payoff);
  payoff = (kmb_payoff *)&payoff;
  REQUIRE_STATUS(kmb_payoff_evaluate(trace, &change, &p, &payoff),
                 KMB_ERR_UNAVAILABLE);
  REQUIRE_HAS(kmb_last_error(NULL, NULL), "no shape can be chosen");
  kmb_trace_destroy(trace);
}

/* Several names may be scaled; each of one shape is no ambiguity. */
static void names_of_one_shape_each_are_not_ambiguous(void) {
  kmb_trace *trace = load(SHAPED "1000,100,64,1,1,128,1,1,7,k1\n"
                                 "2000,300,8,1,1,128,1,1,7,k2\n"
                                 "3000,300,8,1,1,128,1,1,7,k2\n");
  kmb_payoff_change change = changed(NULL, 0.5);
  kmb_payoff_params p = kmb_payoff_params_init();
  written words = {NULL, 0};
  p.kernel = "k";
  p.flags = KMB_PAYOFF_ALL_NAMES;
  kmb_payoff *payoff = evaluate(trace, &change, &p);
  REQUIRE(summary_of(payoff).flags & KMB_PAYOFF_MATCHED);
  REQUIRE_EQ(summary_of(payoff).launches, 3);
  REQUIRE_OK(kmb_payoff_write_text(payoff, take_bytes, &words));
  REQUIRE(!strstr(words.data, "launched with"));
  free(words.data);
  kmb_payoff_destroy(payoff);
  p = of_shape(8, 1);
  p.kernel = "k";
  p.flags |= KMB_PAYOFF_ALL_NAMES;
  payoff = evaluate(trace, &change, &p);
  REQUIRE_EQ(summary_of(payoff).launches, 2);
  REQUIRE_EQ(summary_of(payoff).other_launches, 1);
  kmb_payoff_destroy(payoff);
  p.flags = KMB_PAYOFF_ONE_SHAPE;
  payoff = evaluate(trace, &change, &p);
  REQUIRE_HAS(summary_of(payoff).verdict, "2 kernels match");
  REQUIRE_EQ(summary_of(payoff).flags, KMB_PAYOFF_SHAPES_KNOWN);
  REQUIRE_EQ(summary_of(payoff).launches, 3);
  REQUIRE_EQ(shape_at(payoff, 0).flags | shape_at(payoff, 1).flags, 0);
  kmb_payoff_destroy(payoff);
  kmb_trace_destroy(trace);
}

static void arguments_are_checked(void) {
  kmb_trace *trace = load(shaped);
  kmb_payoff_change change = changed("other", 1);
  kmb_payoff_params p = kmb_payoff_params_init();
  p.flags = KMB_PAYOFF_ONE_SHAPE;
  refuses(trace, &change, &p, KMB_ERR_INVALID, "kmb_payoff_params: grid and");
  p = of_shape(1, 1);
  p.block_z = 0;
  refuses(trace, &change, &p, KMB_ERR_INVALID, "above 0, all six");
  p = of_shape(1, 1);
  p.flags |= KMB_PAYOFF_ALL_SHAPES;
  refuses(trace, &change, &p, KMB_ERR_INVALID, "exclude each other");
  p.flags = 0;
  refuses(trace, &change, &p, KMB_ERR_INVALID, "without its flag");
  p = kmb_payoff_params_init();
  set_shape(&change, 0);
  refuses(trace, &change, &p, KMB_ERR_INVALID, "kmb_payoff_change: grid and");
  kmb_trace_destroy(trace);
}

int main(void) {
  RUN(several_shapes_are_listed);
  RUN(the_measured_shape_alone_is_scaled);
  RUN(a_shape_or_all_can_be_asked_for);
  RUN(a_shape_that_no_launch_has_predicts_nothing);
  RUN(shapes_that_are_there_are_listed_as_far_as_they_fit);
  RUN(a_trace_without_shapes_says_so);
  RUN(names_of_one_shape_each_are_not_ambiguous);
  RUN(arguments_are_checked);
  return 0;
}
