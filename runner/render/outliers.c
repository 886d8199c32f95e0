#include "runner/render/outliers.h"

#include "engine/base/strings.h"
#include "engine/base/units.h"
#include "runner/document/document.h"
#include "runner/table/json_shape.h"
#include "runner/table/text.h"

#include <math.h>
#include <string.h>

enum { PATHS_SHOWN = 4, BLOCKS_SHOWN = 2 };

/* The role in which it is slow. */
static const char *outliers_role_words(const struct outlier *row) {
  static const char *const WORDS[] = {[ROLE_NONE] = NULL,
                                      [ROLE_SOURCE] = "as source",
                                      [ROLE_TARGET] = "as target",
                                      [ROLE_BOTH] = "as source and target",
                                      [ROLE_LOCAL] = "in itself"};
  return row->role == ROLE_BOTH && row->entity == ENTITY_LINK ? "both ways" : WORDS[row->role];
}

const char *outliers_shorten(struct arena *arena, const char *list, size_t shown) {
  const char *text = list;
  size_t count = 0;
  for (const char *at = list; at != NULL; count++) {
    const char *next = strings_next_word(at);
    if (count < shown) {
      text = next != NULL ? arena_strndup(arena, list, (size_t)(next - list) - 2) : list;
    }
    at = next;
  }
  return count > shown ? arena_format(arena, "%s, ... (%zu)", text, count) : text;
}

/* "-3.02", or both of a GPU that is slow in both: "-3.02, -2.96". */
static const char *outliers_change_text(struct arena *arena, const struct outlier *row) {
  return isnan(row->source_change)
             ? arena_format(arena, "%+.2f", text_rounded(100 * row->change, 2))
             : arena_format(arena, "%+.2f, %+.2f", text_rounded(100 * row->source_change, 2),
                            text_rounded(100 * row->target_change, 2));
}

/* ---- verdicts ---- */

/* In which direction it is slow, where it is slow one way only. */
static const char *outliers_direction_words(const struct outlier_verdict *verdict) {
  enum { HOST, GPU, OTHER };
  static const char *const WORDS[][OTHER + 1] = {
      [ROLE_NONE] = {"", "", ""},
      [ROLE_SOURCE] = {" towards the host", " as source", ""},
      [ROLE_TARGET] = {" from the host", " as target", ""},
      [ROLE_BOTH] = {" both ways", " as source and target", " as source and target"},
      [ROLE_LOCAL] = {" in itself", " in itself", " in itself"}};
  const bool link = verdict->direction == ROLE_BOTH && verdict->entity == ENTITY_LINK;
  return WORDS[verdict->direction][verdict->host_link >= 0 || link ? HOST
                                   : verdict->entity == ENTITY_GPU ? GPU
                                                                   : OTHER];
}

/* "Host to gpu1", "gpu1 to the host". */
static const char *outliers_link_words(struct arena *arena, const struct outlier_verdict *verdict) {
  return arena_format(arena,
                      verdict->direction == ROLE_TARGET ? "Host to gpu%d" : "gpu%d to the host",
                      verdict->host_link);
}

/* "gpu1 is 0000:07:00.0, GPU-..." */
static const char *outliers_identity_words(struct arena *arena, const struct results_gpu *gpu,
                                           const char *host) {
  return arena_format(arena, "gpu%d%s is %s%s", gpu->number, arena_around(arena, " of ", host, ""),
                      gpu->pci_address, arena_around(arena, ", ", gpu->uuid, ""));
}

static bool outliers_is_about(const struct outlier_verdict *verdict,
                              const struct results_gpu *gpu) {
  return gpu->pci_address != NULL &&
         (gpu->number == verdict->gpus[0] || gpu->number == verdict->gpus[1]);
}

size_t outliers_identities(struct arena *arena, const struct results *results,
                           const struct outliers *outliers, const char ***lines) {
  size_t count = 0;
  *lines = NULL;
  for (size_t i = 0; i < outliers->verdict_count; i++) {
    const struct outlier_verdict *verdict = &outliers->verdicts[i];
    const struct results_environment *environment = &results->environments[verdict->environment];
    for (size_t g = 0; g < environment->gpu_count; g++) {
      if (!outliers_is_about(verdict, &environment->gpus[g])) {
        continue;
      }
      const char *line = outliers_identity_words(arena, &environment->gpus[g],
                                                 outliers->hosts > 1 ? verdict->host : NULL);
      if (!ANY_OF(k, count, strcmp((*lines)[k], line) == 0)) {
        *ARENA_ADD(arena, *lines, count) = line;
      }
    }
  }
  return count;
}

/* "is 3.0 to 50.0 % slower than its peers", or "is slower than its peers: 50.0 % at 256MiB, 3.0 %
 * at 4KiB" where the largest and the smallest are of one size each. */
static const char *outliers_slower_words(struct arena *arena, const struct results *results,
                                         const struct outlier_verdict *verdict, const char *peers) {
  const bool known = verdict->worst != SIZE_MAX && verdict->mildest != SIZE_MAX;
  const uint64_t worst = known ? results->cases[verdict->worst].size_bytes : 0;
  const uint64_t mildest = known ? results->cases[verdict->mildest].size_bytes : 0;
  if (worst == 0 || mildest == 0 || worst == mildest) {
    return arena_format(arena, "is %s %% slower than %s:",
                        outliers_range_words(arena, verdict->least, verdict->change), peers);
  }
  return arena_format(arena, "is slower than %s: %.1f %% at %s, %.1f %% at %s;", peers,
                      -100 * verdict->change, units_format_size(worst, UNITS_TEXT),
                      -100 * verdict->least, units_format_size(mildest, UNITS_TEXT));
}

const char *outliers_verdict_words(struct arena *arena, const struct results *results,
                                   const struct outliers *outliers,
                                   const struct outlier_verdict *verdict) {
  const bool named = verdict->rivals != NULL && outliers->hosts > 1; /* with their hosts */
  const char *host = outliers->hosts > 1 && verdict->entity != ENTITY_HOST && !named
                         ? arena_format(arena, " of %s", verdict->host)
                         : "";
  const char *blocks = outliers_shorten(arena, verdict->blocks, BLOCKS_SHOWN);
  if (verdict->rivals != NULL) {
    return arena_format(
        arena, "%s and %s%s differ by %.1f %%%s: which is slow cannot be told; in %s",
        verdict->rivals, verdict->name, host, -100 * verdict->change,
        verdict->entity == ENTITY_HOST ? "" : outliers_direction_words(verdict), blocks);
  }
  const bool one_way = verdict->host_link >= 0 &&
                       (verdict->direction == ROLE_SOURCE || verdict->direction == ROLE_TARGET);
  const char *what = one_way ? outliers_link_words(arena, verdict) : verdict->name;
  const char *how =
      one_way || verdict->entity == ENTITY_HOST ? "" : outliers_direction_words(verdict);
  const char *peers = verdict->host_link < 0              ? "its peers"
                      : verdict->direction == ROLE_TARGET ? "to the other GPUs"
                      : verdict->direction == ROLE_SOURCE ? "from the other GPUs"
                                                          : "those of the other GPUs";
  return arena_format(arena, "%s%s%s %s %zu of %zu %s, in %s", what, host, how,
                      outliers_slower_words(arena, results, verdict, peers), verdict->slow_cases,
                      verdict->cases, strings_plural(verdict->cases, "case", "cases"), blocks);
}

const char *outliers_range_words(struct arena *arena, double least, double change) {
  const char *low = arena_format(arena, "%.1f", -100 * least);
  const char *high = arena_format(arena, "%.1f", -100 * change);
  return strcmp(low, high) == 0 ? high : arena_format(arena, "%s to %s", low, high);
}

/* "gpu2 of n0007 is 2.2 to 3.0 % slower than its peers (GPU-..., 0000:06:00.0): ..." */
static const char *outliers_part_words(struct arena *arena, const struct outlier_part *part) {
  const bool host = strcmp(part->name, part->host) == 0;
  const char *where = host ? "" : arena_format(arena, " of %s", part->host);
  const char *gpu = part->uuid == NULL
                        ? ""
                        : arena_format(arena, " (%s%s)", part->uuid,
                                       arena_around(arena, ", ", part->pci_address, ""));
  return arena_format(arena, "%s%s is %s %% slower than its peers%s: %zu of %zu %s, in %s%s",
                      part->name, where, outliers_range_words(arena, part->least, part->change),
                      gpu, part->slow_cases, part->cases,
                      strings_plural(part->cases, "case", "cases"),
                      outliers_shorten(arena, part->blocks, BLOCKS_SHOWN),
                      arena_around(arena, "; ", part->evidence, ""));
}

const char *outliers_alone_words(struct arena *arena, const struct outlier_part *part) {
  const bool host = strcmp(part->name, part->host) == 0;
  return arena_format(arena,
                      "%s%s%s became %s %% slower, unlike most nodes: %zu of %zu cases, in %s%s",
                      part->name, host ? "" : " of ", host ? "" : part->host,
                      outliers_range_words(arena, part->least, part->change), part->slow_cases,
                      part->cases, outliers_shorten(arena, part->blocks, BLOCKS_SHOWN),
                      part->certain ? "" : " (not certain: other nodes differ too, or are few)");
}

/* Of several hosts each part once, which verdicts of several blocks and ways are of. */
static void outliers_put_verdicts(struct document *document, const struct results *results,
                                  const struct outliers *outliers) {
  const bool by_part = outliers->hosts > 1;
  for (size_t i = 0; by_part && i < outliers->part_count; i++) {
    document_put_toned(document, TONE_BAD, "%s",
                       outliers_part_words(&document->arena, &outliers->parts[i]));
  }
  for (size_t i = 0; i < outliers->verdict_count; i++) {
    const struct outlier_verdict *verdict = &outliers->verdicts[i];
    if (!by_part || verdict->state != OUTLIER_SLOW) {
      document_put_toned(document, verdict->state == OUTLIER_SLOW ? TONE_BAD : TONE_WARN, "%s",
                         outliers_verdict_words(&document->arena, results, outliers, verdict));
    }
  }
}

/* ---- tables ---- */

/* The verdict that a row belongs to. */
static const char *outliers_row_verdict(struct arena *arena, const struct results *results,
                                        const struct outliers *outliers,
                                        const struct outlier *row) {
  if (row->verdict == SIZE_MAX) {
    return NULL;
  }
  const struct outlier_verdict *verdict = &outliers->verdicts[row->verdict];
  const struct results_environment *environment = &results->environments[verdict->environment];
  const char *text = outliers_verdict_words(arena, results, outliers, verdict);
  for (size_t i = 0; i < environment->gpu_count; i++) {
    const struct results_gpu *gpu = &environment->gpus[i];
    text = verdict->rivals == NULL && outliers_is_about(verdict, gpu)
               ? arena_add(arena, text, "; %s", outliers_identity_words(arena, gpu, NULL))
               : text;
  }
  return text;
}

/* The columns for people, and their cells. Those without a value are left out; on a narrow
 * terminal those stay that say most, and that tell the rows of one GPU and block apart. */
#define OUTLIERS_TABLE_COLUMNS(X)                                                                  \
  X("what", text, row->name)                                                                       \
  X("how", text, outliers_role_words(row))                                                         \
  X("host", text, outliers->hosts > 1 ? row->host : NULL)                                          \
  X("block", text, row->block)                                                                     \
  X("memory", text, row->memory_matters ? row->memory : NULL)                                      \
  X("sizes", text, row->sizes != SIZES_NONE ? size_class_text(row->sizes) : NULL)                  \
  X("change %", text, outliers_change_text(arena, row))                                            \
  X("robust z", text, arena_format(arena, "%+.1f", text_rounded(row->robust_z, 1)))                \
  X("slow cases", text, arena_format(arena, "%zu of %zu", row->slow_cases, row->cases))            \
  X("paths", text,                                                                                 \
    row->entity == ENTITY_GPU ? outliers_shorten(arena, row->paths, PATHS_SHOWN) : NULL)           \
  X("only in case", text, row->single ? results->cases[row->worst].name : NULL)                    \
  X("finding", text, all ? outlier_state_text(row->state) : NULL)

enum { OUTLIERS_TABLE_Z = 7 };

static void outliers_put_table(struct document *document, const struct results *results,
                               const struct outliers *outliers, bool all) {
  struct arena *arena = &document->arena;
  DOCUMENT_COLUMNS(document, OUTLIERS_TABLE_COLUMNS,
                   .narrow =
                       "paths,robust z,slow cases,only in case,memory,finding,sizes,how,host");
  for (size_t i = 0; i < outliers->row_count; i++) {
    const struct outlier *row = &outliers->rows[i];
    /* outliers_put_undecided() lists the undecided ones below the table. */
    if (row->state == OUTLIER_SLOW || (all && row->state != OUTLIER_UNDECIDED)) {
      DOCUMENT_ROW(document, OUTLIERS_TABLE_COLUMNS(COLUMN_CELL));
    }
  }
  document_table_end(document);
}

/* The columns of one row per entity and block, and their cells. */
#define OUTLIERS_COLUMNS(X)                                                                        \
  X("finding", text, outlier_state_text(row->state))                                               \
  X("entity", text, entity_text(row->entity))                                                      \
  X("name", text, row->name)                                                                       \
  X("role", text, row->role != ROLE_NONE ? outlier_role_text(row->role) : NULL)                    \
  X("host_name", text, row->host)                                                                  \
  X("uuid", text, row->uuid)                                                                       \
  X("block", text, row->block)                                                                     \
  X("sizes", text, row->sizes != SIZES_NONE ? size_class_text(row->sizes) : NULL)                  \
  X("change_percent", real, 100 * row->change)                                                     \
  X("source_percent", finite, 100 * row->source_change)                                            \
  X("target_percent", finite, 100 * row->target_change)                                            \
  X("robust_z", real, row->robust_z)                                                               \
  X("cases", integer, (int64_t)row->cases)                                                         \
  X("slow_cases", integer, (int64_t)row->slow_cases)                                               \
  X("paths", text, row->paths)                                                                     \
  X("worst_case", text, results->cases[row->worst].name)                                           \
  X("worst_percent", real, 100 * row->worst_change)                                                \
  X("compared_with", text, row->other != SIZE_MAX ? results->cases[row->other].name : NULL)        \
  X("memory", text, row->memory[0] != '\0' ? row->memory : NULL)                                   \
  X("single", integer, row->single)                                                                \
  X("verdict", text, outliers_row_verdict(arena, results, outliers, row))                          \
  X("rivals", text, row->rivals)

JSON_DESCRIBER(outliers_describe_json, OUTLIERS_COLUMNS, JSON_COLUMN)

static void outliers_put_rows(struct document *document, const struct results *results,
                              const struct outliers *outliers) {
  struct arena *arena = &document->arena;
  DOCUMENT_COLUMNS(document, OUTLIERS_COLUMNS, 0);
  for (size_t i = 0; i < outliers->row_count; i++) {
    const struct outlier *row = &outliers->rows[i];
    DOCUMENT_ROW(document, OUTLIERS_COLUMNS(COLUMN_CELL));
  }
  document_table_end(document);
}

/* ---- below the table ---- */

/* Slower than its only peer. */
static bool outliers_is_pair(const struct outlier *row) {
  return row->state == OUTLIER_UNDECIDED && row->rivals == NULL;
}

static const char *outliers_pair_words(struct arena *arena, const struct results *results,
                                       const struct outlier *row) {
  return arena_format(arena, "%s is %.2f %% slower than %s", results->cases[row->worst].name,
                      -100 * row->worst_change, results->cases[row->other].name);
}

size_t outliers_doubts(struct arena *arena, const struct results *results,
                       const struct outliers *outliers, const char ***sentences) {
  const size_t most = outliers->verdict_count + outliers->undecided_count;
  const char **made = arena_array(arena, most, sizeof *made);
  size_t count = 0;
  for (size_t i = 0; i < outliers->verdict_count; i++) {
    if (outliers->verdicts[i].state != OUTLIER_SLOW) {
      made[count++] = outliers_verdict_words(arena, results, outliers, &outliers->verdicts[i]);
    }
  }
  for (size_t i = 0; i < outliers->row_count; i++) {
    const struct outlier *row = &outliers->rows[i];
    if (outliers_is_pair(row)) {
      made[count++] = arena_format(arena, "%s, its only peer: which is slow cannot be told",
                                   outliers_pair_words(arena, results, row));
    }
  }
  *sentences = made;
  return count;
}

/* Pairs of which nobody can tell the faulty one. */
static void outliers_put_undecided(struct document *document, const struct results *results,
                                   const struct outliers *outliers, size_t pairs) {
  document_gap(document);
  document_put(document,
               "%zu undecided: each has only one peer, and either of the two may be the slow one",
               pairs);
  for (size_t i = 0; i < outliers->row_count; i++) {
    if (outliers_is_pair(&outliers->rows[i])) {
      document_put_behind(document, "  ", "%s",
                          outliers_pair_words(&document->arena, results, &outliers->rows[i]));
    }
  }
}

static void outliers_put_summary(struct document *document, const struct results *results,
                                 const struct outliers *outliers, bool listed) {
  struct arena *arena = &document->arena;
  const size_t pairs = SUM_OF(i, outliers->row_count, outliers_is_pair(&outliers->rows[i]));
  const bool explain_z = listed && document_shows(document, OUTLIERS_TABLE_Z);
  if (pairs > 0) {
    outliers_put_undecided(document, results, outliers, pairs);
  }
  document_gap(document);
  const bool by_part = outliers->hosts > 1;
  /* As many as there are sentences above: a link has one, and a row for each direction. */
  const size_t slow =
      by_part ? outliers->part_count
              : SUM_OF(i, outliers->verdict_count, outliers->verdicts[i].state == OUTLIER_SLOW);
  document_put(document, "%s slow%s; %zu %s compared with their peers%s%s",
               slow == 0 ? "No GPU, link or host is" : arena_format(arena, "%zu", slow),
               outliers->undecided_count > pairs
                   ? arena_format(arena, ", %zu undecided", outliers->undecided_count - pairs)
                   : "",
               outliers->cases, strings_plural(outliers->cases, "result", "results"),
               by_part ? arena_format(arena, " on %zu nodes", outliers->hosts) : "",
               outliers->without_peers > 0
                   ? arena_format(arena, ", %zu without enough peers", outliers->without_peers)
                   : "");
  if (outliers->slow_count > 0) {
    document_put(document, "%s%s",
                 listed ? "change: of speed, against its peers"
                        : "-v lists what is slow block by block",
                 explain_z ? "; robust z: distance from its peers in standard deviations "
                             "(estimated from the median absolute deviation)"
                           : "");
  }
  if (!by_part) {
    const char **lines = NULL;
    const size_t count = outliers_identities(arena, results, outliers, &lines);
    for (size_t i = 0; i < count; i++) {
      document_put(document, "%s", lines[i]);
    }
  }
  if (outliers->small_tables > 0) {
    document_put(
        document,
        "Too few pairs of GPUs to tell a slow GPU from a slow link: it takes pairs of four GPUs");
  }
  if (results->run_count > 0 && results_run_is_simulated(results, 0)) { /* then all are */
    document_put(document, DOCUMENT_SIMULATED);
  }
}

static void outliers_put(struct document *document, const struct results *results,
                         const struct outliers *outliers, bool all) {
  const bool table =
      outliers->is_fleet
          ? all && outliers->slow_count > 0
          : outliers->slow_count > 0 || (all && outliers->row_count > outliers->undecided_count);
  outliers_put_verdicts(document, results, outliers);
  if (table) {
    document_gap(document);
    outliers_put_table(document, results, outliers, all && !outliers->is_fleet);
  }
  outliers_put_summary(document, results, outliers, table);
}

enum status outliers_print(const struct results *results, const struct outliers *outliers, bool all,
                           const struct table_options *options, struct error *err) {
  struct document document;
  document_begin(&document, options, err);
  if (document_is_for_people(&document)) {
    outliers_put(&document, results, outliers, all);
  } else {
    outliers_put_rows(&document, results, outliers);
  }
  return document_end(&document);
}
