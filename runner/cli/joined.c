#include "runner/cli/joined.h"

static enum status join_begin(void *context, const char *const *columns, size_t count,
                              struct error *err) {
  struct joined *joined = context;
  if (joined->join && joined->begun) {
    return STATUS_OK;
  }
  joined->begun = true;
  return joined->below->begin(joined->below->context, columns, count, err);
}

static enum status join_row(void *context, const struct cell *cells, struct error *err) {
  const struct joined *joined = context;
  return joined->below->row(joined->below->context, cells, err);
}

static enum status join_end(void *context, struct error *err) {
  struct joined *joined = context;
  if (joined->join) {
    return STATUS_OK;
  }
  joined->begun = false;
  return joined->below->end(joined->below->context, err);
}

static bool join_enough(void *context) {
  const struct joined *joined = context;
  return joined->below->enough != NULL && joined->below->enough(joined->below->context);
}

void joined_init(struct joined *joined, const struct row_sink *below, bool join) {
  *joined = (struct joined){.sink = {.context = joined,
                                     .begin = join_begin,
                                     .row = join_row,
                                     .end = join_end,
                                     .enough = join_enough},
                            .below = below,
                            .join = join};
}

enum status joined_end(struct joined *joined, struct error *err) {
  if (!joined->begun || !joined->join) {
    return STATUS_OK;
  }
  joined->begun = false;
  return joined->below->end(joined->below->context, err);
}
