#include "runner/record/saved.h"

#include "engine/base/globs.h"
#include "engine/base/strbuf.h"
#include "schema/results/results_sql.h"
#include "schema/scenario/nearest.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(parameter_type, PARAMETER_TYPE_LIST)

#define QUERY_FOLDER "queries/"
enum {
  SHOWS_MAX = 4096,
  QUERY_PARAMETERS_MAX = 16,
  QUERY_PLOTS_MAX = 4,
  QUERY_COLUMNS_MAX = 64,
};

static const char PLOT_HEAD[] = "plot: ";
static const char ABOUT_HEAD[] = "about: ";
static const char OF_HEAD[] = "of: ";
static const char NARROW_HEAD[] = "narrow: ";
static const char JSON_HEAD[] = "json: ";
static const char EMPTY_HEAD[] = "empty: ";
static const char COLUMNS_HEAD[] = "columns: ";
static const char COLUMN_HEAD[] = "column ";

static bool saved_query_is(const struct embedded_file *file) {
  return strncmp(file->name, QUERY_FOLDER, strlen(QUERY_FOLDER)) == 0;
}

static const struct embedded_file *saved_query_file(size_t i) {
  for (size_t file = 0; file < results_sql_count; file++) {
    if (saved_query_is(&results_sql[file]) && i-- == 0) {
      return &results_sql[file];
    }
  }
  abort(); /* i is past saved_query_count() */
}

static const char *saved_query_name(const struct embedded_file *file, struct arena *arena) {
  const char *name = file->name + strlen(QUERY_FOLDER);
  return arena_strndup(arena, name, strlen(name) - strlen(".sql"));
}

/* ":run (run, default latest) the run to show". A test parses all of them. */
static struct saved_parameter saved_query_parse_parameter(const char *line, struct arena *arena) {
  struct saved_parameter parameter = {.type = PARAMETER_TEXT};
  size_t name = strcspn(line, " ");
  parameter.name = arena_strndup(arena, line, name);
  const char *open = strstr(line, " (");
  const char *close = open != NULL ? strchr(open, ')') : NULL;
  if (close == NULL) {
    return parameter;
  }
  const char *type = open + 2;
  size_t length = strcspn(type, ",)");
  (void)parameter_type_parse(arena_strndup(arena, type, length), &parameter.type);
  const char *standard = strstr(type, ", default ");
  if (standard != NULL && standard < close) {
    standard += strlen(", default ");
    parameter.standard = arena_strndup(arena, standard, (size_t)(close - standard));
  }
  parameter.help = arena_strdup(arena, close[1] == ' ' ? close + 2 : close + 1);
  return parameter;
}

/* "x=blocks y=gbps"; a test parses all of them. */
static void saved_query_parse_plot(const char *line, struct arena *arena, struct saved_plot *plot) {
  static const struct {
    const char *name;
    size_t offset;
  } KEYS[] = {
#define SAVED_PLOT_KEY(name) {#name, offsetof(struct saved_plot, name)},
      SAVED_PLOT_LIST(SAVED_PLOT_KEY)
#undef SAVED_PLOT_KEY
  };
  for (const char *at = line + strspn(line, " "); *at != '\0'; at += strspn(at, " ")) {
    const size_t length = strcspn(at, " ");
    const size_t key = strcspn(at, "=");
    for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
      if (key < length && strlen(KEYS[i].name) == key && strncmp(KEYS[i].name, at, key) == 0) {
        *(const char **)((char *)plot + KEYS[i].offset) =
            arena_strndup(arena, at + key + 1, length - key - 1);
      }
    }
    at += length;
  }
}

/* "gbps_low, gbps_high: what they are"; a test parses all of them. */
static struct saved_column saved_query_parse_column(const char *line, struct arena *arena) {
  const char *colon = strstr(line, ": ");
  return colon == NULL ? (struct saved_column){line, ""}
                       : (struct saved_column){arena_strndup(arena, line, (size_t)(colon - line)),
                                               colon + strlen(": ")};
}

/* The text of the comment line at *at, and *at moved past it; NULL when it is no comment. */
static char *saved_query_next_comment(const char **at, struct arena *arena) {
  if (strncmp(*at, "--", 2) != 0) {
    return NULL;
  }
  const char *text = *at + ((*at)[2] == ' ' ? 3 : 2);
  size_t length = strcspn(text, "\n");
  *at = text + length + (text[length] == '\n' ? 1 : 0);
  return arena_strndup(arena, text, length);
}

static void saved_query_describe(const struct embedded_file *file, struct arena *arena,
                                 struct saved_query *query) {
  const char *at = (const char *)file->data;
  struct saved_parameter *parameters = arena_array(arena, QUERY_PARAMETERS_MAX, sizeof *parameters);
  struct saved_plot *plots = arena_array(arena, QUERY_PLOTS_MAX, sizeof *plots);
  struct saved_column *columns = arena_array(arena, QUERY_COLUMNS_MAX, sizeof *columns);
  SCOPED(strbuf_fini) struct strbuf shows = STRBUF(SHOWS_MAX);
  *query = (struct saved_query){.name = saved_query_name(file, arena),
                                .parameters = parameters,
                                .plots = plots,
                                .columns = columns,
                                .sql = at};
  for (char *line = saved_query_next_comment(&at, arena); line != NULL;
       line = saved_query_next_comment(&at, arena)) {
    if (query->title == NULL) {
      query->title = line;
    } else if (line[0] == ':' && query->parameter_count < QUERY_PARAMETERS_MAX) {
      parameters[query->parameter_count++] = saved_query_parse_parameter(line, arena);
    } else if (strncmp(line, ABOUT_HEAD, strlen(ABOUT_HEAD)) == 0) {
      query->about = line + strlen(ABOUT_HEAD);
    } else if (strncmp(line, OF_HEAD, strlen(OF_HEAD)) == 0) {
      query->of = line + strlen(OF_HEAD);
    } else if (strncmp(line, JSON_HEAD, strlen(JSON_HEAD)) == 0) {
      query->json = line + strlen(JSON_HEAD);
    } else if (strncmp(line, EMPTY_HEAD, strlen(EMPTY_HEAD)) == 0) {
      query->empty = line + strlen(EMPTY_HEAD);
    } else if (strncmp(line, PLOT_HEAD, strlen(PLOT_HEAD)) == 0 &&
               query->plot_count < QUERY_PLOTS_MAX) {
      saved_query_parse_plot(line + strlen(PLOT_HEAD), arena, &plots[query->plot_count++]);
    } else if (strncmp(line, NARROW_HEAD, strlen(NARROW_HEAD)) == 0) {
      const char *narrow = line + strlen(NARROW_HEAD);
      query->narrow =
          query->narrow == NULL ? narrow : arena_format(arena, "%s,%s", query->narrow, narrow);
    } else if (strncmp(line, COLUMNS_HEAD, strlen(COLUMNS_HEAD)) == 0) {
      query->columns_of = line + strlen(COLUMNS_HEAD);
    } else if (strncmp(line, COLUMN_HEAD, strlen(COLUMN_HEAD)) == 0 &&
               query->column_count < QUERY_COLUMNS_MAX) {
      columns[query->column_count++] = saved_query_parse_column(line + strlen(COLUMN_HEAD), arena);
    } else if (line[0] == ' ' && query->plot_count > 0) {
      saved_query_parse_plot(line, arena, &plots[query->plot_count - 1]);
    } else if (line[0] == ' ' && query->column_count > 0) {
      struct saved_column *column = &columns[query->column_count - 1];
      column->meaning = arena_format(arena, "%s%s", column->meaning, line + 1);
    } else if (line[0] != '\0') {
      strbuf_printf(&shows, "%s%s", shows.length > 0 ? " " : "", line);
    }
  }
  query->shows = arena_strdup(arena, shows.text);
}

size_t saved_query_count(void) {
  return SUM_OF(file, results_sql_count, saved_query_is(&results_sql[file]));
}

void saved_query_at(size_t i, struct arena *arena, struct saved_query *query) {
  saved_query_describe(saved_query_file(i), arena, query);
}

bool saved_query_is_of(const struct saved_query *query, const char *scenario) {
  return query->of != NULL && globs_match(query->of, scenario);
}

const struct saved_parameter *saved_query_parameter(const struct saved_query *query,
                                                    const char *name) {
  const size_t count = query->parameter_count;
  const size_t i = FIRST_OF(k, count, strcmp(query->parameters[k].name + 1, name + 1) == 0);
  return i < count ? &query->parameters[i] : NULL;
}

enum status saved_query_find(const char *name, struct arena *arena, struct saved_query *query,
                             struct error *err) {
  struct nearest nearest = nearest_start(name);
  for (size_t i = 0; i < saved_query_count(); i++) {
    const struct embedded_file *file = saved_query_file(i);
    const char *candidate = saved_query_name(file, arena);
    if (strcmp(candidate, name) == 0) {
      saved_query_describe(file, arena, query);
      return STATUS_OK;
    }
    nearest_offer(&nearest, candidate);
  }
  const bool close = nearest.word != NULL;
  return error_set(err, STATUS_NOT_FOUND,
                   "there is no saved query \"%s\"%s%s%s: haul list queries lists all %zu", name,
                   close ? " (did you mean \"" : "", close ? nearest.word : "", close ? "\"?)" : "",
                   saved_query_count());
}
