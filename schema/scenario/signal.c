/* A [[signal]]: its keys, their defaults, and the rules between them. */
#include "schema/scenario/block.h"
#include "schema/scenario/kind.h"

static bool signal_has_home(const void *work) {
  const struct signal *signal = &((const union work *)work)->signal;
  return signal_is_answered_by_gpu(signal) && signal->op != SIGNAL_EVENT;
}

static bool signal_is_of_many(const void *work) {
  return ((const union work *)work)->signal.op == SIGNAL_ATOMICS;
}

static const struct field signal_fields[] = {
    KIND_KEY(SIGNAL, "op", "op", WORDS(signal_op_names), SETTING(work.signal.op), .required = true,
             HELP("What is passed, there and back unless it is an addition\nflag: a value between "
                  "a kernel and a thread of the host, which both poll, or between kernels of two "
                  "GPUs\nstream: a value between a stream, which waits for it and writes one "
                  "(cuStreamWaitValue32, cuStreamWriteValue32), and a thread or a stream of "
                  "another GPU\nevent: two streams take turns; each waits for an event that the "
                  "other one has recorded\natomic: additions of 64 bits with system scope, each "
                  "after the answer of the one before\natomics: the same by many threads, without "
                  "answers. Over PCIe, additions of a GPU to host memory are atomic only among its "
                  "own threads; compute-sanitizer reports them")),
    KIND_KEY(SIGNAL, "at.gpu", NULL, .type = FIELD_GPUS, SETTING(at),
             HELP("GPUs that run the kernel or stream, numbered in the order of PCI addresses. "
                  "Default: all")),
    KIND_KEY(
        SIGNAL, "of.gpu", NULL, .type = FIELD_GPUS, SETTING(of),
        HELP("GPUs that answer, or whose memory the additions change. This may be the GPU itself")),
    KIND_KEY(SIGNAL, "of.numa", NULL, .type = FIELD_NODES, SETTING(of),
             HELP("NUMA nodes whose thread answers, or whose pinned memory the additions change. "
                  "Default: \"local\", the one nearest to the GPU")),
    KIND_KEY(SIGNAL, "of.process", NULL, COUNT(0, PEERS_MAX), SETTING(of.process),
             .default_text = "0",
             HELP("Process that answers, and that has the flags or the memory of the additions. 0: "
                  "the one that measures. Two processes take turns on one GPU. Therefore flags of "
                  "two processes need two GPUs, or a GPU and a thread. Events may use one GPU")),
    KIND_KEY(SIGNAL, "of.share", NULL, WORDS(share_names), SETTING(of.share),
             HELP("How memory of another process is opened, which decides its kind. In the process "
                  "that measures, only the kind counts" SHARE_LIST(
                      SHARE_HELP_) "\nEvents go by handles of cuIpcGetEventHandle")),
    KIND_KEY(SIGNAL, "flags", "flags", WORDS(signal_home_names), SETTING(work.signal.home),
             .default_text = "receiver", .applies = signal_has_home,
             HELP("Between GPUs, the memory of a flag: that of the GPU that waits for it "
                  "(receiver), or of the GPU that writes it (sender)")),
    KIND_KEY(SIGNAL, "rounds", "rounds", COUNT(1, SIGNAL_ROUNDS_MAX), SETTING(work.signal.rounds),
             HELP("Per iteration: rounds there and back, or additions of each thread. Default: "
                  "100, for streams and events 16. Maximum for streams 124, for events 64")),
    KIND_KEY(SIGNAL, "blocks", "kernel.grid", COUNT(1, 65535), SETTING(work.signal.blocks),
             .default_text = "128", .applies = signal_is_of_many,
             HELP("For atomics: number of blocks")),
    KIND_KEY(SIGNAL, "threads", "kernel.block", COUNT(1, 1024), SETTING(work.signal.threads),
             .default_text = "256", .applies = signal_is_of_many,
             HELP("For atomics: threads per block")),
    KIND_KEY(SIGNAL, "addresses", "addresses", COUNT(1, 65536), SETTING(work.signal.addresses),
             .default_text = "1", .applies = signal_is_of_many,
             HELP("For atomics: number of addresses, 128 bytes apart, that the threads share "
                  "evenly. With 1, all threads add to the same address")),
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
    .section = {SECTION_ROOT, "signal", true, "[[signal]]",
                "Signals: a flag or an event there and back, also between two processes, or atomic "
                "additions that the whole system sees. The time is that of one round or one "
                "addition. Flags count up, and each side waits for exactly the next value. haul "
                "reads all sums back. So a lost or repeated flag or addition makes the case fail. "
                "Events carry no value and are not verified."},
    .fields = signal_fields,
    .field_count = COUNT_OF(signal_fields),
    .finish = signal_finish,
    .check_keys = signal_check_keys,
};
