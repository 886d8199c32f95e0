/* Blocks of kernels that compute, signals, chases by processors and divided copies: their cases. */
#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "engine/machine/machine.h"
#include "tests/runner/plan/fixture.h"

#define HEAD "schema_version = 1\nname = \"test\"\n"

/* A kernel's operations and limit; as a load it is on the GPU that starts the copy, once, with the
 * size of its own operation. */
TEST(kernels_that_compute_know_their_peak) {
  SCOPED(planned_fini)
  struct planned made = planned_text(
      "h200x4.toml",
      HEAD "[[compute]]\nname = \"c\"\nop = [\"matmul\", \"fma\", \"triad\"]\nat.gpu = 3\n"
           "sm_percent = [50, 100]\n"
           "[[compute]]\nname = \"dense\"\nop = \"triad\"\nintensity = [1, 4096]\nat.gpu = 0\n"
           "[[transfer]]\nname = \"t\"\nmethod = \"ce\"\nfrom.numa = 0\nto.gpu = 2\nsize = 4096\n"
           "direction = \"both\"\n[[transfer.load]]\nmethod = \"compute\"\n"
           "compute.op = [\"fma\", \"triad\"]\n");
  assert_int_equal(made.plan->case_count, 10);
  const struct case_def *matmul = planned_case(made.plan, "c/gpu3/op=matmul/sm_percent=50/64MiB");
  assert_int_equal(matmul->operations, UINT64_C(2) * 4096 * 4096 * 4096);
  assert_int_equal(matmul->limit, LIMIT_TENSOR);
  assert_int_equal(matmul->peak_bytes_per_second, UINT64_C(132) * 4096 * 1980000000);
  assert_int_equal(matmul->traffic_bytes, matmul->operations);
  assert_int_equal(matmul->payload_bytes, 0);
  const struct case_def *fma = planned_case(made.plan, "c/gpu3/op=fma/sm_percent=50");
  assert_int_equal(fma->operations, UINT64_C(2) * 16384 * 1024 * 66);
  assert_int_equal(fma->peak_bytes_per_second, UINT64_C(132) * 256 * 1980000000);
  const struct case_def *triad = planned_case(made.plan, "dense/gpu0/intensity=1/512MiB");
  assert_int_equal(triad->limit, LIMIT_DRAM);
  assert_int_equal(triad->payload_bytes, UINT64_C(768) << 20);
  assert_int_equal(planned_case(made.plan, "dense/gpu0/intensity=4096/512MiB")->limit, LIMIT_FMA);
  const struct case_def *beside = &made.plan->cases[9].def;
  assert_int_equal(beside->flow_count, 3);
  assert_int_equal(beside->flows[2].method, METHOD_COMPUTE);
  assert_int_equal(beside->flows[2].source.index, 2);
  assert_int_equal(beside->flows[2].target.index, 2);
  assert_int_equal(beside->flows[2].size_bytes, UINT64_C(512) << 20);
}

/* Every node's threads and every node's memory; its definition has the node and no GPU. */
TEST(processors_chase_through_every_nodes_memory) {
  SCOPED(planned_fini)
  struct planned made = planned_text(
      "gb200x4.toml", HEAD "[[chase]]\nname = \"c\"\nspace = \"host\"\nat = { numa = \"*\" }\n"
                           "of.memory = [\"pageable\", \"huge\"]\nfootprint = \"4MiB\"\n");
  assert_int_equal(made.plan->case_count, 2 * 2 * 2);
  const struct case_def *far = planned_case(made.plan, "c/numa0-numa1:huge/4MiB");
  assert_true(far->work->chase.by_processor);
  assert_int_equal(far->work->chase.node, 0);
  assert_int_equal(far->work->chase.memory.index, 1);
  assert_contains(far->definition, "\"node\":0,\"memory\":");
  assert_null(strstr(far->definition, "\"gpu\":"));
}

/* A green context is told apart, and the usual way keeps its key. */
TEST(green_contexts_are_in_the_definition) {
  SCOPED(planned_fini)
  struct planned made = planned_text(
      "h200x4.toml", HEAD "[[compute]]\nname = \"c\"\nop = \"fma\"\nat.gpu = 0\n"
                          "sm_percent = 50\nsm_share = [\"blocks\", \"green_context\"]\n");
  assert_int_equal(made.plan->case_count, 2);
  assert_null(strstr(made.plan->cases[0].def.definition, "sm_share"));
  assert_contains(made.plan->cases[1].def.definition, "\"sm_share\":\"green_context\"");
}

/* A load without ends takes those of the measured flow, in memory of its own kind. */
TEST(unified_memory_mirrors_a_copy) {
  SCOPED(planned_fini)
  struct planned made = planned_text(
      "h200x4.toml", HEAD "[[transfer]]\nname = \"t\"\nmethod = \"ce\"\nfrom.gpu = 0\n"
                          "to.numa = 0\nsize = 65536\n"
                          "[[transfer.load]]\nmethod = \"um\"\nunified.mode = \"prefetch\"\n");
  assert_int_equal(made.plan->case_count, 1);
  assert_null(made.plan->cases[0].skip_reason);
  const struct flow *load = &made.plan->cases[0].def.flows[1];
  assert_int_equal(load->source.place, PLACE_NUMA);
  assert_int_equal(load->source.memory, MEMORY_MANAGED);
  assert_int_equal(load->target.memory, MEMORY_MANAGED);
}

/* One flow to the GPU, whose keys are those of its operation. */
TEST(signals_are_flows_in_their_definition) {
  SCOPED(planned_fini)
  struct planned made = planned_text(
      "h200x4.toml", HEAD "[[signal]]\nname = \"s\"\nop = [\"flag\", \"atomics\"]\nat.gpu = 0\n"
                          "of.gpu = [0, 1]\nflags = \"sender\"\n"
                          "[[signal]]\nname = \"h\"\nop = \"stream\"\nat.gpu = 2\n");
  assert_int_equal(made.plan->case_count, 1 + 2 + 1); /* a flag goes to another GPU */
  const struct case_def *flag = planned_case(made.plan, "s/gpu0-gpu1/op=flag");
  assert_int_equal(flag->operations, 100);
  assert_non_null(
      strstr(flag->definition, "\"op\":\"flag\",\"flags\":\"sender\",\"rounds\":100}]"));
  const struct case_def *many = planned_case(made.plan, "s/gpu0-gpu0/op=atomics");
  assert_int_equal(many->operations, 100 * 128 * 256);
  assert_contains(many->definition, "\"kernel\":{\"grid\":128,\"block\":256}");
  assert_int_equal(planned_case(made.plan, "h/gpu2-numa0:pinned")->operations, 16);
}

TEST(a_flag_within_a_gpu_is_told_in_keys_of_signals) {
  SCOPED(planned_fini)
  struct planned made = planned_text(
      "h200x4.toml", HEAD "[[signal]]\nname = \"s\"\nop = \"flag\"\nat.gpu = 1\nof.gpu = 1\n");
  assert_int_equal(made.plan->case_count, 1);
  assert_string_equal(made.plan->cases[0].skip_reason,
                      "both ends are the same GPU: give `of` another GPU, or a node");
}

/* Another process answers: it stands at the source. What shares memory says which kind it is, in
 * the process that measures too; events have none. */
TEST(signals_name_the_process_that_answers) {
  struct planned made =
      planned_text("h200x4.toml", HEAD
                   "[[signal]]\nname = \"s\"\nop = [\"flag\", \"event\"]\nat.gpu = 0\n"
                   "of = { gpu = [0, 1], process = [0, 1], share = \"fd\" }\n"
                   "[[signal]]\nname = \"h\"\nop = \"stream\"\nat.gpu = 0\nof = { process = 2 }\n");
  assert_int_equal(made.plan->case_count, 2 + 4 + 1);
  const struct case_def *flag = planned_case(made.plan, "s/gpu0-gpu1:fd:process1/op=flag");
  assert_int_equal(flag->work->signal.other.memory, MEMORY_VMM);
  assert_contains(flag->definition, "\"process\":1,\"share\":\"fd\"");
  assert_int_equal(planned_case(made.plan, "s/gpu0-gpu1:vmm/op=flag")->work->signal.other.process,
                   0);
  const struct case_def *event = planned_case(made.plan, "s/gpu0-gpu0:ipc:process1/op=event");
  assert_int_equal(event->operations, 16);
  assert_null(strstr(event->definition, "flags"));
  assert_int_equal(planned_case(made.plan, "h/gpu0-numa0:memfd:process2")->work->signal.other.share,
                   SHARE_MEMFD);
  planned_fini(&made);
}

/* A flow for each share, which are the whole together; one stream is the case that it was. */
TEST(bytes_are_divided_among_streams) {
  SCOPED(planned_fini)
  struct planned made = planned_text(
      "h200x4.toml", HEAD "[[transfer]]\nname = \"t\"\nmethod = \"ce\"\nfrom.numa = 0\nto.gpu = 0\n"
                          "size = 1003\nstreams = [1, 4]\npriority = [\"default\", \"highest\"]\n"
                          "[[transfer]]\nname = \"u\"\nmethod = \"ce\"\nfrom.numa = 0\nto.gpu = 0\n"
                          "size = 1003\n");
  assert_int_equal(made.plan->case_count, 4); /* u is t with one stream */
  const struct case_def *four = &made.plan->cases[3].def;
  assert_int_equal(four->flow_count, 4);
  assert_int_equal(four->flows[0].size_bytes, 251);
  assert_int_equal(four->flows[3].size_bytes, 250);
  assert_int_equal(four->payload_bytes, 1003);
  assert_int_equal(four->flows[2].priority, STREAM_PRIORITY_HIGHEST);
  assert_contains(four->definition, "\"priority\":\"highest\"");
  assert_null(strstr(made.plan->cases[0].def.definition, "priority"));
}
