#include "runner/record/selector.h"
#include "tests/runner/record/fixture.h"

#include "engine/base/clock.h"
#include "engine/case/work.h"
#include "engine/machine/machine.h"
#include "runner/record/database.h"
#include "runner/record/manage.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

FIXTURE_TEST(run_is_recorded_completely) {
  fixture_record_run(fixture, 2);
  assert_query(fixture,
               "select count(*) from v_run where status = 'done' and cases = 6 and "
               "skipped = 1 and ok = 10 and planned = 10 and not_ok = 0 and checks_failed = 1 and "
               "simulated = 1 and driver_version = '580.159.04' and tag = 'nightly'",
               "1");
  assert_query(fixture, "select count(*) from v_case", "11");
  assert_query(fixture, "select count(*) from v_trial", "500");
  assert_query(fixture, "select seed from run", "18446744073709551615");
  assert_query(fixture,
               "select count(*) from v_case where status = 'skipped' and process is null "
               "and reason = 'GPU 0 has no managed memory' and median_ns is null",
               "1");
  assert_query(fixture,
               "select count(*) from v_run_case where status = 'skipped' and n = 0 and "
               "processes = 0 and gbps is null",
               "1");
  assert_query(fixture,
               "select group_concat(direction, ' ') from (select direction from v_case "
               "where process = 0 order by position)",
               "host_to_device both host_to_host");
  assert_query(fixture, "select state || value from environment_fact where name = 'microcode'",
               "deniednot readable");
  assert_query(fixture, "select count(*) from link where bytes_per_second = 478000000000", "2");
  assert_query(fixture, "pragma integrity_check", "ok");
  assert_query(fixture, "select count(*) from pragma_foreign_key_check", "0");
}

FIXTURE_TEST(summaries_follow_from_the_trials) {
  fixture_record_run(fixture, 3);
  /* Median and minimum recomputed in SQL, over the measured trials that are ok. */
  assert_query(fixture,
               "with t as (select case_run, ns, row_number() over w as i, "
               "    count(*) over (partition by case_run) as n "
               "  from v_trial where phase = 'measure' and status = 'ok' "
               "  window w as (partition by case_run order by ns)), "
               "m as (select case_run, avg(ns) as median, count(*) as used, max(n) as n "
               "  from t where 2 * i between n and n + 2 group by case_run) "
               "select count(*) from v_case c join m on m.case_run = c.case_run "
               "where c.n = 47 and m.n = 47 and abs(m.median - c.median_ns) < 1e-6 * m.median",
               "15");
  assert_query(fixture,
               "select count(*) from v_case c where abs(gbps * median_ns - payload_bytes) < 1e-3 "
               "and gbps_p5 < gbps and gbps < gbps_p95 and gbps_low < gbps and gbps < gbps_high",
               "9");
  assert_query(fixture,
               "select count(*) from v_case where kind = 'chase' and gbps is null and "
               "abs(ns_per_hop - median_ns / 1000) < 1e-6 and source_place = 'numa' and "
               "target_place = 'gpu'",
               "3");
  assert_query(fixture,
               "select count(*) from v_case where case_name like 'h2d%' and "
               "abs(percent_of_peak - 100 * gbps / 63.015384615) < 1e-9",
               "3");
  /* The process whose median is in the middle is the run's. */
  assert_query(fixture,
               "select count(*) from v_run_case r where processes = 3 and n = 141 and "
               "median_ns = (select c.median_ns from v_case c where c.case_key = "
               "r.case_key order by c.median_ns limit 1 offset 1)",
               "5");
  assert_query(fixture,
               "select count(*) from v_case where kind = 'overhead' and gbps is null and "
               "operation = 'kernel_launch' and gpu = 1 and target_place = 'gpu' and "
               "source_place is null and size_bytes is null",
               "3");
}

FIXTURE_TEST(flows_have_separate_times) {
  fixture_record_run(fixture, 1);
  assert_query(fixture, "select count(*) from v_flow where case_name like 'd2d%' and n = 47", "2");
  assert_query(fixture,
               "select a.median_ns - b.median_ns from v_flow a join v_flow b on "
               "a.case_run = b.case_run and a.flow = 0 and b.flow = 1",
               "250.0");
  assert_query(fixture,
               "select count(*) from v_flow f join v_case c on c.case_run = f.case_run "
               "where c.flows = 1 and f.median_ns = c.median_ns",
               "2");
  assert_query(fixture, "select count(*) from flow_trial", "100");
}

/* On another GPU's clock: no moment after the window's start, and no reason to lose the trial. */
FIXTURE_TEST(unknown_start_is_not_a_number) {
  struct record *record = fixture_start(fixture);
  const struct case_report *report = fixture_report(fixture, 0, 1, 10);
  for (size_t i = 0; i < report->flow_trial_count; i++) {
    fixture->flow_trials[i].start_ns = fixture->flow_trials[i].flow == 1 ? UINT64_MAX : 7;
  }
  assert_ok(record_case(record, &fixture->plan, report, err), err);
  assert_ok(record_write_due(record, RECORD_GROUP_NS, err), err);
  record_close(record);
  assert_query(fixture, "select group_concat(distinct start_ns) from flow_trial where flow = 1",
               "-1");
  assert_query(fixture, "select group_concat(distinct start_ns) from flow_trial where flow = 0",
               "7");
}

FIXTURE_TEST(noise_is_recorded_where_there_is_any) {
  struct record *record = fixture_start(fixture);
  struct case_report report = *fixture_report(fixture, 0, 0, 10);
  assert_ok(record_case(record, &fixture->plan, &report, err), err);
  report = *fixture_report(fixture, 0, 1, 10);
  report.noise = "dips";
  report.noise_size = 0.25;
  report.noise_ns = 4000;
  assert_ok(record_case(record, &fixture->plan, &report, err), err);
  assert_ok(record_write_due(record, RECORD_GROUP_NS, err), err);
  record_close(record);
  assert_query(
      fixture,
      "select group_concat(ifnull(noise, 'none') || ' ' || ifnull(noise_size, '-') || ' ' "
      "|| ifnull(noise_ns, '-')) from (select * from case_run where status = 'ok' order by id)",
      "none - -,dips 0.25 4000.0");
}

/* haul env RUN and the page of a run draw it. */
FIXTURE_TEST(the_machine_of_a_run_is_read_back) {
  struct machine *machine = fixture->machine;
  machine->links[0][1] = (struct gpu_link){false, 12, UINT64_C(318000000000)};
  machine->node_distance[1][0] = 31;
  machine_add_fact(machine, "memory_node", 1, FACT_OK, "3");
  fixture_record_run(fixture, 1);
  SCOPED(database_close_at) struct database *database = fixture_open(fixture, DATABASE_READ);
  SCOPED(memory_free) struct machine *read = memory_new(1, sizeof *read);
  assert_ok(run_machine_read(database, 1, read, err), err);
  assert_string_equal(read->host_name, machine->host_name);
  assert_int_equal(read->gpu_count, 2);
  assert_int_equal(read->node_count, 2);
  for (uint32_t i = 0; i < 2; i++) {
    const struct gpu *gpu = &read->gpus[i];
    assert_string_equal(gpu->uuid, machine->gpus[i].uuid);
    assert_string_equal(gpu->pci_address, machine->gpus[i].pci_address);
    assert_true(gpu->memory_bytes == machine->gpus[i].memory_bytes);
    assert_int_equal(gpu->memory_node, i == 0 ? -1 : 3);
    assert_int_equal(read->nodes[i].number, i);
    assert_int_equal(read->nodes[i].cpu_count, 32);
    for (uint32_t j = 0; j < 2; j++) {
      assert_int_equal(read->node_distance[i][j], machine->node_distance[i][j]);
      if (i != j) {
        assert_int_equal(read->links[i][j].peer_access, machine->links[i][j].peer_access);
        assert_int_equal(read->links[i][j].nvlink_count, machine->links[i][j].nvlink_count);
        assert_true(read->links[i][j].bytes_per_second == machine->links[i][j].bytes_per_second);
      }
    }
  }
  assert_int_equal(read->fact_count, machine->fact_count);
}

FIXTURE_TEST(telemetry_is_joined_to_the_case) {
  fixture_record_run(fixture, 1);
  assert_query(fixture,
               "select count(*) from v_case where gpu = 1 and sm_clock_mhz = 1980.0 and "
               "power_w = 350.0 and temperature_c = 45.0",
               "2");
  assert_query(fixture, "select count(*) from telemetry where memory_clock_khz is null", "5");
  assert_query(fixture,
               "select count(*) from v_case where direction = 'host_to_host' and "
               "sm_clock_mhz is null",
               "1");
}

/* Another version of haul may say in other words why a fact is unavailable. */
FIXTURE_TEST(words_of_a_reason_make_no_other_environment) {
  fixture_record_run(fixture, 1);
  fixture_set_fact(fixture, "microcode", "cannot be read"); /* its state is "denied" */
  fixture_record_run(fixture, 1);
  assert_query(fixture, "select count(*) from environment", "1");
  static const char *const STATES[] = {"no driver", "no NVIDIA driver"};
  for (size_t i = 0; i < COUNT_OF(STATES); i++) {
    (void)snprintf(fixture->machine->cuda_state, sizeof fixture->machine->cuda_state, "%s",
                   STATES[i]);
    fixture_record_run(fixture, 1);
    assert_query(fixture, "select count(*) from environment", "2");
  }
}

/* One of a version whose keys contained the words: the next run adds a row, and that is all. */
FIXTURE_TEST(an_environment_with_another_key_is_the_same_machine) {
  fixture_record_run(fixture, 1);
  fixture_execute(fixture->path, "update environment set key = printf('%032d', 1)");
  fixture_execute(fixture->path, "update environment_fact set value = 'in other words' "
                                 "where name = 'microcode'");
  fixture_record_run(fixture, 1);
  fixture_record_run(fixture, 1);
  assert_query(fixture, "select count(*) from environment", "2");
  assert_query(fixture, "select group_concat(runs) from v_host", "3");
  assert_query(fixture, "select group_concat(DISTINCT runs) from v_card", "3");
  assert_query(fixture, "select group_concat(DISTINCT runs) from v_fact_seen", "3");
  assert_query(fixture, "select group_concat(DISTINCT runs) from v_driver", "3");
}

FIXTURE_TEST(equal_content_is_stored_once) {
  fixture_record_run(fixture, 1);
  fixture->machine->gpus[0].free_memory_bytes = 12345; /* changes by itself */
  fixture_record_run(fixture, 1);
  assert_query(fixture, "select count(*) from environment", "1");
  fixture_set_fact(fixture, "driver_version", "590.1.2");
  fixture->scenario.name = "other";
  fixture_record_run(fixture, 1);
  assert_query(fixture, "select count(*) from environment", "2");
  assert_query(fixture, "select count(*) from scenario", "2");
  assert_query(fixture, "select count(*) from bench_case", "6");
  assert_query(fixture, "select count(*) from v_driver where case_name like 'h2d%'", "2");
  assert_query(fixture,
               "select runs || ' ' || processes from v_driver where case_name like 'h2d%' "
               "and driver_version = '580.159.04'",
               "2 2");
}

FIXTURE_TEST(keys_do_not_change) {
  fixture_record_run(fixture, 1);
  /* A key that moves would break every merge with an older database. This one was computed
   * apart: the netstrings of name, description, text and resolved text, through XXH3-128. */
  assert_query(fixture, "select key from scenario", "e29afa32309e8d5bf8320deda6a265d2");
}

FIXTURE_TEST(failures_are_recorded) {
  struct record *record = NULL;
  assert_ok(fixture_begin(fixture, &record, err), err);
  const struct case_report *report = fixture_report(fixture, 0, 0, 0);
  assert_int_equal(record_case(record, &fixture->plan, report, err), STATUS_INVALID);
  assert_ok(record_process_started(record, 0, 1, err), err);
  assert_ok(record_process_started(record, 0, 2, err), err);
  fixture->outcome.status = CASE_CRASHED;
  (void)snprintf(fixture->outcome.reason, sizeof fixture->outcome.reason, "killed by signal 9");
  assert_ok(record_case(record, &fixture->plan, report, err), err);
  assert_ok(record_end_run(record, "interrupted", "Ctrl-C", err), err);
  record_close(record);
  assert_query(fixture,
               "select status || reason || n || ifnull(median_ns, '-') from v_case where "
               "process = 0",
               "crashedkilled by signal 90-");
  assert_query(fixture, "select workers || ' ' || pid from process", "2 2");
  assert_query(fixture, "select status || reason from v_run", "interruptedCtrl-C");
}

/* Cases in a group are not on disk before the group is; whatever writes next takes them along. */
FIXTURE_TEST(small_cases_are_written_together) {
  struct record *record = fixture_start(fixture);
  const uint64_t start_ns = clock_now_ns();
  fixture_record_case(fixture, record, 0, 10);
  fixture_record_case(fixture, record, 1, 10);
  assert_ok(record_write_due(record, 0, err), err);
  if (clock_now_ns() - start_ns < RECORD_GROUP_NS) {
    assert_query(fixture, "select count(*) from case_run where status = 'ok'", "0");
  }
  assert_ok(record_write_due(record, RECORD_GROUP_NS, err), err); /* a long case begins */
  assert_query(fixture, "select count(*) from case_run where status = 'ok'", "2");
  assert_query(fixture, "select count(*) from trial", "20");
  assert_query(fixture, "select count(*) from flow_trial", "20");
  fixture_record_case(fixture, record, 3, 10);
  assert_ok(record_end_run(record, "done", NULL, err), err);
  size_t counts[case_status_name_count];
  assert_ok(record_count_outcomes(record, counts, err), err);
  assert_int_equal(counts[CASE_OK], 3);
  assert_int_equal(counts[CASE_SKIPPED], 1);
  record_close(record);
  assert_query(fixture, "select count(*) from trial", "30");
}

/* The others of its group are kept and counted, and the end of the run is written as well. */
FIXTURE_TEST(a_refused_case_takes_no_other_along) {
  static const size_t CASES[] = {0, 0, 1}; /* a case a second time is refused */
  struct record *record = fixture_start(fixture);
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    fixture_record_case(fixture, record, CASES[i], 10);
  }
  assert_int_not_equal(record_write_due(record, RECORD_GROUP_NS, err), STATUS_OK);
  assert_contains(err->message, "2 cases were recorded and are kept");
  assert_ok(record_end_run(record, "failed", err->message, err), err);
  record_close(record);
  assert_query(fixture, "select count(*) || ' ' || count(distinct case_run) from trial", "20 2");
  assert_query(fixture, "select status from v_run", "failed");
}

/* The report as of a further visit, of which ten trials are new. Sessions count visits anew. */
static const struct case_report *later_visit(struct fixture *fixture, uint32_t visit,
                                             struct visits_found *found) {
  enum { TRIALS = 10 };
  (void)fixture_report(fixture, 0, 1, TRIALS * (visit + 1));
  for (uint32_t i = TRIALS; i < TRIALS * (visit + 1); i++) {
    fixture->trials[i].visit = i / TRIALS;
    fixture->trials[i].elapsed_ns *= 2;
  }
  *found = (struct visits_found){.settled = SETTLED_YES,
                                 .visits = visit + 1,
                                 .undisturbed_ns = 1e6,
                                 .low_ns = 9e5,
                                 .high_ns = 2e6,
                                 .disturbed_share = 0.25,
                                 .disturbed_most = 1};
  fixture->report.visit = 1;
  fixture->report.recorded_trials = TRIALS * visit;
  fixture->report.recorded_flow_trials = 2 * TRIALS * visit;
  fixture->report.visits = found;
  return &fixture->report;
}

/* Interrupted between two visits of case 1, which has two flows. */
FIXTURE_TEST(visits_go_on_after_a_resume) {
  struct record *record = fixture_start(fixture);
  struct visits_found found = {.settled = SETTLED_BUDGET, .visits = 1};
  const char *key = fixture->cases[1].def.key;
  (void)fixture_report(fixture, 0, 1, 10);
  fixture->report.visits = &found;
  assert_ok(record_case(record, &fixture->plan, &fixture->report, err), err);
  assert_ok(record_end_run(record, "interrupted", NULL, err), err);
  record_close(record);
  assert_query(fixture,
               "select visits || settled || ifnull(undisturbed_gbps, '-') from v_run_case where "
               "settled is not null",
               "1budget-");

  record = fixture_resume(fixture, NULL);
  struct visits_read read = {0};
  assert_false(record_read_visits(record, 1, key, &read));
  assert_true(record_read_visits(record, 0, key, &read));
  assert_int_equal(read.trial_count, 10);
  assert_int_equal(read.flow_trial_count, 20);
  for (size_t i = 0; i < 10; i++) {
    assert_int_equal(read.trials[i].ordinal, i);
    assert_int_equal(read.trials[i].status, fixture->trials[i].status);
    assert_int_equal(read.trials[i].elapsed_ns, fixture->trials[i].elapsed_ns);
    assert_int_equal(read.trials[i].start_ns - read.trials[0].start_ns,
                     fixture->trials[i].start_ns - fixture->trials[0].start_ns);
    assert_int_equal(read.flow_trials[2 * i].elapsed_ns, fixture->flow_trials[2 * i].elapsed_ns);
  }
  visits_read_fini(&read);
  assert_ok(record_process_started(record, 0, 2, err), err);
  assert_ok(record_case(record, &fixture->plan, later_visit(fixture, 1, &found), err), err);
  assert_ok(record_process_ended(record, 0, err), err);
  assert_false(record_read_visits(record, 0, key, &read));
  assert_ok(record_end_run(record, "done", NULL, err), err);
  record_close(record);
  assert_query(fixture,
               "select visits || settled || disturbed_percent || ' ' || disturbed_slower_percent "
               "from v_run_case where settled is not null",
               "2settled25.0 50.0");
  assert_query(fixture, "select count(*) from case_run where status = 'ok'", "1");
  assert_query(fixture, "select group_concat(visit, '') from v_trial", "00000000001111111111");
  assert_query(fixture, "select count(*) from flow_trial", "40");
  /* The middle between the two visits, of which the second took twice as long. */
  assert_query(fixture, "select round(median_ns / 1.8e6, 1) from case_run where n > 0", "1.0");
}

/* Interrupted after a further visit with a note; the next one has it again, and another. */
FIXTURE_TEST(notes_of_visits_go_on_after_a_resume) {
  static const struct note IN_USE = {.kind = NOTE_IN_USE_UNMEASURED, .what = "a program"};
  static const struct note SHARED = {.kind = NOTE_SHARED_UNNAMED, .gpu = NOTE_NO_GPU};
  struct record *record = fixture_start(fixture);
  struct visits_found found = {.settled = SETTLED_BUDGET, .visits = 1};
  struct notes slowed = {0};
  notes_add(&slowed, &IN_USE);
  (void)fixture_report(fixture, 0, 1, 10);
  fixture->report.visits = &found;
  assert_ok(record_case(record, &fixture->plan, &fixture->report, err), err);
  (void)later_visit(fixture, 1, &found);
  fixture->report.slowed = &slowed;
  assert_ok(record_case(record, &fixture->plan, &fixture->report, err), err);
  assert_ok(record_end_run(record, "interrupted", NULL, err), err);
  record_close(record);

  record = fixture_resume(fixture, NULL);
  assert_ok(record_process_started(record, 0, 2, err), err);
  slowed.count = 0;
  notes_add(&slowed, &SHARED);
  notes_add(&slowed, &IN_USE);
  (void)later_visit(fixture, 2, &found);
  fixture->report.slowed = &slowed;
  assert_ok(record_case(record, &fixture->plan, &fixture->report, err), err);
  assert_ok(record_end_run(record, "done", NULL, err), err);
  record_close(record);
  assert_query(fixture, "select max(visit) + 1 from v_trial", "3");
  assert_query(fixture,
               "select group_concat(kind, ' ') from (select kind from case_note order by ordinal)",
               "in_use_unmeasured shared_unnamed");
}

/* Its scenario asks for so many trials: nothing was to be settled, but others may be visited again.
 */
FIXTURE_TEST(a_case_with_a_number_of_trials_is_read_after_a_resume) {
  struct record *record = fixture_start(fixture);
  struct visits_found found = {.settled = SETTLED_NOT, .visits = 1};
  (void)fixture_report(fixture, 0, 1, 10);
  fixture->report.visits = &found;
  assert_ok(record_case(record, &fixture->plan, &fixture->report, err), err);
  assert_ok(record_end_run(record, "interrupted", NULL, err), err);
  record_close(record);

  record = fixture_resume(fixture, NULL);
  struct visits_read read = {0};
  assert_true(record_read_visits(record, 0, fixture->cases[1].def.key, &read));
  assert_int_equal(read.trial_count, 10);
  visits_read_fini(&read);
  record_close(record);
}

FIXTURE_TEST(interrupted_run_is_resumed) {
  struct resumed_run resumed = {0};
  fixture->info.only = "h*";
  struct record *record = fixture_start(fixture);
  fixture_record_case(fixture, record, 0, 10);
  assert_ok(record_write_due(record, RECORD_GROUP_NS, err), err);
  PRINTED(uuid, 33, "%s", record_run_uuid(record));
  assert_int_equal(strlen(uuid), 32);
  assert_int_equal(uuid[12], '7');
  record_close(record); /* as if killed: the run is still "running" */

  assert_ok(record_open(fixture->path, &record, err), err);
  assert_ok(record_resume_find(record, uuid, &resumed, err), err);
  assert_string_equal(resumed.uuid, uuid);
  assert_string_equal(resumed.only, "h*");
  assert_string_equal(resumed.scenario_text, fixture->scenario.resolved);

  fixture_set_fact(fixture, "driver_version", "590.1.2");
  assert_fails(record_resume_run(record, &resumed, fixture->machine, &fixture->plan, err),
               STATUS_INVALID, err, "driver_version was 580.159.04 and is now 590.1.2");
  fixture_set_fact(fixture, "driver_version", "580.159.04");
  const char *name = fixture->cases[3].def.name;
  fixture->cases[3].def.name = "host/other";
  assert_fails(record_resume_run(record, &resumed, fixture->machine, &fixture->plan, err),
               STATUS_INVALID, err, "host/other is new");
  fixture->cases[3].def.name = name;

  assert_ok(record_resume_run(record, &resumed, fixture->machine, &fixture->plan, err), err);
  assert_ok(record_continue_run(record, NULL, 0, err), err);
  assert_string_equal(record_run_uuid(record), uuid);
  assert_true(record_has_case(record, 0, fixture->cases[0].def.key));
  assert_false(record_has_case(record, 1, fixture->cases[0].def.key));
  assert_false(record_has_case(record, 0, fixture->cases[1].def.key));
  assert_true(record_has_case(record, 1, fixture->cases[FIXTURE_SKIPPED].def.key));
  assert_ok(record_process_started(record, 0, 2, err), err);
  fixture_record_case(fixture, record, 1, 10);
  /* The same case twice is refused, and leaves nothing behind. */
  assert_ok(record_write_due(record, RECORD_GROUP_NS, err), err);
  fixture_record_case(fixture, record, 1, 10);
  assert_int_not_equal(record_write_due(record, RECORD_GROUP_NS, err), STATUS_OK);
  assert_contains(err->message, "1 cases were recorded and are kept");
  assert_ok(record_end_run(record, "done", NULL, err), err);
  assert_false(resumed.complete);
  assert_ok(record_resume_find(record, "latest", &resumed, err), err);
  assert_true(resumed.complete && resumed.all_ok);
  fixture_execute(fixture->path, "update run set reason = '1 GPU does not answer'");
  assert_ok(record_resume_find(record, "latest", &resumed, err), err);
  assert_true(resumed.complete && !resumed.all_ok);
  resumed_run_fini(&resumed);
  record_close(record);
  assert_query(fixture, "select ok || ' ' || status from v_run", "2 done");
  assert_query(fixture, "select count(*) from trial", "20");
}

/* In a child that may write no more than so many bytes to a file. */
FIXTURE_TEST(full_disk_keeps_recorded_cases) {
  fixture_record_run(fixture, 1); /* the schema is there */
  pid_t child = fork();
  if (child == 0) {
    struct rlimit limit = {800 << 10, 800 << 10};
    struct record *record = NULL;
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    if (fixture_begin(fixture, &record, err) != STATUS_OK) {
      _exit(1);
    }
    enum status status = STATUS_OK;
    for (uint32_t process = 0; process < 40; process++) {
      status = THEN(status, record_process_started(record, process, 1, err));
      status =
          THEN(status, record_case(record, &fixture->plan,
                                   fixture_report(fixture, process, 0, FIXTURE_TRIALS_MAX), err));
    }
    char run[sizeof "run:" + RUN_UUID_MAX];
    (void)snprintf(run, sizeof run, RUN_NAME, record_run_uuid(record));
    bool clear = status == STATUS_IO && strstr(err->message, fixture->path) != NULL &&
                 strstr(err->message, "no room for more") != NULL &&
                 strstr(err->message, run) != NULL;
    if (!clear) {
      fprintf(stderr, "%s: %s\n", status_text(status), err->message);
    }
    record_close(record);
    _exit(clear ? 0 : 2);
  }
  int result = 0;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_int_equal(result, 0);
  assert_query(fixture, "pragma integrity_check", "ok");
  assert_query(fixture, "select count(*) > 1 from v_case where run = 2 and status = 'ok'", "1");
  assert_query(fixture,
               "select count(*) from (select count(*) as n from trial t join case_run c on "
               "c.id = t.case_run where c.run = 2 group by t.case_run) where n <> 4096",
               "0");
}

FIXTURE_TEST(killed_writer_leaves_complete_cases) {
  int ready[2];
  assert_int_equal(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    struct record *record = NULL;
    bool ok = fixture_begin(fixture, &record, err) == STATUS_OK;
    for (uint32_t process = 0; ok; process++) {
      ok = record_process_started(record, process, 1, err) == STATUS_OK &&
           record_case(record, &fixture->plan,
                       fixture_report(fixture, process, 0, FIXTURE_TRIALS_MAX), err) == STATUS_OK &&
           record_write_due(record, RECORD_GROUP_NS, err) == STATUS_OK &&
           write(ready[1], "x", 1) == 1;
    }
    _exit(1);
  }
  char byte;
  for (int i = 0; i < 3; i++) {
    assert_int_equal(read(ready[0], &byte, 1), 1);
  }
  (void)usleep(3000); /* into the next case */
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitpid(child, NULL, 0), child);
  (void)close(ready[0]);
  (void)close(ready[1]);

  /* A reader plays the journal back. */
  database_close(fixture_open(fixture, DATABASE_READ));
  assert_query(fixture, "pragma integrity_check", "ok");
  assert_query(fixture, "select count(*) >= 3 from v_case where process is not null", "1");
  assert_query(fixture,
               "select count(*) from (select count(*) as n from trial group by case_run) "
               "where n <> 4096",
               "0");
}

FIXTURE_TEST(two_writers_take_turns) {
  pid_t children[2];
  for (int i = 0; i < 2; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      fixture_record_run(fixture, 5);
      _exit(0);
    }
  }
  for (int i = 0; i < 2; i++) {
    int result = 0;
    assert_int_equal(waitpid(children[i], &result, 0), children[i]);
    assert_int_equal(result, 0);
  }
  assert_query(fixture, "select count(*) from v_run where ok = 25 and status = 'done'", "2");
  assert_query(fixture, "select count(*) from environment", "1");
  assert_query(fixture, "pragma integrity_check", "ok");
}

/* The fixture's first case becomes a stream, its fourth arithmetic, its fifth a chase through
 * shared memory; all count cycles. */
static void make_microbenchmarks(struct fixture *fixture) {
  struct case_def *stream = &fixture->cases[0].def;
  *stream = (struct case_def){.kind = CASE_STREAM,
                              .key = stream->key,
                              .block = "stream",
                              .name = "stream/gpu1/1MiB",
                              .path = "gpu1",
                              .payload_bytes = 3 << 20,
                              .traffic_bytes = 3 << 20,
                              .limit = LIMIT_DRAM,
                              .peak_bytes_per_second = UINT64_C(4814000000000),
                              .work = &fixture->works[0]};
  fixture->works[0].stream =
      (struct stream){.op = STREAM_TRIAD,
                      .type = NUMBER_F32,
                      .memory = {.place = PLACE_GPU, .index = 1, .memory = MEMORY_DEVICE},
                      .size_bytes = 1 << 20,
                      .passes = 1,
                      .block = 256,
                      .grid = STREAM_GRID_FULL,
                      .clock = STREAM_CLOCK_CYCLES};
  struct case_def *arithmetic = &fixture->cases[3].def;
  *arithmetic = (struct case_def){.kind = CASE_ARITHMETIC,
                                  .key = arithmetic->key,
                                  .block = "arithmetic",
                                  .name = "arithmetic/gpu1",
                                  .path = "gpu1",
                                  .operations = 512,
                                  .operations_per_sm = 262144,
                                  .work = &fixture->works[3]};
  fixture->works[3].arithmetic = (struct arithmetic){.op = ARITHMETIC_FMA,
                                                     .type = NUMBER_F32,
                                                     .measure = ARITHMETIC_THROUGHPUT,
                                                     .gpu = 1,
                                                     .ilp = 4,
                                                     .block = 512,
                                                     .grid = 132,
                                                     .instructions = 512};
  struct case_def *chase = &fixture->cases[4].def;
  fixture->works[4].chase.space = CHASE_SHARED;
  fixture->works[4].chase.memory = endpoint_own(PLACE_GPU, 0, MEMORY_DEVICE);
  fixture->works[4].chase.threads = 32;
  chase->operations = 1000;
  fixture_define(fixture);
}

static void record_with_cycles(struct fixture *fixture) {
  static const size_t CASES[] = {0, 3, 4};
  fixture->info.processes = 1;
  SCOPED(record_close_at) struct record *record = fixture_start(fixture);
  struct error err = {0};
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    const struct case_report *report = fixture_report(fixture, 0, CASES[i], 50);
    fixture->outcome.clock = CLOCK_KERNEL;
    for (size_t k = 0; k < report->trial_count;
         k++) { /* two cycles a ns; a warm-up does not count */
      fixture->trials[k].cycles = k == 0 ? 1 : 2 * fixture->trials[k].elapsed_ns;
    }
    assert_ok(record_case(record, &fixture->plan, report, &err), &err);
  }
  assert_ok(record_process_ended(record, 0, &err), &err);
  assert_ok(record_end_run(record, "done", NULL, &err), &err);
}

FIXTURE_TEST(microbenchmarks_are_in_the_views) {
  make_microbenchmarks(fixture);
  record_with_cycles(fixture);
  assert_query(fixture,
               "select operation || ' ' || number_type || ' ' || source_place || source_index || "
               "' ' || target_index || ' ' || gpu || ' ' || size_bytes || ' ' || payload_bytes || "
               "' ' || block_threads || ' ' || grid_blocks || ' ' || passes || ' ' || limited_by "
               "from v_case where kind = 'stream' and percent_of_peak > 0 and threads is null",
               "triad f32 gpu1 1 1 1048576 3145728 256 full 1 dram");
  assert_query(fixture,
               "select operation || ' ' || number_type || ' ' || measure || ' ' || ilp || ' ' || "
               "block_threads || ' ' || grid_blocks || ' ' || gpu || ' ' || operations "
               "from v_case where kind = 'arithmetic' and gbps is null",
               "fma f32 throughput 4 512 132 1 512");
  assert_query(fixture,
               "select space || ' ' || block_threads || ' ' || grid_blocks || ' ' || "
               "(cache is null) from v_case where kind = 'chase'",
               "shared 32 1 1");
  /* The median of cycles is that of the times here, but for what is left out of both. */
  assert_query(fixture,
               "select count(*) from v_case where process is not null and kind in ('stream', "
               "'arithmetic', 'chase') and abs(median_cycles - 2 * median_ns) < 1e-6 and "
               "abs(kernel_clock_mhz - 2000) < 1e-6",
               "3");
  assert_query(fixture,
               "select count(*) from v_case where kind = 'arithmetic' and "
               "abs(cycles_per_op * 512 - median_cycles) < 1e-6 and "
               "abs(ns_per_op * 512 - median_ns) < 1e-6 and "
               "abs(ops_per_clock_sm * median_cycles - 262144) < 1e-6",
               "1");
  assert_query(fixture,
               "select count(*) from v_run_case r join v_case c using (run, case_name) where "
               "r.kind = 'arithmetic' and abs(r.ops_per_clock_sm - c.ops_per_clock_sm) < 1e-9 and "
               "abs(r.cycles_per_op - c.cycles_per_op) < 1e-9",
               "1");
  assert_query(fixture,
               "select count(*) from v_trial where block = 'arithmetic' and trial > 0 and "
               "abs(cycles_per_op - 2 * ns / 512) < 1e-6",
               "49");
  assert_query(fixture,
               "select count(*) from v_run_case where median_cycles is null and kind in "
               "('stream', 'arithmetic', 'chase')",
               "0");
}
