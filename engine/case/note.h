/* note.h - what the reader of a number must know about its case, as data: a kind, the GPU, amounts
 * and a name. The sentence of a kind stands in NOTE_KIND_LIST alone; v_note_kind in
 * schema/results/views_note.sql has the same list for SQL, and a test compares the two. */
#pragma once

#include "engine/base/enum_names.h"
#include "engine/base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

/* X(enum note_kind, name, slows, unit, sentence). slows: 1 = it may have slowed the case. unit: of
 * the amounts that differ between cases with the same note, "" = there are none. In a sentence
 * {place} stands for the GPU, or the host without one, {what} for the name, and {1} to {4} for
 * amounts; what follows the bar is left out where notes are grouped. */
#define NOTE_KIND_LIST(X)                                                                          \
  X(NOTE_REMARK, "remark", 0, "", "{what}") /* of a haul before schema 1.6 */                      \
  X(NOTE_SLOWED, "slowed", 1, "", "{what}") /* the same */                                         \
  X(NOTE_THROTTLED, "throttled", 1, "%", "{place} throttled by {what}| for {1} % of the time")     \
  X(NOTE_IN_USE, "in_use", 1, "%", "{place} in use by {what}|, {1} % busy")                        \
  X(NOTE_IN_USE_UNMEASURED, "in_use_unmeasured", 1, "", "{place} in use by {what}")                \
  X(NOTE_IN_USE_HIDDEN, "in_use_hidden", 1, "%",                                                   \
    "{place} in use by another program|, {1} % busy while this run left it idle")                  \
  X(NOTE_SHARED, "shared", 1, "", "{place} shared with another haul run, {what}")                  \
  X(NOTE_SHARED_UNNAMED, "shared_unnamed", 1, "", "{place} shared with another haul run")          \
  X(NOTE_PCIE_LINK, "pcie_link", 1, "",                                                            \
    "PCIe link of {place} at gen{1} x{2} instead of gen{3} x{4}")                                  \
  X(NOTE_LINK_ERRORS, "link_errors", 1, "errors", "{place} counted {what} during the case|: {1}")  \
  X(NOTE_IMPORTED, "imported", 0, "",                                                              \
    "imported: one value of nvbandwidth {what}, with buffers of {1} MiB unless -b was "            \
    "given")                                                                                       \
  X(NOTE_SCATTERED_TIME, "scattered_time", 0, "",                                                  \
    "the time includes submitting the copies: the host measures it from the call to the "          \
    "end")                                                                                         \
  X(NOTE_GATE_OFF, "gate_off", 0, "",                                                              \
    "the time includes enqueueing the copies: the scenario switched the gate off")                 \
  X(NOTE_BLOCKS_HOST, "blocks_host", 0, "",                                                        \
    "the time includes the driver's call, as the copies block the host")                           \
  X(NOTE_GATE_FULL, "gate_full", 0, "",                                                            \
    "the time includes driver calls if they are slower than the copies: a gate cannot "            \
    "hold so many copies of a stream")                                                             \
  X(NOTE_END_POLLED, "end_polled", 0, "ns",                                                        \
    "the host's clock times host threads and GPUs together|: a GPU's flow starts about 1 "         \
    "us late, and its end is seen up to {1} ns late")                                              \
  X(NOTE_LOAD_ENDED, "load_ended", 0, "", "the loads ended before the measured copies")            \
  X(NOTE_LOAD_PAUSED, "load_paused", 0, "",                                                        \
    "the loads paused at times: their copies end faster than the host enqueues more of them")      \
  X(NOTE_SERIALISED, "serialised", 0, "",                                                          \
    "the flows did not overlap all the time: their own rates add up to more than the "             \
    "total rate (v_flow has both)")                                                                \
  X(NOTE_CPU_CLOCK, "cpu_clock", 0, "GHz",                                                         \
    "the processor's clock changed during the case| ({1} to {2} GHz)")                             \
  X(NOTE_PLACING_TIMED, "placing_timed", 0, "",                                                    \
    "the time includes placing the memory on its NUMA node and faulting it in")                    \
  X(NOTE_WARM_UNPROVEN, "warm_unproven", 0, "",                                                    \
    "not proven that host caches were warm: reading back took as long as after a flush")           \
  X(NOTE_WARM_NO_FLUSH, "warm_no_flush", 0, "",                                                    \
    "not proven that host caches were warm: this processor has no instruction to flush "           \
    "them")                                                                                        \
  X(NOTE_FLUSH_UNPROVEN, "flush_unproven", 0, "",                                                  \
    "not proven that host caches were flushed: a reload took no longer after the flush")           \
  X(NOTE_NO_FLUSH, "no_flush", 0, "",                                                              \
    "host caches were not flushed: this processor has no instruction to flush them")               \
  X(NOTE_TRANSPARENT_PAGES, "transparent_pages", 0, "",                                            \
    "the memory is in transparent huge pages (2 MiB)")                                             \
  X(NOTE_RESERVED_PAGES, "reserved_pages", 0, "", "the memory is in reserved huge pages (2 MiB)")  \
  X(NOTE_NOT_PAGE_LOCKED, "not_page_locked", 0, "",                                                \
    "the memory is not page-locked, as there is no GPU")                                           \
  X(NOTE_PLACE_UNVERIFIED, "place_unverified", 0, "",                                              \
    "the memory's NUMA node was not verified: {what}")                                             \
  X(NOTE_OWN_PAGES, "own_pages", 0, "",                                                            \
    "no page moves: the source touches pages that it already has")                                 \
  X(NOTE_BOTH_TOUCH, "both_touch", 0, "",                                                          \
    "not verified where the pages are at the end: both processors touch them")                     \
  X(NOTE_READ_IN_PLACE, "read_in_place", 0, "",                                                    \
    "not verified that pages moved: this GPU can read host pages in place")                        \
  X(NOTE_DRIVERS_WORD, "drivers_word", 0, "",                                                      \
    "only the driver says where the managed pages are: the Linux kernel does not report "          \
    "it")                                                                                          \
  X(NOTE_PEER_PAGES, "peer_pages", 0, "",                                                          \
    "not verified that pages moved: nothing reports which of two GPUs has a touched page")         \
  X(NOTE_TOUCHED, "touched", 0, "",                                                                \
    "the rate counts all touched pages, also those that did not move")                             \
  X(NOTE_ALL_ON_HOST, "all_on_host", 0, "", "after a trial all pages were on the host as well")    \
  X(NOTE_NONE_ON_HOST, "none_on_host", 0, "", "after a trial no page was on the host any more")    \
  X(NOTE_SOME_ON_HOST, "some_on_host", 0, "", "after a trial some pages were still on the host")   \
  X(NOTE_ABOVE_PEAK, "above_peak", 0, "%",                                                         \
    "above the hardware's peak|: {1} % of it. A cache served the bytes, they did not move, "       \
    "or the peak is wrong. haul compares no such number.")                                         \
  X(NOTE_LOAD_RATE, "load_rate", 0, "GB/s", "the loads moved| {1} GB/s each")                      \
  X(NOTE_GREEN_CONTEXT, "green_context", 0, "SMs",                                                 \
    "the driver gave the green context of a kernel on {place} as many SMs as the "                 \
    "scenario asks for, or the next number that it can give|: {1}")                                \
  X(NOTE_L2_PARTS, "l2_parts", 0, "",                                                              \
    "the L2 cache has two parts|: {1} % of the lines near to {2} SMs, {3} % near to {4}")
/* above_peak and load_rate are made of a result when it is shown. */
ENUM_NAMES_DECLARE(note_kind, NOTE_KIND_LIST)
/* A set of kinds without amounts. */
#define NOTE_BIT(kind) (UINT64_C(1) << (kind))

enum { NOTE_AMOUNTS_MAX = 4, NOTE_WHAT_MAX = 160, NOTES_MAX = 16, NOTE_NO_GPU = -1 };

struct note {
  enum note_kind kind;
  int32_t gpu; /* NOTE_NO_GPU: of none */
  double amounts[NOTE_AMOUNTS_MAX];
  char what[NOTE_WHAT_MAX];
};

struct notes {
  uint32_t count;
  struct note items[NOTES_MAX];
};

/* One that is there already, or for which there is no room, is dropped. */
void notes_add(struct notes *notes, const struct note *note);
/* The kinds of a set, in the order of the list. */
void notes_add_kinds(struct notes *notes, uint64_t kinds);
bool notes_have(const struct notes *notes, enum note_kind kind);
bool note_slows(enum note_kind kind);
const char *note_unit(enum note_kind kind);
const char *note_sentence(enum note_kind kind);
/* How many amounts the sentence of that kind has. */
size_t note_amount_count(enum note_kind kind);
/* The sentence of a note. amounts: texts in place of its own, NULL = its own. */
void note_put_words(struct strbuf *text, const struct note *note,
                    const char *const amounts[NOTE_AMOUNTS_MAX]);
