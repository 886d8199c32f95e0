/* What two definitions differ in, and which are the same but for their places. */
#include "runner/analysis/definition.h"
#include "tests/cmocka.h"

#define ENDPOINT(place, index) "{\"place\":\"" place "\",\"index\":" #index "}"
#define FLOW(from, to)         "{\"from\":" from ",\"to\":" to "}"
#define GPU(index)             ENDPOINT("gpu", index)
#define NODE(index)            ENDPOINT("numa", index)

TEST(places_count_by_their_first_appearance) {
  static const struct {
    const char *a, *b;
    bool same;
  } PAIRS[] = {
      {FLOW(GPU(0), GPU(1)), FLOW(GPU(3), GPU(2)), true},
      {FLOW(GPU(0), GPU(0)), FLOW(GPU(2), GPU(2)), true},
      {FLOW(GPU(0), GPU(0)), FLOW(GPU(0), GPU(1)), false},
      {FLOW(NODE(1), GPU(1)), FLOW(NODE(0), GPU(3)), true},
      {FLOW(NODE(1), GPU(1)), FLOW(GPU(1), NODE(1)), false},
      /* A load that goes with the measured flow, and one against it. */
      {"[" FLOW(GPU(0), GPU(1)) "," FLOW(GPU(0), GPU(1)) "]",
       "[" FLOW(GPU(2), GPU(3)) "," FLOW(GPU(2), GPU(3)) "]", true},
      {"[" FLOW(GPU(0), GPU(1)) "," FLOW(GPU(0), GPU(1)) "]",
       "[" FLOW(GPU(0), GPU(1)) "," FLOW(GPU(1), GPU(0)) "]", false},
      {"[" FLOW(GPU(0), GPU(1)) "," FLOW(GPU(1), GPU(2)) "]",
       "[" FLOW(GPU(0), GPU(1)) "," FLOW(GPU(1), GPU(1)) "]", false},
      {"{\"gpu\":2,\"size\":4}", "{\"gpu\":0,\"size\":4}", true},
      {"{\"gpu\":2,\"size\":4}", "{\"gpu\":2,\"size\":8}", false},
      {"no JSON", "no JSON", true},
      {"no JSON", "other", false},
  };
  for (size_t i = 0; i < COUNT_OF(PAIRS); i++) {
    const bool same =
        definition_hash_without_places(PAIRS[i].a) == definition_hash_without_places(PAIRS[i].b);
    if (same != PAIRS[i].same) {
      fail_msg("%s\n%s: %s", PAIRS[i].a, PAIRS[i].b, same ? "the same" : "not the same");
    }
  }
}
