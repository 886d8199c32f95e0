/* A [[signal]]: its keys, their defaults, and the rules between them. */
#include "schema/scenario/kind.h"

static bool signal_has_home(const void *work) {
  const struct signal *signal = &((const union work *)work)->signal;
  return signal->op == SIGNAL_FLAG && signal->other.place == PLACE_GPU;
}

static bool signal_is_of_many(const void *work) {
  return ((const union work *)work)->signal.op == SIGNAL_ATOMICS;
}

static const struct field signal_fields[] = {
    KIND_KEY(
        SIGNAL, "op", "op", WORDS(signal_op_names), SETTING(work.signal.op), .required = true,
        HELP("What is passed; flag: a value there and back between a kernel and a thread of "
             "the host, which both poll, or between kernels of two GPUs; stream: the same "
             "with a stream that waits for a value and writes one (cuStreamWaitValue32, "
             "cuStreamWriteValue32); atomic: additions of 64 bits with system scope, each "
             "after the answer of the one before; atomics: by many threads, without answers. Over "
             "PCIe a GPU's additions to the host's memory are atomic among its own threads, not "
             "beside those of processors; compute-sanitizer reports them")),
    KIND_KEY(SIGNAL, "at.gpu", NULL, .type = FIELD_GPUS, SETTING(at),
             HELP("GPUs whose kernel or stream it is, numbered in the order of PCI addresses; by "
                  "default all")),
    KIND_KEY(SIGNAL, "of.gpu", NULL, .type = FIELD_GPUS, SETTING(of),
             HELP("GPUs that answer, or whose memory is added to, the GPU's own too")),
    KIND_KEY(SIGNAL, "of.numa", NULL, .type = FIELD_NODES, SETTING(of),
             HELP("NUMA nodes whose thread answers, or whose pinned memory is added to; by default "
                  "\"local\", the one nearest to the GPU")),
    KIND_KEY(SIGNAL, "flags", "flags", WORDS(signal_home_names), SETTING(work.signal.home),
             .default_text = "receiver", .applies = signal_has_home,
             HELP("Between GPUs, whose memory has a flag: that of the GPU that polls it, or of the "
                  "one that writes it")),
    KIND_KEY(SIGNAL, "rounds", "rounds", COUNT(1, SIGNAL_ROUNDS_MAX), SETTING(work.signal.rounds),
             HELP("Per iteration, times there and back, or additions of each thread; by default "
                  "100, of a stream 16, at most 124")),
    KIND_KEY(SIGNAL, "blocks", "kernel.grid", COUNT(1, 65535), SETTING(work.signal.blocks),
             .default_text = "128", .applies = signal_is_of_many,
             HELP("Of atomics: number of blocks")),
    KIND_KEY(SIGNAL, "threads", "kernel.block", COUNT(1, 1024), SETTING(work.signal.threads),
             .default_text = "256", .applies = signal_is_of_many,
             HELP("Of atomics: threads per block")),
    KIND_KEY(SIGNAL, "addresses", "addresses", COUNT(1, 65536), SETTING(work.signal.addresses),
             .default_text = "1", .applies = signal_is_of_many,
             HELP("Of atomics: different addresses, 128 bytes apart, that the threads share "
                  "evenly; with 1 all of them add to the same")),
};

enum { ROUNDS_USUAL = 100, ROUNDS_OF_STREAM = 16 };

static void signal_finish(const struct block *block, struct setting *setting) {
  struct signal *signal = &setting->work.signal;
  kind_finish_end(&setting->at, PLACE_GPU, SELECTOR_ALL);
  kind_finish_end(&setting->of, PLACE_NUMA, SELECTOR_LOCAL);
  setting->at.memory = MEMORY_DEVICE;
  setting->of.memory = setting->of.place == PLACE_GPU ? MEMORY_DEVICE : MEMORY_PINNED;
  if (slot_entry(block, 0, "rounds") == NULL) {
    signal->rounds = signal->op == SIGNAL_STREAM ? ROUNDS_OF_STREAM : ROUNDS_USUAL;
  }
  if (signal->op != SIGNAL_ATOMICS) {
    signal->blocks = signal->threads = signal->addresses = 0;
  }
  if (signal->op != SIGNAL_FLAG) {
    signal->home = SIGNAL_AT_RECEIVER;
  }
}

const struct scenario_kind scenario_kind_signal = {
    .section =
        {SECTION_ROOT, "signal", true, "[[signal]]",
         "Signals: a flag there and back, or atomic additions that the whole system sees. "
         "The time is that of one round or one addition. Flags count up, and each side waits "
         "for the very next value; sums are read back whole: a signal that is lost or comes "
         "twice is no number."},
    .fields = signal_fields,
    .field_count = sizeof signal_fields / sizeof *signal_fields,
    .finish = signal_finish,
};
