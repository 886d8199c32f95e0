#!/usr/bin/env bash
# Comm|Scope's table and figures: planned for every recorded machine, measured at small sizes on the
# fake driver, and read back by the saved queries, as tables and as curves.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
fake_driver h200x4 || exit 77

figures=(fig02 fig06 fig07 fig08 fig09 fig10 fig11)
count() { grep -c "$1" "$scratch/out"; }

begin 'planned for every machine'
for machine in "$source_folder"/tests/machines/*.toml; do
  for scenario in comm-scope/table1 um-coherence "${figures[@]/#/comm-scope/}"; do
    run plan "$scenario" --machine "$machine" --format jsonl
    if grep -q '"skip_reason":null' out; then expect_code 0; else expect_code 3; fi
    reject_err 'error|warning'
    if [ "$(basename "$machine")" = no-gpu.toml ]; then
      equal 0 "$(grep -vc '"skipped":\|"skip_reason":"' "$scratch/out")" "cases of $scenario without a GPU"
    fi
  done
done

begin 'a remote node, where there is one'
run plan comm-scope/fig06 --machine "$source_folder/tests/machines/h200x4.toml"
expect_out 'no NUMA node is remote to GPU 0: node 0 is the only one'
expect_out '^81 cases, 26 of them skipped'
run plan comm-scope/fig06 --machine "$source_folder/tests/machines/h100x8-nvlink.toml"
expect_out '^pinned_to_gpu_remote +13 +numa1:registered-gpu0 +1KiB-16GiB'
expect_out '^94 cases; '

begin 'managed memory is a part of what the GPU has free'
run plan comm-scope/fig10 --machine "$source_folder/tests/machines/l40sx4-pcie.toml"
expect_out 'free_share = 0.25'
expect_out '^31 cases, 2 of them skipped'

small=(--set measure.max_time=1ms --set measure.min_trial=10us --set measure.trials.min=2
  --set measure.telemetry=off --set measure.settle_time=off)

begin 'all 28 are measured'
run_ok run comm-scope/table1 "${small[@]}" --set transfer.size=1MiB --db table.db
expect_value 28 table.db "select count(distinct block) from v_case where status = 'ok'"
expect_value 'demand_duplex_gpu demand_gpu_to_gpu' table.db "select group_concat(block, ' ') from
  (select distinct block from v_case where status <> 'ok' or verified = 0 order by block)"
expect_value 6 table.db "select count(*) from v_case where block = 'demand_duplex_gpu' and flows = 2 and direction = 'both'"
run_ok query --saved comm-scope-table1 --db table.db --format csv
equal 29 "$(grep -c '' "$scratch/out")" 'rows and the heading'
expect_out '^7,one way,"GPU to GPU, peer",12,'
expect_out '^10,both ways,"GPU and GPU, no peer",6,'
expect_out '^28,zero-copy,"GPU write, both ways",6,'

begin 'a table of one GPU says what it lacks'
HAUL_FAKE_MACHINE=$source_folder/tests/machines/gh200.toml run run comm-scope/table1 \
  "${small[@]}" --set transfer.size=1MiB --only '*gpu_to_gpu*' --db one.db
expect_code 3
run query --saved comm-scope-table1 --db one.db --format csv
expect_out '^7,one way,"GPU to GPU, peer",0,,,"skipped: needs two GPUs, this machine has 1"'
expect_out '^1,one way,pageable to GPU,,,,not in this run'
run_ok run comm-scope/fig11 "${small[@]}" --set measure.processes=1 --set transfer.size=64KiB --db none.db -q
run_ok query --saved comm-scope-table1 --db none.db --format csv
equal 1 "$(grep -c '' "$scratch/out")" 'lines of a table that was not measured'
expect_err 'comm-scope-table1 has no rows: it reads runs of the scenario comm-scope/table1; haul run comm-scope/table1 measures one'

begin 'a scenario with nothing to measure beside one that has something' # a GPU has no pair
for scenarios in "comm-scope/table1 comm-scope/fig08" comm-scope/fig08; do
  # shellcheck disable=SC2086
  HAUL_FAKE_MACHINE=$source_folder/tests/machines/gh200.toml run run $scenarios "${small[@]}" \
    --set transfer.size=1MiB --set measure.processes=1 --only 'gpu_to_pinned,gpu_to_gpu*' --db one.db
  case $scenarios in
  *table1*)
    expect_code 0
    expect_err 'comm-scope/fig08.toml has nothing to measure here: needs two GPUs, this machine has 1$'
    ;;
  *) expect_code 3 ;;
  esac
done

begin 'every figure is measured and read back'
once=(--set measure.processes=1)
sizes='["4KiB", "1MiB", "16MiB"]'
for figure in "${figures[@]}"; do
  threads=()
  [ "$figure" != fig10 ] || threads=(--set 'demand_gpu_to_host.size=1MiB' --set 'demand_gpu_to_host.unified.threads=[1, 2]')
  run_ok run "comm-scope/$figure" "${small[@]}" "${once[@]}" --set "transfer.size=$sizes" "${threads[@]}" --db fig.db -q
  expect_value 0 fig.db "select count(*) from v_case where scenario = 'comm-scope-$figure' and status not in ('ok', 'skipped')"
  measured=$(value fig.db "select count(*) from v_run_case where scenario = 'comm-scope-$figure' and status = 'ok'")
  number=$((10#${figure#fig}))
  run_ok query --saved comm-scope-figure --param "figure=$number" --db fig.db --format csv
  equal "$measured" "$(($(grep -c '' "$scratch/out") - 1))" "points of $figure"
  run_ok query --saved comm-scope-figure --db fig.db --plot
  expect_out '^ *GB/s$'
  if [ "$(wc -L <"$scratch/out")" -le 80 ]; then good; else bad 'a line of more than 80 columns'; fi
done
run query --saved comm-scope-figure --param figure=10 --db fig.db --plot
equal 2 "$(count 'to the')" 'plots of figure 10'
expect_out '^ +host threads$'
run query --saved comm-scope-figure --param figure=2 --db fig.db --plot
expect_out '^  a  pinned_to_gpu warm( \(behind others\))?$'
expect_out '^  d  pageable_to_gpu flushed$'
run query --saved comm-scope-figure --param figure=7 --db fig.db --format csv
equal 3 "$(count '^figure 7,duplex_pageable,"local, two threads",')" 'points of two threads'
equal 3 "$(count '^figure 7,duplex_pinned,"local, back to back",')" 'points of copies back to back'
expect_value 0 fig.db "select count(*) from v_case where block not like '%repeated' and status = 'ok' and iterations <> 1"

run_error 2 "there is no saved query \"comm-scope-fig02\" \(did you mean \"comm-scope-figure\"\?\): haul list queries lists all [0-9]+\$" query --saved comm-scope-fig02 --db fig.db

begin 'a figure of an older run'
run run comm-scope/fig11 "${small[@]}" "${once[@]}" --set transfer.size=64KiB --db fig.db -q --tag later
run query --saved comm-scope-figure --param figure=11 --db fig.db --format csv
equal 3 "$(grep -c '' "$scratch/out")" 'points of the latest run'
run query --saved comm-scope-figure --param figure=11 --db fig.db --format csv --param run=previous
equal 7 "$(grep -c '' "$scratch/out")" 'points of the run before'

begin 'a figure in parts, which share a tag'
for sizes in '["4KiB", "16KiB"]' '["16KiB", "64KiB"]'; do
  run_ok run comm-scope/fig11 "${small[@]}" "${once[@]}" --set "transfer.size=$sizes" --only 'pinned_to_gpu/*' --db parts.db -q --tag parts
done
run_ok query --saved comm-scope-figure --db parts.db --format csv
equal 4 "$(grep -c '' "$scratch/out")" 'each size once'
run_ok tag latest other --db parts.db -q
run_ok query --saved comm-scope-figure --db parts.db --format csv
equal 3 "$(grep -c '' "$scratch/out")" 'sizes of the latest run alone'

verdict() { # SECTION BEGINNING-OF-CLAIM
  tr -d '\r' <"$scratch/out" | awk -F '\t' -v s="$1" -v c="$2" '$1 == s && index($2, c) == 1 { print $3 }'
}
claims() { # DB [OPTION...]
  local db=$1
  shift
  "$haul" query --saved comm-scope-claims --db "$db" "$@" --json 2>"$scratch/err" |
    tr -d '\n' | sed 's/},/}\n/g' |
    sed -n 's/.*"section": *"\([^"]*\)", *"claim": *"\([^"]*\)", *"verdict": *"\([^"]*\)".*/\1\t\2\t\3/p' >"$scratch/out"
}

begin 'the claims, on what the fake driver does'
run_ok run comm-scope/table1 "${small[@]}" --only '*p[ia][ng]*/*gpu0*' --db fig.db -q
claims fig.db
equal 22 "$(grep -c '' "$scratch/out")" claims
equal holds "$(verdict 4.1 'pinned memory is faster')" 'pinned above pageable'
equal holds "$(verdict 4.1 'pinned, both ways')" 'both ways near twice one way'
# Copies of pageable memory block the host, so that real time is in how far two of them overlap.
if verdict 4.1 'pageable, both ways' | grep -Eqx 'holds|does not hold|too noisy to tell'; then good; else bad 'pageable both ways was not tested'; fi
equal holds "$(verdict 4.3 'GPU to GPU')" 'peer above staged'
equal holds "$(verdict 4.4 'zero-copy reads are near')" 'zero-copy near ce'
equal holds "$(verdict 4.5 'pages on demand can beat copies from')" 'demand against pageable'
equal 'does not hold' "$(verdict 4.7 'prefetch is far below')" 'prefetch against pinned'
equal 'does not hold' "$(verdict 2.2.4 'flushing host caches changes copies of pinned')" 'flush'
equal 'cannot be tested here' "$(verdict 4.2 'pinned memory of the local')" 'locality on one node'
equal 'not measured' "$(verdict 4.4 'zero-copy reads drop')" 'sizes that were not measured'
run query --saved comm-scope-claims --db fig.db --format csv
expect_out '^4\.2,.*no NUMA node is remote to GPU 0: node 0 is the only one'
expect_out '^4\.4,zero-copy reads drop.*not measured at 16GiB: haul run comm-scope/fig09'
expect_out '^4\.1,"?pinned, both ways.* GB/s = [12]\.[0-9]+ at 64MiB.*; claimed of each: above 1\.6"?,1,.?$'
expect_out '^2\.2\.4,flushing host caches changes copies of pinned.*; claimed of any: below 0\.8 or above 1\.25"?,1,.?$'
claims fig.db --param 'tag=no such*'
equal 22 "$(grep -c 'not measured' "$scratch/out")" 'claims without a run'

begin 'five processes, and their standard deviation'
HAUL_FAKE_FAULTS=$faults/noise.toml run_ok run comm-scope/fig11 "${small[@]}" --set transfer.size=64KiB --db sd.db -q
expect_value 5 sd.db 'select max(process) + 1 from v_case'
run_ok query --saved comm-scope-figure --db sd.db --format jsonl
expect_out '"series":"pinned_to_gpu".*"processes":5,"interval":"sd"'
query_sd=$(sed -n 's/.*"series":"pinned_to_gpu".*"sd":\([0-9.e-]*\).*/\1/p' "$scratch/out")
query_width=$(sed -n 's/.*"series":"pinned_to_gpu".*"low":\([0-9.]*\),"high":\([0-9.]*\).*/\1 \2/p' "$scratch/out")
rates=$(value sd.db "select group_concat(gbps, ' ') from v_case where block = 'pinned_to_gpu'")
if awk -v sd="$query_sd" -v width="$query_width" -v rates="$rates" 'BEGIN {
  n = split(rates, x); for (i = 1; i <= n; i++) m += x[i] / n
  for (i = 1; i <= n; i++) s += (x[i] - m) ^ 2 / (n - 1)
  split(width, w); d = sqrt(s) - sd; e = w[2] - w[1] - 2 * sd
  exit !(n == 5 && sd > 0 && d ^ 2 < 1e-8 && e ^ 2 < 1e-8)
}'; then good; else bad "standard deviation $query_sd, error bar $query_width, rates $rates"; fi

begin 'a processor beside the memory, and one that is not'
export HAUL_FAKE_MACHINE=$source_folder/tests/machines/h100x8-nvlink.toml
scenario pin '' \
  'pageable | { numa = "local", memory = "pageable" } | { gpu = [0, 7] } | "16MiB" | cpu = ["local", "remote", "any", 1]' \
  'staged | { gpu = 0 } | { gpu = 1 } | "16MiB" | peer = false; cpu = ["local", "remote"]'
run_ok run pin.toml "${small[@]}" --db pin.db -q
for block in pageable staged; do
  expect_value 0.6 pin.db "select round(min(gbps) / max(gbps), 2) from v_case where block = '$block'"
  expect_value remote pin.db "select group_concat(DISTINCT substr(axes, 5)) from v_case where block = '$block' and gbps < 0.9 * (select max(gbps) from v_case where block = '$block')"
done
expect_value 2 pin.db "select count(*) from plan_alias where run = 1" # cpu = 1: remote from GPU 0, local to GPU 7
expect_value 0 pin.db "select count(*) from v_case where cpus is null or cpus not glob '[0-9]*'"
taskset -c 0 "$haul" run pin.toml "${small[@]}" --only 'staged/*local*' --db pin.db -q >/dev/null 2>&1
expect_value 0 pin.db "select cpus from v_case where run = 2"

begin 'near and far GPUs, and a remote node'
for figure in fig08 fig10; do
  run_ok run "comm-scope/$figure" "${small[@]}" "${once[@]}" --set 'transfer.size=["1MiB", "64MiB"]' \
    --only gpu_to_gpu_peer --only 'demand_host*' --db near.db -q
done
run query --saved comm-scope-claims --db near.db --format csv
expect_out '^4.2,"GPU to GPU, near pairs.*linked alike: 478.1 GB/s each'
claims near.db
equal holds "$(verdict 4.6 'pages on demand: a remote')" 'a remote node of the fake machine'

begin 'claims about links that differ and the last-level cache'
sqlite3 near.db "update plan_case set peak_bytes_per_second = peak_bytes_per_second / 3 where bench_case in (select id from bench_case where name glob 'gpu_to_gpu_peer/gpu0-gpu[4-7]/*')"
slower() { # DB FACTOR CASE: a glob
  sqlite3 "$1" "update case_run set median_ns = $2 * median_ns, median_low_ns = $2 * median_low_ns, median_high_ns = $2 * median_high_ns, min_ns = $2 * min_ns, max_ns = $2 * max_ns where bench_case in (select id from bench_case where name glob '$3')"
}
for db in fig near; do
  sqlite3 $db.db "insert or replace into environment_fact select id, 'cpu_caches', -1, 'ok', 'L1d 48 KiB, L2 2 MiB, L3 1 MiB shared by 8 processors' from environment"
  claims $db.db
  if [ $db = fig ]; then
    equal 'does not hold' "$(verdict 2.2.4 'copies of pageable memory are faster')" 'pageable and no cache'
    slower fig.db 9 'pageable_to_gpu/*16MiB'
  else
    equal 'does not hold' "$(verdict 4.6 'pages on demand: the node matters most')" 'both nodes alike'
    equal 'does not hold' "$(verdict 4.6 'pages on demand are faster')" 'demand and no cache'
    slower near.db 3 'demand_host_to_gpu_remote/*/1MiB'
    slower near.db 9 'demand_host_to_gpu*64MiB'
    equal 'does not hold' "$(verdict 4.2 'GPU to GPU, near pairs')" 'fewer links, but as fast'
    slower near.db 3 'gpu_to_gpu_peer/gpu0-gpu[4-7]/*'
  fi
  claims $db.db
done
equal holds "$(verdict 4.2 'GPU to GPU, near pairs')" 'fewer links, and slower'
equal holds "$(verdict 4.6 'pages on demand: the node matters most')" 'most at the size of the cache'
equal holds "$(verdict 4.6 'pages on demand are faster')" 'demand from the cache'
claims fig.db
equal holds "$(verdict 2.2.4 'copies of pageable memory are faster')" 'pageable from the cache'
for interval in 'median_low_ns = median_ns / 100, median_high_ns = 100 * median_ns' \
  'median_low_ns = null, median_high_ns = null, min_ns = median_ns / 100, max_ns = 100 * median_ns'; do
  sqlite3 fig.db "update case_run set $interval where bench_case in (select id from bench_case where name glob 'pageable_to_gpu/*')"
  claims fig.db
  equal 'too noisy to tell' "$(verdict 4.1 'pinned memory is faster')" 'pinned against what may be anything'
done

begin 'claims: the size that decides, the side that was not measured'
slower fig.db 9 'pinned_to_gpu/*/host_cache=flushed/4KiB'
sqlite3 fig.db "update run set status = 'interrupted' where scenario = (select id from scenario where name = 'comm-scope-fig02')"
run query --saved comm-scope-claims --db fig.db --format csv
expect_out '^2\.2\.4,flushing host caches changes copies of pinned memory,holds,.* at 4KiB; .*, 1 of 3 sizes; .*,1,comm-scope-fig02.?$'
expect_out '^4\.1,pageable to GPU is no faster.*,1,.?$'
sqlite3 near.db "update case_run set status = 'failed', reason = 'no memory' where bench_case in (select id from bench_case where name glob 'demand_host_to_gpu/*/64MiB')"
run query --saved comm-scope-claims --db near.db --format csv
expect_out '^4\.5,pages on demand can beat copies from .*not measured from 1MiB to 16GiB: haul run comm-scope/table1'
export HAUL_FAKE_MACHINE=$source_folder/tests/machines/h200x4.toml

begin 'unified-memory coherence'
run_ok run um-coherence "${small[@]}" --set 'transfer.size=["64KiB", "1MiB"]' --db um.db -q
run query --saved um-coherence --db um.db --format csv
equal 41 "$(grep -c '' "$scratch/out")" 'rows of 12 + 4 + 4 pairs and the heading'
expect_out '^GPUToGPU,gpu3,gpu2,1048576,,,,nothing proves that the pages moved,[0-9.]+'
expect_out '^HostToGPU,numa0,gpu0,65536,[0-9.]+,'
expect_value 0 um.db "select count(*) from v_run_case where source_place = target_place and peak_gbps is not null"
# Here the GPU reads the pages where they are.
HAUL_FAKE_MACHINE=$source_folder/tests/machines/gh200.toml run_ok run um-coherence "${small[@]}" \
  --set transfer.size=1MiB --db gh.db -q
run query --saved um-coherence --db gh.db --format csv
expect_out '^HostToGPU,numa0,gpu0,1048576,,,,nothing proves that the pages moved,[0-9.]+'
run query --saved comm-scope-table1 --db table.db --format csv
expect_out '^15,demand,GPU to GPU,12,,,nothing proves that the pages moved'

begin 'replay: flows of a CSV file, one after the other' # figure 1
printf '%s\n' 'name,from.numa,to.gpu,from.gpu,to.numa,size,count' 'batch,local,0,,,1MiB,3' 'loss,,,0,local,4,2' >mix.csv
run_ok run replay --only 'training_step/*' "${small[@]}" --set training_step.from_csv=mix.csv --db mix.db
expect_out '^several sizes by ce: GB/s of both ways \(--\) together, over one window'
expect_value '2 5 3145736' mix.db "select count(*) || ' ' || sum(copies) || ' ' || sum(size_bytes * copies)
  from v_flow where case_name like '%/stream=1/stream_order=file'"
expect_value 1 mix.db "select sum(share) between 0.9 and 1.001 from v_flow where case_name like '%/stream=1/stream_order=shuffled'"
# What runs beside others takes no part of the time.
expect_value 0 mix.db "select count(*) from v_flow where share > 1.001 or (stream is null) <> (share is null)"
expect_value 1 mix.db "select count(*) > 0 from v_flow where stream is null"
expect_value 0 mix.db "select sum(serialised) from v_case where case_name like '%/stream=1/%'"
run_ok show --scenario 1 --db mix.db
expect_out '^count = 3$'
reject_out 'csv'
run_error 2 'from_csv "none.csv": cannot open the file' plan replay --set training_step.from_csv=none.csv

begin 'curves below the result'
run_ok run comm-scope/fig08 "${small[@]}" "${once[@]}" --set 'transfer.size=["4KiB", "1MiB"]' --db plot.db --plot -q
equal 3 "$(count '^ *GB/s$')" plots
expect_out '^  c  gpu0-gpu3$'
run query --saved curves --db plot.db --plot=semilog --param block='*no_peer'
equal 1 "$(count '^ *GB/s$')" plots
run_ok run "$source_folder/tests/cli/small.toml" --set transfer.size=64KiB --db plot.db --plot -q
expect_out 'nothing to draw: no block is a sweep'
LC_ALL=C run query --saved curves --db plot.db --plot --param run=previous
equal 0 "$(LC_ALL=C grep -c '[^ -~]' "$scratch/out")" 'characters beyond ASCII'
run_error 2 'a column of numbers for x' query --db plot.db --plot 'select 1 as one'
run_fails 2 'unknown scale "logarithmic".*: one of log, semilog, linear' query --db plot.db --plot=logarithmic 'select 1 as one'
run_fails 2 'cannot be combined with --format json' query --db plot.db --plot --json 'select 1 as one'

begin 'a touch that moves no page is no rate of a link'
run_ok run um-access "${small[@]}" --set transfer.size=1MiB --only 'advice_by_gpu*' --db um.db -q
run_ok query --saved um-access --db um.db --format jsonl
equal 5 "$(count 'one byte per page is touched and counts as the page, moved or not: no rate of a link')" 'rows but the first'
reject_out 'no rate of a link; pages count|; ;'

finish
