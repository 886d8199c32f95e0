/* haul report OUT.html [RUN...]: results as one HTML page. */
#include "engine/base/strings.h"
#include "runner/cli/options.h"
#include "runner/console/output_file.h"
#include "runner/record/manage.h"
#include "runner/render/diff_format.h"
#include "runner/render/page/page.h"
#include "runner/report/report.h"
#include "runner/run/expectations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct report_options {
  const char *output; /* the first argument */
  const char *against, *baseline;
  bool site, fleet;
};

static const struct verb_option VERB_REPORT_OPTIONS[] = {
    {"against", "RUNS",
     "compare with these runs as haul diff does, for example tag:before or driver:VERSION",
     OPTION_TEXT(struct report_options, against)},
    EXPECT_OPTION,
    {"baseline", "NAME", "the same as --against baseline:NAME",
     OPTION_TEXT(struct report_options, baseline)},
    {"site", NULL,
     "write a site to the folder OUT: what changed on machines over the years, what drivers "
     "changed, machines by weeks or days, blocks; repeated, it writes only what is new",
     OPTION_FLAG(struct report_options, site)},
    {"fleet", NULL,
     "many nodes on one page: what to swap, who is missing, nodes by blocks, and what changed "
     "since the fleet before",
     OPTION_FLAG(struct report_options, fleet)},
    SUM_OPTION,
    {0}};

/* ---- the file, which replaces nothing but an earlier report ---- */

/* True for a report and for an empty file: these may be replaced. */
static bool report_file_is_report(const char *path) {
  char text[sizeof PAGE_FIRST_LINES];
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    return false;
  }
  const size_t length = fread(text, 1, sizeof text - 1, file);
  const bool whole = ferror(file) == 0;
  (void)fclose(file);
  return whole && (length == 0 ||
                   (length == sizeof text - 1 && memcmp(text, PAGE_FIRST_LINES, length) == 0));
}

static enum status report_file_check_folder(const char *path, struct error *err) {
  struct stat info;
  const char *slash = strrchr(path, '/');
  SCOPED(arena_fini) struct arena arena = {0};
  const char *folder =
      slash == NULL ? "." : arena_strndup(&arena, path, (size_t)(slash - path) + 1);
  if (stat(folder, &info) != 0) {
    return error_set_errno(err, errno, "cannot write %s: its folder %s", path, folder);
  }
  return S_ISDIR(info.st_mode) ? STATUS_OK
                               : error_set(err, STATUS_INVALID,
                                           "cannot write %s: %s is not a directory", path, folder);
}

/* Whether a report may be written there; "-" is standard output. */
static enum status report_file_check(const char *path, struct error *err) {
  struct stat info;
  if (strcmp(path, "-") == 0) {
    return STATUS_OK;
  }
  if (stat(path, &info) != 0) {
    return errno == ENOENT ? report_file_check_folder(path, err)
                           : error_set_errno(err, errno, "cannot write %s", path);
  }
  if (S_ISDIR(info.st_mode)) {
    return error_set(err, STATUS_INVALID,
                     "%s is a directory: name a file in it, such as %s/report.html", path, path);
  }
  if (!S_ISREG(info.st_mode)) {
    return error_set(err, STATUS_INVALID,
                     "%s is not a regular file and cannot be replaced; - writes to standard output",
                     path);
  }
  if (!report_file_is_report(path)) {
    return error_set(err, STATUS_INVALID,
                     "%s exists and is not a report of haul, the only kind of file that a report "
                     "replaces: move it away or choose another name",
                     path);
  }
  return STATUS_OK;
}

/* A page that is written to memory first: a later error cannot leave half of it behind, and the
 * cause of a failed write is known. */
struct report_file {
  FILE *page;
  char *text;
  size_t length;
};

static void report_file_begin(struct report_file *file) {
  *file = (struct report_file){NULL, NULL, 0};
  file->page = open_memstream(&file->text, &file->length);
  if (file->page == NULL) {
    abort();
  }
}

static enum status report_file_write(const char *output, const struct report_file *page,
                                     struct error *err) {
  const char *path = strcmp(output, "-") == 0 ? NULL : output;
  struct output_file file;
  enum status status = output_file_open(path, &file, err);
  RETURN_ON_ERROR(status);
  errno = 0;
  if ((fwrite(page->text, 1, page->length, file.stream) < page->length ||
       fflush(file.stream) != 0) &&
      errno != EPIPE) {
    status =
        error_set_errno(err, errno, "cannot write %s", path != NULL ? path : "to standard output");
  }
  return output_file_close(&file, status, err);
}

/* Writes it to that path if the status is STATUS_OK; else returns that. */
static enum status report_file_end(struct report_file *file, const char *path, enum status status,
                                   struct error *err) {
  if (fclose(file->page) != 0) {
    abort(); /* out of memory */
  }
  status = THEN(status, report_file_write(path, file, err));
  free(file->text);
  return status;
}

/* ---- what is in it ---- */

enum { SITE_MARK_MAX = 256 };

/* ---- the command line ---- */

static bool verb_report_names_a_page(const char *path) {
  static const char *const ENDS[] = {".html", ".htm", ".xhtml"};
  const size_t length = strlen(path);
  for (size_t i = 0; i < COUNT_OF(ENDS); i++) {
    const size_t end = strlen(ENDS[i]);
    if (length > end && strcmp(path + length - end, ENDS[i]) == 0) {
      return true;
    }
  }
  return strcmp(path, "-") == 0;
}

/* Makes the runs that are asked for the only words. */
static void verb_report_check(struct command *command, struct argp_state *state) {
  struct report_options *options = command->options;
  options->output = command->words[0];
  command->word_count--;
  memmove(command->words, command->words + 1, command->word_count * sizeof *command->words);
  OPTIONS_REFUSE(options->site && (command->word_count > 0 || options->fleet ||
                                   options->against != NULL || options->baseline != NULL),
                 state, "--site takes a folder and nothing else: it has all runs");
  if (command->word_count == 0 && !options->fleet) {
    *ARENA_ADD(&command->arena, command->words, command->word_count) = "latest";
  }
  OPTIONS_REFUSE(!options->site && !verb_report_names_a_page(options->output), state,
                 "the first argument is the file to write: it ends in .html, or is - for standard "
                 "output, not \"%s\"",
                 options->output);
  OPTIONS_REFUSE(options->against != NULL && options->baseline != NULL, state,
                 "give --against or --baseline, not both");
}

/* ---- runs ---- */

/* What --against and --baseline name; NULL = neither is given. */
static const char *verb_report_side_a(struct command *command) {
  const struct report_options *options = command->options;
  return options->baseline != NULL ? arena_format(&command->arena, "baseline:%s", options->baseline)
                                   : options->against;
}

static enum status verb_report_find_fleet(struct command *command, struct fleet_request *request,
                                          struct error *err) {
  struct database *database = query_database(request->query);
  struct run_list list = {NULL, 0};
  struct run_list before = {NULL, 0};
  request->before_name = verb_report_side_a(command);
  if (command->word_count > 0) {
    RETURN_ON_ERROR(
        selector_find_all(database, command_join_words(command), &command->arena, &list, err));
  }
  if (request->before_name != NULL && command->word_count == 0) {
    return error_set(err, STATUS_USAGE,
                     "name the runs of the fleet that is compared with %s, for example tag:NAME",
                     request->before_name);
  }
  if (command->word_count == 0) {
    RETURN_ON_ERROR(selector_find_fleet(database, false, &command->arena, &list, err));
    RETURN_ON_ERROR(selector_find_fleet(database, true, &command->arena, &before, err));
  }
  if (request->before_name != NULL) {
    RETURN_ON_ERROR(
        selector_find_all(database, request->before_name, &command->arena, &before, err));
  }
  request->runs = list.runs;
  request->run_count = list.count;
  request->before = before.runs;
  request->before_count = before.count;
  return STATUS_OK;
}

static enum status verb_report_find_runs(struct command *command, struct report_request *request,
                                         struct error *err) {
  struct run_list list;
  RETURN_ON_ERROR(selector_find_all(query_database(request->query), command_join_words(command),
                                    &command->arena, &list, err));
  if (list.count > REPORT_RUNS_MAX) {
    return error_set(err, STATUS_INVALID,
                     "more than %d runs are selected, the most that a report can hold",
                     REPORT_RUNS_MAX);
  }
  request->runs = list.runs;
  request->run_count = list.count;
  return STATUS_OK;
}

/* ---- the comparison ---- */

/* The runs of side A have a section each, too, unless that is too many. */
static void verb_report_add_side_a(struct command *command, struct report_request *request) {
  const struct results *results = request->compared->results;
  struct run_ref *runs =
      arena_array(&command->arena, request->run_count + results->run_count, sizeof *runs);
  size_t count = request->run_count;
  memcpy(runs, request->runs, count * sizeof *runs);
  for (size_t i = 0; i < results->run_count; i++) {
    const struct run_ref *run = &results->runs[i].ref;
    if (request->compared->sides[i] == SIDE_A && !ANY_OF(k, count, runs[k].id == run->id)) {
      runs[count++] = *run;
    }
  }
  if (count <= REPORT_RUNS_MAX) {
    request->runs = runs;
    request->run_count = count;
  }
}

/* Two runs are compared if they can be; runs that --against names must be comparable. */
static enum status verb_report_compare_sides(struct command *command, struct compare_result *result,
                                             struct report_request *request, struct error *err) {
  const struct report_options *options = command->options;
  struct compare_request *sides = &command->request;
  const bool asked = options->against != NULL || options->baseline != NULL;
  if (!asked && command->word_count != SIDES) {
    return STATUS_OK;
  }
  sides->name_count = SIDES;
  sides->names[SIDE_A] = asked ? verb_report_side_a(command) : command->words[0];
  sides->names[SIDE_B] = asked ? command_join_words(command) : command->words[1];
  enum status status = compare_runs(query_database(request->query), sides, result, err);
  const bool alike = status == STATUS_OK && diff_any_on_both(result->comparison);
  if (status == STATUS_OK && (alike || asked)) {
    request->compared = result;
    verb_report_add_side_a(command, request);
    return STATUS_OK;
  }
  if (asked || (status != STATUS_OK && status != STATUS_INVALID)) {
    return status;
  }
  say_warning(&command->common, "%s and %s were not compared: %s", sides->names[SIDE_A],
              sides->names[SIDE_B],
              status == STATUS_OK ? "no case was measured in both" : err->message);
  return STATUS_OK;
}

/* ---- the verb ---- */

/* Runs that are not complete are on the page as they were when it was written. */
static enum status verb_report_note_unended(struct command *command,
                                            const struct report_request *request,
                                            struct error *err) {
  struct run_list killed;
  RETURN_ON_ERROR(command_find_killed(command, query_database(request->query), &killed, err));
  for (size_t i = 0; i < request->run_count; i++) {
    struct run_to_delete found;
    size_t k = 0;
    while (k < killed.count && killed.runs[k].id != request->runs[i].id) {
      k++;
    }
    RETURN_ON_ERROR(run_to_delete_read(query_database(request->query), request->runs[i].id,
                                       &command->arena, &found, err));
    if (found.running) {
      say_note(&command->common, "run %lld has not ended (%s): %lld results so far",
               (long long)request->runs[i].id,
               k < killed.count ? "haul was killed, or measures it elsewhere with other locks"
                                : "it is being measured, or was killed",
               (long long)found.results);
    }
  }
  return STATUS_OK;
}

static enum status verb_report_run_fleet(struct command *command, struct error *err) {
  const struct report_options *options = command->options;
  struct fleet_request request = {.haul_version = HAUL_VERSION};
  RETURN_ON_ERROR(report_file_check(options->output, err));
  RETURN_ON_ERROR(command_open_query(command, err));
  request.query = command->query;
  RETURN_ON_ERROR(verb_report_find_fleet(command, &request, err));
  struct report_file file;
  report_file_begin(&file);
  RETURN_ON_ERROR(
      report_file_end(&file, options->output, fleet_report_print(&request, file.page, err), err));
  if (strcmp(options->output, "-") != 0) {
    say_note(&command->common, "wrote %s", options->output);
  }
  return STATUS_OK;
}

/* ---- a site ---- */

static const char SITE_INDEX[] = "index.html";

static const char *verb_report_site_path(struct command *command, const char *name) {
  const struct report_options *options = command->options;
  return arena_format(&command->arena, "%s/%s", options->output, name);
}

/* Whether the file is there, of the same results: it ends with its mark. */
static bool verb_report_is_current(struct command *command, const struct site_file *file) {
  char tail[SITE_MARK_MAX] = "";
  const char *end = arena_format(&command->arena, "<!-- %s -->\n", file->mark);
  const size_t length = strlen(end);
  FILE *page = fopen(verb_report_site_path(command, file->name), "re");
  if (page == NULL) {
    return false;
  }
  const bool read = length < sizeof tail && fseek(page, -(long)length, SEEK_END) == 0 &&
                    fread(tail, 1, length, page) == length;
  (void)fclose(page);
  return read && strcmp(tail, end) == 0;
}

/* file: NULL = the index. */
static enum status verb_report_write_site_page(struct command *command, struct site *site,
                                               struct site_file *file,
                                               const struct expect_set *expected,
                                               struct error *err) {
  const char *path = verb_report_site_path(command, file != NULL ? file->name : SITE_INDEX);
  struct report_file out;
  RETURN_ON_ERROR(report_file_check(path, err));
  report_file_begin(&out);
  const enum status made = file != NULL ? site_print_file(site, file, expected, out.page, err)
                                        : site_print_index(site, out.page, err);
  const enum status status = report_file_end(&out, path, made, err);
  if (file != NULL && (made == STATUS_INVALID || made == STATUS_NOT_FOUND)) {
    say_warning(&command->common, "%s was not written: %s", path, err->message);
    file->left_out = true;
    return STATUS_OK;
  }
  return status;
}

static enum status verb_report_run_site(struct command *command, const struct expect_set *expected,
                                        struct error *err) {
  const struct report_options *options = command->options;
  struct site *site = NULL;
  struct stat info;
  size_t count = 0;
  size_t written = 1;
  RETURN_ON_ERROR(command_open_query(command, err));
  RETURN_ON_ERROR(site_new(command->query, HAUL_VERSION,
                           console_db_option(&command->common, &command->arena), &site, err));
  struct site_file *files = site_files(site, &count);
  enum status status = STATUS_OK;
  if (mkdir(options->output, 0777) != 0 && errno != EEXIST) {
    status = error_set_errno(err, errno, "cannot make the folder %s", options->output);
  } else if (stat(options->output, &info) != 0 || !S_ISDIR(info.st_mode)) {
    status = error_set(err, STATUS_INVALID, "%s is a file; --site takes a folder", options->output);
  }
  /* Before any page is written beside what is there. */
  status = THEN(status, report_file_check(verb_report_site_path(command, SITE_INDEX), err));
  for (size_t i = 0; i < count && status == STATUS_OK; i++) {
    if (!verb_report_is_current(command, &files[i])) {
      status = verb_report_write_site_page(command, site, &files[i], expected, err);
      written += !files[i].left_out;
    }
  }
  status = THEN(status, verb_report_write_site_page(command, site, NULL, expected, err));
  if (status == STATUS_OK) {
    say_note(&command->common, "wrote %s (%zu %s of %zu)",
             verb_report_site_path(command, SITE_INDEX), written,
             strings_plural(written, "page", "pages"), count + 1);
  }
  site_free(site);
  return status;
}

static enum status verb_report_run(struct command *command, struct error *err) {
  const struct report_options *options = command->options;
  if (options->fleet) {
    return verb_report_run_fleet(command, err);
  }
  SCOPED(compare_result_fini) struct compare_result result = {0};
  SCOPED(expectations_fini) struct expectations expectations = {0};
  struct report_request request = {.flows = command->common.verbose,
                                   .sums = command->sums,
                                   .expected = &expectations.set,
                                   .haul_version = HAUL_VERSION,
                                   .db_option =
                                       console_db_option(&command->common, &command->arena),
                                   .sides = &command->request};
  (void)expectations_open(&expectations, &command->common, command->expect);
  if (options->site) {
    return verb_report_run_site(command, &expectations.set, err);
  }
  enum status status = report_file_check(options->output, err);
  status = THEN(status, command_open_query(command, err));
  if (status == STATUS_OK) {
    request.query = command->query;
    status = verb_report_find_runs(command, &request, err);
  }
  status = THEN(status, verb_report_compare_sides(command, &result, &request, err));
  if (status == STATUS_OK) {
    struct report_file file;
    report_file_begin(&file);
    status = report_file_end(&file, options->output, report_print(&request, file.page, err), err);
  }
  status = THEN(status, verb_report_note_unended(command, &request, err));
  if (status == STATUS_OK && strcmp(options->output, "-") != 0) {
    say_note(&command->common, "wrote %s (%s%zu %s)", options->output,
             request.compared != NULL ? "a comparison and " : "", request.run_count,
             strings_plural(request.run_count, "run", "runs"));
  }
  return status;
}

const struct verb VERB_REPORT = {
    .name = "report",
    .group = VERBS_READ,
    .arguments = "OUT.html [RUN...]",
    .summary = "write results as one HTML page, to attach or print",
    .doc =
        "RUN selects runs: run:ID, tag:NAME, driver:VERSION, baseline:NAME, latest or previous. A "
        "tag or driver selects all of its runs; the default is latest. Each run has a section with "
        "its answer, the state of the machine, the results, and the reasons of missing results. If "
        "two RUN are given, the second is compared with the first as haul diff does. --against and "
        "--baseline compare all RUN with other runs, which have sections too.\n\n"
        "--fleet puts many nodes on one page, by default the fleet that was measured last: slow "
        "GPUs, links and nodes with UUID and PCI address, missing nodes, nodes by blocks, and the "
        "changes since the fleet before.\n\n"
        "--site makes OUT a folder with index.html: years of results at a glance, with pages of "
        "the latest runs and of each driver. When it is repeated, it writes the pages that are new "
        "or whose runs have new results.\n\n"
        "The page needs no network. It is complete without its script, which sorts and filters "
        "tables. It replaces only an earlier report; - writes to standard output. -v adds the "
        "flows of cases that have several. A block shows at most 1000 cases, and the page tells "
        "how to get the others.",
    .options = VERB_REPORT_OPTIONS,
    .options_size = sizeof(struct report_options),
    .argument_kind = ARGUMENTS_RUNS,
    .word_max = SIZE_MAX,
    .missing = "argument: OUT.html, - for standard output, or with --site a folder",
    .check = verb_report_check,
    .run = verb_report_run,
};
