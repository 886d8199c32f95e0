/* Charts: scales, what cannot be placed, names, and that nothing lies over each other. */
#include "runner/render/plot/plot.h"

#include "tests/runner/table/markup.h"

#include <math.h>

enum { SVG_MAX = 1 << 22 };

static char *draw(const struct plot_curve *curves, size_t count, bool bytes,
                  enum plot_scale *scale) {
  const struct plot plot = {.title = "up & <down>",
                            .x_name = "size",
                            .y_name = "GB/s",
                            .x_bytes = bytes,
                            .curves = curves,
                            .curve_count = count};
  SCOPED(strbuf_fini) struct strbuf text;
  strbuf_init(&text, SVG_MAX);
  *scale = plot_svg_scale(&plot);
  plot_svg(&plot, *scale, "c1", &text);
  assert_false(text.truncated);
  char *copy = strdup(text.text);
  assert_markup(copy);
  assert_lacks(copy, "nan");
  assert_lacks(copy, "inf");
  return copy;
}

static size_t count_of(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
    count++;
  }
  return count;
}

TEST(sizes_are_geometric) {
  const struct plot_point points[] = {{1024, 0.5}, {16384, 8}, {262144, 40}, {4194304, 55}};
  const struct plot_curve curve = {"pinned", points, 4, NULL};
  enum plot_scale scale = PLOT_LINEAR;
  SCOPED(memory_free) char *text = draw(&curve, 1, true, &scale);
  assert_int_equal(scale, PLOT_LOG);
  assert_contains(text, "role=\"img\"");
  assert_contains(text, "aria-labelledby=\"c1-title c1-text\"");
  assert_contains(text, "<title id=\"c1-title\">up &amp; &lt;down&gt;: GB/s over size</title>");
  assert_contains(text, "1 curve from 1KiB to 4MiB, values from 0.5000 to 55.00 GB/s");
  assert_contains(text, "<title>pinned, 16KiB: 8.000 GB/s</title>");
  assert_contains(text, ">64KiB</text>");
  assert_int_equal(count_of(text, "<circle"), 4);
}

/* A name that does not fit between its line and the next would stand above another segment. */
TEST(marks_name_what_is_behind_them) {
  const struct plot_point points[] = {{0, 1}, {5, 2}, {10, 1}};
  const struct plot_mark marks[] = {
      {"driver 590.1", 3.5}, {"driver 580.2", 7.5}, {"driver 570.3", 8}, {"driver 560.4", 9.5}};
  const struct plot_curve curve = {"", points, COUNT_OF(points), NULL};
  const struct plot plot = {.x_name = "runs",
                            .y_name = "GB/s",
                            .curves = &curve,
                            .curve_count = 1,
                            .marks = marks,
                            .mark_count = COUNT_OF(marks)};
  SCOPED(strbuf_fini) struct strbuf text;
  strbuf_init(&text, SVG_MAX);
  plot_svg(&plot, PLOT_LINEAR, "c1", &text);
  assert_markup(text.text);
  assert_contains(text.text, "y=\"11\">driver 590.1</text>");
  assert_contains(text.text, "y=\"11\">driver 560.4</text>");
  assert_contains(text.text, "<title>driver 580.2</title>");
  assert_int_equal(count_of(text.text, "driver 580.2"), 1);
  assert_int_equal(count_of(text.text, "driver 570.3"), 2);
}

TEST(steps_are_linear) {
  const struct plot_point threads[] = {{1, 10}, {2, 20}, {3, 30}, {4, 40}};
  const struct plot_point doubled[] = {{1, 10}, {2, 20}, {4, 30}, {8, 40}};
  const struct plot_point footprints[] = {{32768, 17}, {65536, 17}, {98304, 17}, {131072, 139}};
  struct plot_curve curve = {"", threads, 4, NULL};
  enum plot_scale scale = PLOT_LOG;
  free(draw(&curve, 1, false, &scale));
  assert_int_equal(scale, PLOT_LINEAR);
  curve.points = doubled;
  free(draw(&curve, 1, false, &scale));
  assert_int_equal(scale, PLOT_SEMILOG); /* the values are within a factor of twenty */
  curve.points = footprints;
  free(draw(&curve, 1, true, &scale));
  assert_int_equal(scale, PLOT_LINEAR);
}

TEST(values_that_cannot_be_placed_are_left_out) {
  const struct plot_point points[] = {{1, NAN}, {2, 5}, {INFINITY, 6}, {4, -INFINITY}, {8, 7}};
  const struct plot_point none[] = {{1, NAN}, {NAN, 1}};
  const struct plot_curve curves[] = {{"a", points, 5, NULL}, {"b", none, 2, NULL}};
  enum plot_scale scale;
  char *text = draw(curves, 2, false, &scale);
  assert_int_equal(count_of(text, "<circle"), 2);
  assert_contains(text, ">a</text>");
  assert_lacks(text, ">b</text>"); /* it has no end to stand at */
  free(text);
  text = draw(&curves[1], 1, false, &scale);
  assert_string_equal(text, "<p class=\"note\">nothing to draw</p>\n");
  free(text);
  text = draw(NULL, 0, false, &scale);
  assert_contains(text, "nothing to draw");
  free(text);
}

TEST(one_point_and_equal_values_have_axes) {
  const struct plot_point same[] = {{1024, 50}, {2048, 50}, {4096, 50}};
  const struct plot_point zero[] = {{0, 0}, {0, 0}};
  struct plot_curve curve = {"same", same, 1, NULL};
  enum plot_scale scale;
  char *text = draw(&curve, 1, true, &scale);
  assert_int_equal(count_of(text, "<circle"), 1);
  free(text);
  curve.count = 3;
  text = draw(&curve, 1, true, &scale);
  assert_int_equal(scale, PLOT_SEMILOG);
  assert_int_equal(count_of(text, "<circle"), 3);
  free(text);
  curve.points = zero;
  curve.count = 2;
  free(draw(&curve, 1, true, &scale));
  assert_int_equal(scale, PLOT_LINEAR);
}

TEST(names_are_escaped_and_cut) {
  const struct plot_point points[] = {{1, 1}, {2, 2}, {3, 3}};
  const struct plot_curve curves[] = {
      {"<b>&\"", points, 3, NULL},
      {"µ23456789012345678901234567890123456789_end of the name", points, 3, NULL},
  };
  enum plot_scale scale;
  SCOPED(memory_free) char *text = draw(curves, 2, false, &scale);
  assert_contains(text, ">&lt;b&gt;&amp;&quot;</text>");
  assert_contains(text, "_end of the name</title>µ23456789012345678901234567890123456789_…</text>");
}

TEST(labels_do_not_lie_over_each_other) {
  enum { CURVES = 60 };
  const struct plot_point points[] = {{1, 10}, {2, 20}, {3, 30}};
  struct plot_curve curves[CURVES];
  char names[CURVES][16];
  enum plot_scale scale;
  for (size_t i = 0; i < CURVES; i++) {
    (void)snprintf(names[i], sizeof names[i], "curve %zu", i);
    curves[i] = (struct plot_curve){names[i], points, 3, NULL}; /* all end at one place */
  }
  SCOPED(memory_free) char *text = draw(curves, CURVES, false, &scale);
  double last = 0;
  double height = 0;
  size_t labels = 0;
  assert_int_equal(sscanf(strstr(text, "viewBox=\"0 0 "), "viewBox=\"0 0 %*d %lf", &height), 1);
  for (const char *at = strstr(text, "class=\"label"); at != NULL;
       at = strstr(at + 1, "class=\"label")) {
    double y = 0;
    assert_int_equal(sscanf(strstr(at, " y=\""), " y=\"%lf", &y), 1);
    assert_true(labels == 0 || y - last >= 14.9);
    assert_true(y > 0 && y < height);
    last = y;
    labels++;
  }
  assert_int_equal(labels, PLOT_CURVES_MAX);
  assert_contains(text, "8 more curves are not drawn");
  assert_contains(text, "line c0 d1"); /* the ninth: dashes tell it from the first */
}

/* Of an SVG alone nothing beyond its width is seen. */
TEST(titles_of_pictures_are_as_wide_as_the_picture) {
  const struct plot_point points[] = {{1, 10}, {2, 20}};
  const struct plot_curve curve = {"a", points, 2, NULL};
  const struct plot plot = {
      .title = "Unified memory: the bandwidth of pages that migrate because they are written: from "
               "gpu0 to numa0",
      .x_name = "size",
      .y_name = "GB/s",
      .curves = &curve,
      .curve_count = 1};
  struct plot_picture picture;
  SCOPED(strbuf_fini) struct strbuf text;
  strbuf_init(&text, SVG_MAX);
  plot_picture_begin(&picture, &text);
  plot_picture_add(&picture, &plot, PLOT_LINEAR);
  plot_picture_end(&picture);
  assert_markup(text.text);
  assert_contains(text.text, ">Unified memory: the bandwidth of pages that migrate because they "
                             "are written:</text>");
  assert_contains(text.text, ">from gpu0 to numa0</text>");
}
