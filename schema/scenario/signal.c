/* A [[signal]]: its keys, their defaults, and the rules between them. */
#include "schema/scenario/kind.h"

static bool signal_has_home(const void *work) {
  const struct signal *signal = &((const union work *)work)->signal;
  return signal_is_answered_by_gpu(signal) && signal->op != SIGNAL_EVENT;
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
             "cuStreamWriteValue32), and a thread or a stream of another GPU; event: two streams "
             "in turn, each waits for an event that the other one has recorded; atomic: additions "
             "of 64 bits with system scope, each "
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
    KIND_KEY(
        SIGNAL, "of.process", NULL, COUNT(0, PEERS_MAX), SETTING(of.process), .default_text = "0",
        HELP("Process that answers and has the flags, or the memory that is added to: 0 is the "
             "one that measures. Two processes have a GPU by turns, so that flags go to "
             "another GPU or to a thread; events of one GPU do without")),
    KIND_KEY(SIGNAL, "of.share", NULL, WORDS(share_names), SETTING(of.share),
             HELP("How memory of another process is opened, which says of which kind it is; in the "
                  "process that measures, that kind alone" SHARE_LIST(
                      SHARE_HELP_) ". Events go by "
                                   "handles of cuIpcGetEventHandle")),
    KIND_KEY(SIGNAL, "flags", "flags", WORDS(signal_home_names), SETTING(work.signal.home),
             .default_text = "receiver", .applies = signal_has_home,
             HELP("Between GPUs, where a flag is: in the memory of the GPU that watches it, or of "
                  "the one that writes it")),
    KIND_KEY(SIGNAL, "rounds", "rounds", COUNT(1, SIGNAL_ROUNDS_MAX), SETTING(work.signal.rounds),
             HELP("Per iteration, times there and back, or additions of each thread; by default "
                  "100, of streams and events 16, at most 124 and 64")),
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

/* What is the same is not told apart. Events have no memory: their share is that of their handles.
 */
static void signal_finish_memory(struct endpoint_setting *of, enum signal_op op, bool share_given) {
  const bool gpu = of->place == PLACE_GPU;
  if (op == SIGNAL_EVENT) {
    of->memory = MEMORY_DEVICE;
  } else if (share_given) {
    of->memory = share_memory(of->share);
  } else {
    of->memory = gpu ? MEMORY_DEVICE : of->process != 0 ? MEMORY_SHARED : MEMORY_PINNED;
  }
  if (of->process == 0) {
    of->share = SHARE_IPC;
  } else if (op == SIGNAL_EVENT || !share_given) {
    of->share = share_usual(of->memory);
  }
}

static void signal_finish(const struct block *block, struct setting *setting) {
  struct signal *signal = &setting->work.signal;
  kind_finish_end(&setting->at, PLACE_GPU, SELECTOR_ALL);
  kind_finish_end(&setting->of, PLACE_NUMA, SELECTOR_LOCAL);
  setting->at.memory = MEMORY_DEVICE;
  signal->other.place = setting->of.place; /* for what keys apply to */
  signal_finish_memory(&setting->of, signal->op, slot_entry(block, 0, "of.share") != NULL);
  if (slot_entry(block, 0, "rounds") == NULL) {
    signal->rounds =
        signal->op == SIGNAL_STREAM || signal->op == SIGNAL_EVENT ? ROUNDS_OF_STREAM : ROUNDS_USUAL;
  }
  if (signal->op != SIGNAL_ATOMICS) {
    signal->blocks = signal->threads = signal->addresses = 0;
  }
  if (!signal_has_home(&setting->work)) {
    signal->home = SIGNAL_AT_RECEIVER;
  }
}

static void signal_check_keys(struct reader *reader, const struct block *block) {
  struct subject subject = {.reader = reader, .block = block};
  const struct entry *share = subject_find(&subject, "of.share");
  if (share != NULL && entries_are_read(&subject_slot(&subject)->entries, "of.")) {
    subject_check_share(&subject, share,
                        subject_find(&subject, "of.gpu") != NULL ? PLACE_GPU : PLACE_NUMA, "of");
  }
}

const struct scenario_kind scenario_kind_signal = {
    .section =
        {SECTION_ROOT, "signal", true, "[[signal]]",
         "Signals: a flag or an event there and back, also between two processes, or atomic "
         "additions that the whole system sees. "
         "The time is that of one round or one addition. Flags count up, and each side waits "
         "for the very next value; sums are read back whole: a flag or an addition that is lost or "
         "comes twice is no number. Events carry no value: they are not verified."},
    .fields = signal_fields,
    .field_count = sizeof signal_fields / sizeof *signal_fields,
    .finish = signal_finish,
    .check_keys = signal_check_keys,
};
