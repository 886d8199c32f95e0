/* outliers_rows.c - what was seen of each part, taken together and judged. */
#include "runner/analyse/outliers_state.h"

#include "engine/base/strbuf.h"
#include "runner/analyse/samples.h"
#include "runner/analyse/stand_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16 };

/* All sights of one part. */
struct candidate {
  struct sight sight; /* value, noise and cases of all together */
  double scatter;     /* of the value, from how the sights differ; 0 = too few to tell */
  struct standing standing;
  const struct sight *sights; /* the lowest first */
  size_t sight_count;
  enum finding finding;
  enum outlier_role role;
  double source_change, target_change; /* ln; of ROLE_BOTH, joined of two; else NAN */
  bool judged;                         /* there are enough of its set */
  bool joined;                         /* with another, which has it */
  bool single;                         /* its worst sight alone stands out */
};

static int compare_numbers(double a, double b) {
  return (a > b) - (a < b);
}

/* Parts that are judged together. */
static int compare_sets(const struct part *x, const struct part *y) {
  int order = strcmp(x->block, y->block);
  order = order != 0 ? order : strcmp(x->memory, y->memory);
  order = order != 0 ? order : (int)x->sizes - (int)y->sizes;
  order = order != 0 ? order : (int)x->entity - (int)y->entity;
  order = order != 0 ? order : (int)x->role - (int)y->role;
  order = order != 0 ? order : x->of_two - y->of_two;
  return order != 0 ? order : x->fitted - y->fitted;
}

static int compare_parts(const struct part *x, const struct part *y) {
  int order = compare_sets(x, y);
  order = order != 0 ? order : compare_numbers(x->host, y->host);
  order = order != 0 ? order : x->way.from_gpu - y->way.from_gpu;
  order = order != 0 ? order : x->way.from - y->way.from;
  order = order != 0 ? order : x->way.to_gpu - y->way.to_gpu;
  order = order != 0 ? order : x->way.to - y->way.to;
  return order != 0 ? order : x->way.both - y->way.both;
}

static int compare_sights(const void *a, const void *b) {
  const struct sight *x = a;
  const struct sight *y = b;
  const int order = compare_parts(&x->part, &y->part);
  return order != 0 ? order : compare_numbers(x->value, y->value);
}

/* ---- taking together ---- */

/* Sights of one part, the lowest first. The middle value; of two, the one that is less slow: one
 * bad link of two is no bad GPU. */
static struct candidate take_together(const struct sight *sights, size_t count, double *scratch) {
  struct candidate all = {.sight = sights[count / 2],
                          .sights = sights,
                          .sight_count = count,
                          .role = sights[0].part.role,
                          .source_change = NAN,
                          .target_change = NAN};
  struct sight *sight = &all.sight;
  sight->cases = sight->slow_cases = 0;
  sight->worst_off = INFINITY;
  for (size_t i = 0; i < count; i++) {
    sight->cases += sights[i].cases;
    sight->slow_cases += sights[i].slow_cases;
    sight->margin = fmax(sight->margin, sights[i].margin);
    if (sights[i].worst_off < sight->worst_off) {
      sight->worst_off = sights[i].worst_off;
      sight->worst = sights[i].worst;
      sight->other = sights[i].other;
      sight->environment = sights[i].environment;
    }
    scratch[i] = sights[i].noise;
  }
  const double root = sqrt((double)count);
  sight->noise = samples_median_in_place(scratch, count) / root;
  for (size_t i = 0; i < count; i++) {
    scratch[i] = sights[i].value - sight->value;
  }
  all.scatter = count >= STAND_OUT_MIN ? stand_out_spread(scratch, count) / root : 0;
  return all;
}

static struct candidate *find_candidates(struct finder *f, size_t *count) {
  struct candidate *candidates = NULL;
  size_t capacity = 0;
  double *scratch = outliers_array(f->sight_count, sizeof *scratch);
  *count = 0;
  if (f->sight_count > 1) { /* none is NULL */
    qsort(f->sights, f->sight_count, sizeof *f->sights, compare_sights);
  }
  for (size_t first = 0; first < f->sight_count;) {
    size_t last = first + 1;
    while (last < f->sight_count &&
           compare_parts(&f->sights[first].part, &f->sights[last].part) == 0) {
      last++;
    }
    candidates = arena_grow(&f->arena, candidates, *count, &capacity, sizeof *candidates);
    candidates[(*count)++] = take_together(f->sights + first, last - first, scratch);
    first = last;
  }
  free(scratch);
  return candidates;
}

/* ---- judging ---- */

/* Candidates of one set. */
static void judge_set(struct candidate *candidates, size_t count) {
  struct standing *standings = outliers_array(count, sizeof *standings);
  double *scratch = outliers_array(count, sizeof *scratch);
  const bool of_two = candidates[0].sight.part.of_two;
  double fitted = 0;
  for (size_t i = 0; i < count; i++) {
    scratch[i] = candidates[i].scatter;
    fitted += candidates[i].sight.fitted_share;
  }
  const double scatter = samples_median_in_place(scratch, count);
  for (size_t i = 0; i < count; i++) {
    const struct sight *sight = &candidates[i].sight;
    standings[i] = (struct standing){
        .value = sight->value, .noise = fmax(sight->noise, scatter), .margin = sight->margin};
    if (of_two) {
      stand_out_judge_difference(&standings[i]);
    }
  }
  if (!of_two && count >= STAND_OUT_MIN) {
    stand_out_judge(standings, count, (size_t)lround(fitted));
  }
  for (size_t i = 0; i < count; i++) {
    struct candidate *candidate = &candidates[i];
    candidate->standing = standings[i];
    candidate->judged = of_two ? standings[i].low : count >= STAND_OUT_MIN;
    candidate->finding = !standings[i].low ? FINDING_FINE
                         : of_two          ? FINDING_UNDECIDED
                                           : FINDING_SLOW;
  }
  free(scratch);
  free(standings);
}

/* Whether each of its sights is of one result, or apart from what else the result is about. */
static bool may_be_single(const struct candidate *candidate) {
  const struct part *part = &candidate->sight.part;
  return candidate->sight_count > 1 &&
         (part->fitted || part->entity == ENTITY_LINK || part->role == ROLE_LOCAL);
}

/* Where the middle of a candidate is fine, its worst sight by itself, among those of all. */
static void judge_singles(struct candidate *candidates, size_t count) {
  const struct sight *sights = candidates[0].sights; /* sorted: those of the set in one piece */
  const bool of_two = sights->part.of_two;
  size_t sight_count = 0;
  for (size_t i = 0; i < count; i++) {
    sight_count += candidates[i].sight_count;
  }
  struct standing *standings = outliers_array(sight_count, sizeof *standings);
  double *scratch = outliers_array(sight_count, sizeof *scratch);
  double fitted = 0;
  for (size_t i = 0; i < sight_count; i++) {
    scratch[i] = sights[i].noise;
  }
  /* Of a few processes the noise is hardly known: the smallest of many would mean nothing. */
  const double noise = samples_median_in_place(scratch, sight_count);
  free(scratch);
  for (size_t i = 0; i < sight_count; i++) {
    standings[i] = (struct standing){.value = sights[i].value,
                                     .noise = fmax(sights[i].noise, noise),
                                     .margin = OUTLIER_SINGLE_MARGINS * sights[i].margin};
    fitted += sights[i].fitted_share;
    if (of_two) {
      stand_out_judge_difference(&standings[i]);
    }
  }
  if (!of_two && count >= STAND_OUT_MIN) {
    stand_out_judge(standings, sight_count, (size_t)lround(fitted));
  }
  for (size_t i = 0; i < count; i++) {
    struct candidate *candidate = &candidates[i];
    const struct standing *lowest = &standings[candidate->sights - sights];
    if (candidate->finding == FINDING_FINE && lowest->low && lowest->z <= OUTLIER_SINGLE_Z &&
        may_be_single(candidate)) {
      candidate->standing = *lowest;
      candidate->single = candidate->judged = true;
      candidate->finding = of_two ? FINDING_UNDECIDED : FINDING_SLOW;
    }
  }
  free(standings);
}

static void judge_sets(struct candidate *candidates, size_t count) {
  for (size_t first = 0; first < count;) {
    size_t last = first + 1;
    while (last < count &&
           compare_sets(&candidates[first].sight.part, &candidates[last].sight.part) == 0) {
      last++;
    }
    judge_set(candidates + first, last - first);
    judge_singles(candidates + first, last - first);
    first = last;
  }
}

/* ---- what explains what ---- */

static bool same_place(const struct part *x, const struct part *y) {
  return x->host == y->host && x->sizes == y->sizes && strcmp(x->block, y->block) == 0 &&
         strcmp(x->memory, y->memory) == 0;
}

/* Whether a GPU in its role is an end of a link. */
static bool has_link(const struct part *gpu, const struct part *link) {
  if (link->entity != ENTITY_LINK || link->fitted != gpu->fitted || link->of_two ||
      !same_place(gpu, link)) {
    return false;
  }
  const struct way *way = &link->way;
  const bool starts = way->from_gpu && way->from == gpu->way.from;
  const bool ends = way->to_gpu && way->to == gpu->way.from;
  return (starts && gpu->role != ROLE_TARGET) || (ends && gpu->role != ROLE_SOURCE);
}

/* Whether large, which is slow, says of small, which is too, all that there is to say. A GPU with
 * one link says no more than the link. What was fitted is apart from each other already. */
static bool explains(const struct candidate *all, size_t count, const struct part *large,
                     const struct part *small) {
  if (large->entity == ENTITY_HOST) {
    return small->entity != ENTITY_HOST && same_place(large, small);
  }
  const struct part *gpu = large->entity == ENTITY_GPU ? large : small;
  const struct part *link = large->entity == ENTITY_GPU ? small : large;
  if (gpu->entity != ENTITY_GPU || !has_link(gpu, link)) {
    return false;
  }
  size_t links = 0;
  for (size_t i = 0; i < count; i++) {
    links += has_link(gpu, &all[i].sight.part);
  }
  return links == 1 ? large == link : large == gpu;
}

static void explain(struct candidate *all, size_t count) {
  struct candidate **slow = outliers_array(count, sizeof *slow);
  bool *explained = outliers_array(count, sizeof *explained);
  size_t slow_count = 0;
  for (size_t i = 0; i < count; i++) {
    if (all[i].finding == FINDING_SLOW && !all[i].sight.part.fitted) {
      slow[slow_count++] = &all[i];
    }
  }
  for (size_t i = 0; i < slow_count; i++) {
    for (size_t j = 0; j < slow_count && !explained[i]; j++) {
      explained[i] = i != j && explains(all, count, &slow[j]->sight.part, &slow[i]->sight.part);
    }
  }
  for (size_t i = 0; i < slow_count; i++) {
    slow[i]->finding = explained[i] ? FINDING_EXPLAINED : FINDING_SLOW;
  }
  free(explained);
  free(slow);
}

/* One GPU as source and as target; one link forth and back. */
static bool are_halves(const struct candidate *a, const struct candidate *b) {
  const struct part *x = &a->sight.part;
  const struct part *y = &b->sight.part;
  if (x->entity != y->entity || x->fitted != y->fitted || x->host != y->host ||
      x->sizes != y->sizes || strcmp(x->block, y->block) != 0) {
    return false;
  }
  if (x->entity == ENTITY_GPU) {
    return strcmp(x->memory, y->memory) == 0 && x->way.from == y->way.from &&
           a->role == ROLE_SOURCE && b->role == ROLE_TARGET;
  }
  return x->entity == ENTITY_LINK && a->role == ROLE_NONE && b->role == ROLE_NONE &&
         x->way.from_gpu == y->way.to_gpu && x->way.from == y->way.to &&
         x->way.to_gpu == y->way.from_gpu && x->way.to == y->way.from &&
         strcmp(x->memory, y->memory_back) == 0;
}

static void join_halves(struct candidate *all, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < count && all[i].finding == FINDING_SLOW; j++) {
      struct candidate *a = &all[i];
      struct candidate *b = &all[j];
      if (i == j || b->finding != FINDING_SLOW || a->joined || b->joined || !are_halves(a, b)) {
        continue;
      }
      a->role = ROLE_BOTH;
      a->source_change = a->standing.change;
      a->target_change = b->standing.change;
      a->sight.cases += b->sight.cases;
      a->single = a->single && b->single;
      if (b->sight.worst_off < a->sight.worst_off) {
        a->sight.worst_off = b->sight.worst_off;
        a->sight.worst = b->sight.worst;
      }
      if (b->standing.change < a->standing.change) {
        a->standing = b->standing;
      }
      b->joined = true;
    }
  }
}

/* ---- rows ---- */

/* As paths are written: runner/plan/name.h. */
static const char *way_name(struct arena *arena, const struct way *way, bool both) {
  return arena_format(arena, "%s%d%s%s%d", way->from_gpu ? "gpu" : "numa", way->from,
                      both ? "--" : "-", way->to_gpu ? "gpu" : "numa", way->to);
}

static const char *host_name(const struct finder *f, const struct part *part) {
  const char *name = f->measured->environments[part->host].host_name;
  return name != NULL ? name : "";
}

static const char *part_name(struct finder *f, const struct part *part) {
  switch (part->entity) {
  case ENTITY_HOST:
    return host_name(f, part);
  case ENTITY_GPU:
    return arena_format(&f->outliers->arena, "gpu%d", part->way.from);
  case ENTITY_LINK:
  case entity_name_count:
    break;
  }
  return way_name(&f->outliers->arena, &part->way, part->way.both);
}

static const char *uuid_of(const struct finder *f, const struct sight *sight) {
  const struct measured_environment *e = &f->measured->environments[sight->environment];
  for (size_t i = 0; i < e->gpu_count && sight->part.entity == ENTITY_GPU; i++) {
    if (e->gpus[i].number == sight->part.way.from) {
      return e->gpus[i].uuid;
    }
  }
  return NULL;
}

/* Of a link that is slow forth and back, both. */
static bool is_on_link(const struct way *way, const struct way *link, bool back_too) {
  const bool forth = way->from_gpu == link->from_gpu && way->from == link->from &&
                     way->to_gpu == link->to_gpu && way->to == link->to;
  const bool back = way->from_gpu == link->to_gpu && way->from == link->to &&
                    way->to_gpu == link->from_gpu && way->to == link->from;
  return way->known && way->both == link->both && (forth || (back && back_too));
}

static bool is_about(const struct finder *f, const struct result *result,
                     const struct candidate *candidate) {
  const struct part *part = &candidate->sight.part;
  const struct measured_case *bench = &f->measured->cases[result->bench];
  const struct way *way = &result->way;
  const bool back = candidate->role == ROLE_BOTH && part->entity == ENTITY_LINK &&
                    strcmp(result->memory, part->memory_back) == 0;
  if (result->host != part->host || result->sizes != part->sizes ||
      strcmp(bench->block, part->block) != 0 ||
      (!back && strcmp(result->memory, part->memory) != 0)) {
    return false;
  }
  switch (part->entity) {
  case ENTITY_HOST:
    return true;
  case ENTITY_LINK:
    return is_on_link(way, &part->way, candidate->role == ROLE_BOTH);
  case ENTITY_GPU:
  case entity_name_count:
    break;
  }
  const int gpu = part->way.from;
  if (way->known && !way->both && candidate->role == ROLE_SOURCE) {
    return way->from_gpu && way->from == gpu;
  }
  if (way->known && !way->both && candidate->role == ROLE_TARGET) {
    return way->to_gpu && way->to == gpu;
  }
  return (bench->gpus >> gpu & 1) != 0;
}

/* Counts the cases that are slow, and names their paths, each once. */
static void find_slow_cases(struct finder *f, const struct candidate *candidate,
                            struct outlier *row) {
  struct strbuf text;
  row->slow_cases = 0;
  strbuf_init(&text, TEXT_MAX);
  for (size_t i = 0; i < f->result_count; i++) {
    const struct result *result = &f->results[i];
    if (!result_is_slow(result) || !is_about(f, result, candidate)) {
      continue;
    }
    row->slow_cases++;
    if (!result->way.known) {
      continue;
    }
    const char *name = way_name(&f->arena, &result->way, result->way.both);
    const char *found = strstr(text.text, name);
    const size_t length = strlen(name);
    while (found != NULL && ((found != text.text && found[-1] != ' ') ||
                             (found[length] != '\0' && found[length] != ','))) {
      found = strstr(found + 1, name);
    }
    if (found == NULL) {
      strbuf_printf(&text, "%s%s", text.length > 0 ? ", " : "", name);
    }
  }
  row->paths = text.length > 0 ? arena_strdup(&f->outliers->arena, text.text) : NULL;
  strbuf_fini(&text);
}

static void add_row(struct finder *f, const struct candidate *candidate) {
  const struct sight *sight = &candidate->sight;
  const struct part *part = &sight->part;
  struct outlier row = {
      .finding = candidate->finding,
      .entity = part->entity,
      .role = candidate->role,
      .host = host_name(f, part),
      .name = part_name(f, part),
      .uuid = uuid_of(f, sight),
      .block = part->block,
      .memory = part->memory,
      .single = candidate->single,
      .sizes = part->sizes,
      .change = expm1(candidate->standing.change),
      .source_change = expm1(candidate->source_change),
      .target_change = expm1(candidate->target_change),
      .z = candidate->standing.z,
      .cases = sight->cases,
      .slow_cases = sight->slow_cases,
      .worst = sight->worst,
      .worst_change = expm1(sight->worst_off),
      .other = sight->other,
  };
  if (candidate->finding == FINDING_SLOW || candidate->finding == FINDING_EXPLAINED) {
    find_slow_cases(f, candidate, &row);
  }
  f->outliers->slow_count += row.finding == FINDING_SLOW;
  f->outliers->undecided_count += row.finding == FINDING_UNDECIDED;
  f->outliers->rows = arena_grow(&f->outliers->arena, f->outliers->rows, f->outliers->row_count,
                                 &f->row_capacity, sizeof *f->outliers->rows);
  f->outliers->rows[f->outliers->row_count++] = row;
}

static int compare_rows(const void *a, const void *b) {
  const struct outlier *x = a;
  const struct outlier *y = b;
  int order = (int)x->finding - (int)y->finding;
  order = order != 0 ? order : compare_numbers(x->change, y->change);
  order = order != 0 ? order : strcmp(x->host, y->host);
  order = order != 0 ? order : strcmp(x->name, y->name);
  return order != 0 ? order : strcmp(x->block, y->block);
}

void outliers_judge(struct finder *f) {
  size_t count = 0;
  struct candidate *candidates = find_candidates(f, &count);
  judge_sets(candidates, count);
  explain(candidates, count);
  join_halves(candidates, count);
  for (size_t i = 0; i < count; i++) {
    if (candidates[i].judged && !candidates[i].joined) {
      add_row(f, &candidates[i]);
    }
  }
  if (f->outliers->row_count > 1) { /* none is NULL */
    qsort(f->outliers->rows, f->outliers->row_count, sizeof *f->outliers->rows, compare_rows);
  }
}
