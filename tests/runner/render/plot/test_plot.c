#include "runner/render/plot/plot.h"

#include "runner/render/plot/curves.h"
#include "tests/runner/table/markup.h"

#include <math.h>

/* ---- axes ---- */

static void assert_ticks(const struct plot_axis *axis, const char *expected) {
  char text[1024] = "";
  for (size_t i = 0; i < axis->tick_count; i++) {
    assert_true(axis->ticks[i].at > -1e-6 && axis->ticks[i].at < 1 + 1e-6);
    assert_true(i == 0 || axis->ticks[i].at > axis->ticks[i - 1].at);
    (void)strncat(text, i > 0 ? " " : "", sizeof text - strlen(text) - 1);
    (void)strncat(text, axis->ticks[i].text, sizeof text - strlen(text) - 1);
  }
  assert_string_equal(text, expected);
}

TEST(sizes_are_powers_of_two) {
  struct plot_axis axis;
  axis_init(&axis, 1024, 0x1p34, true, true, false, 8);
  assert_ticks(&axis, "1KiB 8KiB 64KiB 512KiB 4MiB 32MiB 256MiB 2GiB 16GiB");
  assert_true(fabs(axis_place(&axis, 0x1p22) - 0.5) < 1e-9);
  axis_init(&axis, 0x1p16, 0x1p25, true, true, false, 7);
  assert_ticks(&axis, "64KiB 256KiB 1MiB 4MiB 32MiB");
  axis_init(&axis, 0, 0x1p20, false, true, false, 4);
  assert_ticks(&axis, "0 256KiB 512KiB 768KiB 1MiB");
}

TEST(rates_are_powers_of_ten) {
  struct plot_axis axis;
  axis_init(&axis, 0.44, 54.7, true, false, true, 5);
  assert_ticks(&axis, "1 10 100");
  assert_true(fabs(axis.low - 0.2) < 1e-9 && fabs(axis.high - 100) < 1e-9);
  axis_init(&axis, 21, 48, true, false, true, 5);
  assert_ticks(&axis, "20 50");
}

TEST(linear_axes_hold_zero) {
  struct plot_axis axis;
  axis_init(&axis, 3, 48, false, false, true, 5);
  assert_ticks(&axis, "0 10 20 30 40 50");
  axis_init(&axis, -3, 48, true, false, true, 5);
  assert_false(axis.logarithmic);
  assert_ticks(&axis, "-20 0 20 40 60");
  axis_init(&axis, 0, 0, true, true, true, 3);
  assert_true(axis.high > axis.low);
}

/* Whatever the values, an axis is finite, has no more ticks than fit, and places its ends. */
TEST(any_extent_has_an_axis) {
  const double values[] = {0, 1, 1e-9, 1e-300, 1e300, 1023, 1024, 5e5, 1e18, -4};
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    for (size_t j = 0; j < COUNT_OF(values); j++) {
      for (unsigned flags = 0; flags < 8; flags++) {
        struct plot_axis axis;
        if (values[i] > values[j]) {
          continue;
        }
        axis_init(&axis, values[i], values[j], (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0,
                  5);
        assert_true(axis.high > axis.low);
        assert_true(axis.tick_count <= AXIS_TICKS_MAX);
        assert_true(axis_place(&axis, values[i]) > -1e-6);
        assert_true(axis_place(&axis, values[j]) < 1 + 1e-6);
      }
    }
  }
}

/* ---- drawings ---- */

static const struct plot_point UP[] = {{1024, 1}, {32768, 10}, {1048576, 100}};
static const struct plot_point FLAT[] = {{1024, 10}, {1048576, 10}};
static const struct plot_curve CURVES[] = {{"up", UP, 3, NULL}, {"flat", FLAT, 2, NULL}};

static struct strbuf draw(struct plot plot, struct plot_style style) {
  struct strbuf text;
  strbuf_init(&text, 1 << 20);
  plot_draw(&plot, &style, &text);
  return text;
}

static struct plot two_curves(void) {
  return (struct plot){.title = "sweep",
                       .x_name = "size",
                       .y_name = "GB/s",
                       .x_bytes = true,
                       .curves = CURVES,
                       .curve_count = 2};
}

TEST(a_curve_that_others_hide_has_a_point_or_is_said) {
  struct plot_curve curves[] = {CURVES[0], CURVES[0]};
  struct plot plot = two_curves();
  plot.curves = curves;
  SCOPED(strbuf_fini)
  struct strbuf shared = draw(plot, (struct plot_style){.width = 40, .height = 9});
  assert_contains(shared.text, "\n  a  up\n  b  up\n"); /* a point for each */
  assert_contains(shared.text, "+a...");
  curves[0].count = curves[1].count = 1;
  SCOPED(strbuf_fini)
  struct strbuf text = draw(plot, (struct plot_style){.width = 40, .height = 9});
  assert_contains(text.text, "\n  a  up (behind others)\n  b  up\n");
}

TEST(a_plot_is_drawn) {
  SCOPED(strbuf_fini)
  struct strbuf text = draw(two_curves(), (struct plot_style){.width = 40, .height = 9});
  assert_string_equal(text.text, "sweep\n"
                                 "GB/s\n"
                                 " 100 +                              ...a\n"
                                 "     |                          .....\n"
                                 "     |                      .....\n"
                                 "     |                  .....\n"
                                 "  10 +b...............a................b\n"
                                 "     |           .....\n"
                                 "     |       .....\n"
                                 "     |   .....\n"
                                 "   1 +a...\n"
                                 "     ++------------+-------------------+\n"
                                 "    1KiB         16KiB              1MiB\n"
                                 "                                    size\n"
                                 "  a  up\n"
                                 "  b  flat\n");
}

TEST(braille_lines_are_finer) {
  SCOPED(strbuf_fini)
  struct strbuf text = draw(
      two_curves(), (struct plot_style){.width = 60, .height = 9, .unicode = true, .colour = true});
  assert_contains(text.text, "┤");
  assert_contains(text.text, "└");
  assert_contains(text.text, "\xe2\xa0"); /* Braille begins with these two bytes */
  assert_contains(text.text, "\033[31ma\033[0m  up\n");
  assert_contains(text.text, "\033[32mb\033[0m  flat\n");
}

/* No line is wider than asked for, and none ends in blanks. */
TEST(lines_fit) {
  for (unsigned width = PLOT_WIDTH_MIN; width < 130; width += 13) {
    SCOPED(strbuf_fini)
    struct strbuf text = draw(two_curves(), (struct plot_style){.width = width});
    size_t lines = 0;
    for (char *line = text.text; *line != '\0'; lines++) {
      const size_t length = strcspn(line, "\n");
      assert_true(length <= width);
      assert_true(length == 0 || line[length - 1] != ' ');
      line += length + 1;
    }
    assert_true(lines > PLOT_HEIGHT_DEFAULT);
  }
}

TEST(what_has_no_place_is_left_out) {
  const struct plot_point odd[] = {{NAN, 1}, {1, INFINITY}};
  const struct plot_curve curve = {"odd\033[2J", odd, 2, NULL};
  struct plot plot = {.title = "", .x_name = "n", .y_name = "", .curves = &curve, .curve_count = 1};
  struct strbuf text = draw(plot, (struct plot_style){.width = 40});
  assert_string_equal(text.text, "nothing to draw\n");
  strbuf_fini(&text);

  const struct plot_point one[] = {{3, -2}};
  const struct plot_curve single = {"one\033[2J", one, 1, NULL};
  plot.curves = &single;
  text = draw(plot, (struct plot_style){.width = 40});
  assert_contains(text.text, "a");
  assert_contains(text.text, "one\\u001b[2J");
  assert_null(strchr(text.text, '\033'));
  strbuf_fini(&text);
}

TEST(curves_without_a_letter_are_counted) {
  struct plot_curve many[PLOT_CURVES_MAX + 3];
  for (size_t i = 0; i < PLOT_CURVES_MAX + 3; i++) {
    many[i] = CURVES[0];
  }
  const struct plot plot = {
      .title = "", .x_name = "", .y_name = "", .curves = many, .curve_count = PLOT_CURVES_MAX + 3};
  SCOPED(strbuf_fini) struct strbuf text = draw(plot, (struct plot_style){.width = 40});
  assert_contains(text.text, "  Z  up\n  and 3 more that are not drawn\n");
}

/* ---- rows as curves ---- */

struct output {
  struct capture capture;
  struct curves *curves;
};

static void output_fini(struct output *output) {
  capture_fini(&output->capture);
}

/* Declares an output of rows with these columns. */
#define OUTPUT(columns)                                                                            \
  SCOPED(output_fini) struct output output;                                                        \
  start(&output, columns, COUNT_OF(columns))
static void start(struct output *output, const char *const *columns, size_t count) {
  struct error err = {0};
  capture_init(&output->capture);
  output->curves =
      curves_new(output->capture.stream, &(struct plot_style){.width = 50, .height = 5}, "none");
  assert_ok(sink_begin(curves_sink(output->curves), columns, count, &err), &err);
}

static void add(const struct output *output, const struct cell *cells) {
  struct error err = {0};
  const struct row_sink *sink = curves_sink(output->curves);
  assert_ok(sink_row(sink, cells, &err), &err);
  assert_false(sink_has_enough(sink));
}

static enum status finish(struct output *output, struct error *err) {
  const enum status status = sink_end(curves_sink(output->curves), err);
  curves_free(output->curves);
  (void)capture_text(&output->capture);
  return status;
}

TEST(text_before_x_names_the_curve) {
  static const char *const columns[] = {"block", "path", "size_bytes", "none", "gbps", "status"};
  OUTPUT(columns);
  for (int i = 0; i < 4; i++) {
    add(&output,
        (struct cell[]){cell_text(i % 2 == 0 ? "up" : "down"), cell_text("gpu0"),
                        cell_integer(1024 << i), cell_null(), cell_real(i + 1), cell_text("ok")});
  }
  assert_ok(finish(&output, err), err);
  assert_contains(output.capture.text, "GB/s\n");
  assert_contains(output.capture.text, "  a  up gpu0\n  b  down gpu0\n");
  assert_contains(output.capture.text, "1KiB");
  assert_contains(output.capture.text, " size\n");
  assert_null(strstr(output.capture.text, "ok"));
}

TEST(every_number_is_a_curve_without_names) {
  static const char *const columns[] = {"threads", "gbps_low", "gbps_high", "ns"};
  OUTPUT(columns);
  add(&output, (struct cell[]){cell_integer(1), cell_real(4), cell_real(5), cell_integer(7)});
  add(&output, (struct cell[]){cell_integer(2), cell_null(), cell_real(6), cell_integer(8)});
  assert_ok(finish(&output, err), err);
  assert_contains(output.capture.text, "  a  gbps_low\n  b  gbps_high\n  c  ns\n");
  assert_null(strstr(output.capture.text, "GB/s")); /* they have no unit in common */
  assert_contains(output.capture.text, " threads\n");
}

TEST(an_axis_says_its_unit) {
  static const char *const columns[] = {"path", "load_gbps", "ns"};
  OUTPUT(columns);
  add(&output, (struct cell[]){cell_text("gpu0"), cell_real(10), cell_integer(700)});
  add(&output, (struct cell[]){cell_text("gpu0"), cell_real(50), cell_integer(900)});
  assert_ok(finish(&output, err), err);
  assert_contains(output.capture.text, " load, GB/s\n");
}

TEST(plots_and_axes_have_columns) {
  static const char *const columns[] = {"plot", "curve", "axis", "x", "gbps", "ns"};
  OUTPUT(columns);
  for (int i = 1; i < 4; i++) {
    add(&output, (struct cell[]){cell_text("rates"), cell_text("c"), cell_text("size_bytes"),
                                 cell_integer(1024 * i), cell_real(i), cell_null()});
    add(&output, (struct cell[]){cell_text("times"), cell_text("c"), cell_text("host threads"),
                                 cell_integer(i), cell_null(), cell_real(i)});
  }
  assert_ok(finish(&output, err), err);
  const char *times = strstr(output.capture.text, "\n\ntimes\nns\n");
  assert_non_null(times);
  assert_int_equal(strncmp(output.capture.text, "rates\nGB/s\n", 11), 0);
  assert_contains(times, " host threads\n");
  assert_null(strstr(times, "KiB"));
}

/* What a second line says of a plot counts for that plot. */
TEST(plots_of_two_lines_are_read_whole) {
  struct saved_query saved;
  SCOPED(arena_fini) struct arena arena = {0};
  assert_ok(saved_query_find("stream", &arena, &saved, err), err);
  assert_int_equal(saved.plot_count, 2);
  assert_string_equal(saved.plots[0].x, "threads");
  assert_string_equal(saved.plots[1].x, "elements");
  for (size_t i = 0; i < saved.plot_count; i++) {
    assert_string_equal(saved.plots[i].peak, "peak_gbps");
    assert_string_equal(saved.plots[i].scale, "semilog");
  }
}

/* A saved query draws what it says, in the order of x, with error bars and the peak. */
TEST(saved_query_says_what_is_drawn) {
  static const char *const columns[] = {"gpu",       "blocks",          "gbps",  "low", "high",
                                        "peak_gbps", "percent_of_peak", "remark"};
  struct saved_query saved;
  SCOPED(arena_fini) struct arena arena = {0};
  assert_ok(saved_query_find("grid-sweep", &arena, &saved, err), err);
  OUTPUT(columns);
  curves_draw_as(output.curves, &saved);
  for (int i = 0; i < 3; i++) {
    add(&output,
        (struct cell[]){cell_text("gpu0"), cell_integer(100 >> i), cell_real(40), cell_real(10),
                        cell_real(80), cell_real(100), cell_real(40), cell_null()});
  }
  assert_ok(finish(&output, err), err);
  assert_string_equal(output.capture.text, "GB/s\n"
                                           " 100 +............................................\n"
                                           "     |:                    :                     :\n"
                                           "  50 +a....................a.....................a\n"
                                           "     |:                    :                     :\n"
                                           "   0 +:                    :                     :\n"
                                           "     +---------------------+---------------------+\n"
                                           "                          50                   100\n"
                                           "                                            blocks\n"
                                           "  a  gpu0\n"
                                           "  .  theoretical peak 100 GB/s\n");
  output_fini(&output);

  /* Nothing but the peak is known: it is not drawn as if measured. */
  start(&output, columns, COUNT_OF(columns));
  curves_draw_as(output.curves, &saved);
  add(&output,
      (struct cell[]){cell_text("gpu0"), cell_integer(1), cell_null(), cell_null(), cell_null(),
                      cell_real(4800), cell_null(), cell_text("failed: out of memory")});
  assert_ok(finish(&output, err), err);
  assert_string_equal(output.capture.text,
                      "nothing to draw: no row of 1 has a number; the first: failed: "
                      "out of memory\n");
}

/* Of other SQL, too: low and high are no curves, the peak is a line. */
TEST(ends_and_peaks_are_no_curves) {
  static const char *const columns[] = {"n", "gbps", "gbps_low", "gbps_high", "peak_gbps", "ns"};
  OUTPUT(columns);
  for (int i = 1; i < 4; i++) {
    add(&output, (struct cell[]){cell_integer(i), cell_real(i), cell_real(i - 0.5),
                                 cell_real(i + 0.5), cell_real(9), cell_real(7)});
  }
  assert_ok(finish(&output, err), err);
  assert_contains(output.capture.text, "  a  gbps\n  b  ns\n  .  theoretical peak 9 ");
  assert_null(strstr(output.capture.text, "low"));
}

TEST(a_picture_stands_alone) {
  static const char *const columns[] = {"plot", "curve", "n", "gbps", "low", "high"};
  OUTPUT(columns);
  curves_as_picture(output.curves);
  for (int i = 0; i < 6; i++) {
    add(&output, (struct cell[]){cell_text(i % 2 == 0 ? "a & b" : "c"), cell_text("k"),
                                 cell_integer(i), cell_real(10 + i), cell_real(5), cell_real(20)});
  }
  assert_ok(finish(&output, err), err);
  assert_markup(output.capture.text);
  assert_contains(output.capture.text, "<style>");
  assert_contains(output.capture.text, "a &amp; b</text>");
  assert_contains(output.capture.text, "<path class=\"bar c0\" d=\"M");
  assert_lacks(output.capture.text, "var(");
  assert_lacks(output.capture.text, "nan");
  output_fini(&output);

  start(&output, columns, COUNT_OF(columns));
  curves_as_picture(output.curves);
  assert_int_equal(finish(&output, err), STATUS_NOT_FOUND);
}

TEST(what_is_no_curve_is_told) {
  static const char *const columns[] = {"name", "gbps"};
  OUTPUT(columns);
  assert_ok(finish(&output, err), err);
  assert_string_equal(output.capture.text, "none\n");
  output_fini(&output);

  start(&output, columns, COUNT_OF(columns));
  add(&output, (struct cell[]){cell_text("a"), cell_real(1)});
  assert_fails(finish(&output, err), STATUS_USAGE, err, "a column of numbers for x");
}

TEST(there_are_limits) {
  static const char *const columns[] = {"plot", "x", "y"};
  OUTPUT(columns);
  char name[16];
  for (int i = 0; i <= CURVES_PLOTS_MAX; i++) {
    (void)snprintf(name, sizeof name, "p%d", i);
    add(&output, (struct cell[]){cell_text(name), cell_integer(i), cell_integer(i)});
  }
  assert_int_equal(finish(&output, err), STATUS_UNSUPPORTED);
  output_fini(&output);

  start(&output, columns, COUNT_OF(columns));
  const struct cell cells[] = {cell_null(), cell_integer(1), cell_integer(1)};
  for (int i = 0; i < CURVES_ROWS_MAX; i++) {
    add(&output, cells);
  }
  assert_int_equal(sink_row(curves_sink(output.curves), cells, err), STATUS_UNSUPPORTED);
  curves_free(output.curves);
}
