#!/usr/bin/env bash
# scenarios/nvbandwidth.toml end to end on the fake driver, at small sizes: every test is measured
# and verified, and what is shown can be found in the database again.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
skip_emulated 'has no NUMA, which cases remark'
fake_driver h200x4 || exit 77
small=(--set transfer.size=64KiB --set stream.size=64KiB --set measure.min_trial=20us --set measure.max_time=1ms
  --set measure.telemetry=off --set chase.hops=64 --set chase.footprint=32KiB)

begin 'all 44 tests on four GPUs'
run_ok run nvbandwidth "${small[@]}" --db four.db
expect_value 44 four.db "select count(distinct block) from v_case where status = 'ok'"
expect_value 0 four.db "select count(*) from v_case where status <> 'ok'"
expect_value 228 four.db "select count(*) from v_case"
expect_value 0 four.db "select count(*) from v_case where kind = 'transfer' and verified = 0"
expect_value 12 four.db "select count(*) from v_case where block = 'device_to_device_memcpy_read_ce' and initiator = 'target'"
expect_value 12 four.db "select count(*) from v_case where block = 'device_to_device_memcpy_write_sm' and initiator = 'source'"
expect_value 6 four.db "select count(*) from v_case where block = 'device_to_device_bidirectional_memcpy_read_sm' and flows = 2 and direction = 'both'"
expect_value '1 4 4' four.db "select count(*) || ' ' || flows || ' ' || loads from v_case where block = 'all_to_host_bidirectional_memcpy_ce'"
expect_value '4 3 0' four.db "select count(*) || ' ' || flows || ' ' || loads from v_case where block = 'all_to_one_read_sm'"
expect_value 1 four.db "select min(ns_per_hop) > 0 from v_case where block = 'host_device_latency_sm'"
expect_value 0 four.db "select count(*) from v_case where (stop in ('time', 'trials')) <> (noise is not null)"
equal 0 "$(awk 'length > 120' "$scratch/out" | wc -l)" 'lines of more than 120 columns'
equal 1 "$(wc -l <"$scratch/out" | awk '{ print $1 <= 150 }')" 'at most 150 lines'
expect_out '^Host to GPU +[0-9.-]+ GB/s'
expect_out '^GPU to GPU +[0-9.-]+ GB/s'
expect_out '^Within a GPU +[0-9.-]+ GB/s'
expect_out '^Latency +[0-9.-]+ ns from a GPU to host memory; [0-9.-]+ ns to another GPU'
expect_out '^all_to_host_memcpy_ce +gpu0\.\.3-numa0:pinned +[0-9.]+'
run_ok show --result latest --db four.db
expect_out '^host_to_device_memcpy_ce$'
expect_out '^64KiB by ce: GB/s from row to column$'
expect_out '^64KiB by ce: GB/s from column to row, while load runs beside it$'
expect_out '^64KiB by sm: both ways, total GB/s between row and column$'
expect_out '^gpu3 .* N/A$'
expect_out '^64KiB by ce: GB/s copied within each GPU$'
expect_out '^64KiB by sm \(bulk\): GB/s copied within each GPU$'
expect_value 12 four.db "select count(*) from v_case where block = 'device_to_device_latency_tma' and space = 'peer' and ns_per_hop > 0"
expect_value 8 four.db "select count(*) from v_case where block glob 'device_local_[rw]*_sm' and verified and operation in ('read', 'write')"
expect_out '^min [0-9.]+, mean [0-9.]+, max [0-9.]+ ns'
equal 0 "$(awk 'length > 100' "$scratch/out" | grep -vc '^min ')" 'lines of more than 100 columns'
equal 0 "$(grep -c '[[:space:]]$' "$scratch/out")" 'lines that end in blanks'
equal 0 "$(grep -c $'\033' "$scratch/out")" 'escape sequences in a file'

begin 'a number on screen is the median of its trials'
shown=$(sed -n '/^device_to_device_memcpy_read_sm$/,/^$/s/^gpu2 *[0-9.]* *\([0-9.]*\) .*/\1/p' "$scratch/out")
"$haul" query --db four.db --format csv "select gbps from v_trial where phase = 'measure' and status = 'ok'
  and case_name = 'device_to_device_memcpy_read_sm/gpu2-gpu1/64KiB' order by gbps" 2>/dev/null |
  tr -d '\r' | sed 1d >rates
median=$(awk '{ v[NR] = $1 } END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2; printf "%#.4g", m }' rates)
equal "$median" "$shown" 'cell of gpu2 to gpu1'

begin 'flows of their own and the time, with -v'
run_ok run nvbandwidth "${small[@]}" --only 'one_to_all_write_ce' -v --db flows.db
expect_out '^  gpu3-gpu2 +[0-9.]+$'
equal 16 "$(grep -c '^ *gpu' "$scratch/out")" 'cases and their flows'
for what in measuring verifying allocating preparing starting idle all; do
  expect_err "^$what +[0-9.]+ +[0-9.]+"
done

begin 'sums as nvbandwidth has them'
run_ok run nvbandwidth "${small[@]}" --only 'device_to_device_memcpy_read_ce' --sum --db sum.db
shown=$(awk '$1 == "SUM" && $2 == "device_to_device_memcpy_read_ce" { print $3 }' "$scratch/out")
expect_value 1 sum.db "select abs(sum(gbps) - $shown) <= 0.5 from v_run_case"
expect_out ': 12 cells, measured one after the other: not a total rate$'
run_ok report sum.html --sum --db sum.db
equal 1 "$(grep -c 'SUM device_to_device_memcpy_read_ce' sum.html)" 'sums on the page'
run run nvbandwidth --sum --json --db sum.db
expect_code 2

begin 'joules per GB of each method, from a counter that runs at 300 W'
run_ok run energy --set transfer.size=64KiB --only 'local/*' --set measure.telemetry=off --db energy.db
sqlite3 energy.db "insert into telemetry (run, gpu, at_ns, energy_mj)
  with recursive s(at) as (select min(started_at_ns) - 1000000 from case_run
    union all select at + 100000 from s where at < (select max(ended_at_ns) + 1000000 from case_run))
  select 1, 0, at, at * 3 / 10000 from s;
  -- As on a machine that has time: the next trial begins where one ends.
  update trial set elapsed_ns = coalesce((select n.start_ns - trial.start_ns from trial n
    where n.case_run = trial.case_run and n.ordinal = trial.ordinal + 1), elapsed_ns)"
run_ok query --saved energy --db energy.db --csv
equal 'ce vector bulk' "$(cut -d, -f2 <"$scratch/out" | tr -d '\r' | sed 1d | tr '\n' ' ' | sed 's/ $//')" 'methods'
equal 3 "$(awk -F, 'NR > 1 && $3 > 0 && $4 < $3 / 10 && $6 > 270 && $6 < 330' "$scratch/out" | wc -l)" 'methods at 300 W'
equal 1 "$(awk -F, '$2 == "ce" { print $5 + 0 }' "$scratch/out")" 'ce by ce'
equal 0 "$(awk -F, 'NR > 1 && $8 > 101' "$scratch/out" | wc -l)" 'methods that move for longer than the time'
# A counter of coarse steps may be as old as one of them; trials of which pauses are the most are no copies.
sqlite3 energy.db "update telemetry set energy_mj = energy_mj / 30 * 30;
  update trial set elapsed_ns = 1 where case_run = (select case_run from v_case where kernel_variant = 'bulk')"
run_ok query --saved energy --db energy.db --csv
equal 3 "$(awk -F, 'NR > 1 && ($4 > 0 || $3 == "")' "$scratch/out" | wc -l)" 'methods whose energy is not exact'
expect_out '^local,bulk,.*100 % of the time is between trials \(pauses\): its energy is in the number'
equal '' "$(awk -F, '$2 == "bulk" { print $5 }' "$scratch/out")" 'pauses by ce'

begin 'beside nvbandwidth, in turns: medians over the rounds, and what falls short'
cat >nvbandwidth <<END
#!/bin/sh
echo "\$*" >>calls
sed "s/\"54\\.6771\"/\"5\$(wc -l <calls).1\"/" '$source_folder/tests/data/nvbandwidth-0.8-4xH200.json'
END
chmod +x nvbandwidth
HAUL_FAKE_FAULTS=$source_folder/tests/fake_cuda/faults/half-speed-link.toml \
  bash "$source_folder/tests/benchmarks/beside_nvbandwidth.sh" -n 3 -t host_to_device_memcpy_ce -t device_local_copy \
  "$haul" ./nvbandwidth beside.db "${small[@]}" --set transfer.size=16MiB >out 2>err
equal '3 -j -t host_to_device_memcpy_ce device_local_copy' "$(sort calls | uniq -c | sed 's/^ *//')" 'calls'
equal '' "$(cat err)" stderr
equal 8 "$(sed 1d out | grep -cE ' 3\+3( |$)')" 'cells'
equal '52.1 3.84' "$(awk '/pinned-gpu0/ { print $3, $6 }' out)" 'median and spread over 51.1, 52.1 and 53.1'
expect_value 1 beside.db "select count(*) = 24 from v_case where tag = 'haul' and status = 'ok'"
equal 1 "$(grep -c 'pinned-gpu1 .* low$' out)" 'the slow link is low'
equal 0 "$(grep -c 'pinned-gpu0 .* low$' out)" 'another is not'

begin 'JSON has units in its keys'
run_ok run nvbandwidth "${small[@]}" --only 'device_to_device_latency_sm' --json --db json.db
equal 12 "$(grep -c '"ns_per_hop":[0-9.]' "$scratch/out")" 'latencies'
for key in size_bytes gbps gbps_low gbps_high percent_of_peak median_ns under_load; do
  expect_out "\"$key\":"
done

begin 'colours when they are asked for'
run_ok run nvbandwidth "${small[@]}" --only 'device_local_copy' --color=always --db colour.db
equal 1 "$(grep -c $'\033\[38;5;' "$scratch/out")" 'lines with heat'

begin 'what needs another GPU is skipped with its reason'
HAUL_FAKE_MACHINE=$source_folder/tests/machines/gh200.toml run_ok run nvbandwidth "${small[@]}" --db one.db
expect_out '^Skipped +22 of [0-9]+ cases: needs two GPUs, this machine has 1 \(haul query --saved skipped --db one\.db\)$'
expect_out '^all_to_host_memcpy_ce  .*  b$'
expect_out '^b  8 cases: Duplicate of another case, measured once\.$'
expect_out '^a  [0-9]+ cases: The loads moved [0-9.]+(-[0-9.]+)? GB/s each$'
expect_value 1 one.db "select count(*) > 0 and count(*) = count(gbps) from v_flow where role = 'load' and status = 'ok'"
expect_value 14 one.db "select count(distinct block) from v_case where status = 'ok'"
expect_out '^block +path +GB/s '
equal 1 "$(wc -l <"$scratch/out" | awk '{ print $1 <= 45 }')" 'at most 45 lines'

begin 'what needs the bulk copy engine is skipped where there is none'
run_says 3 '^ +16  the bulk copy engine needs compute capability 9\.0; the GPU has 8\.9$' \
  plan nvbandwidth --machine "$source_folder/tests/machines/l40sx4-pcie.toml" -t device_local_copy_tma device_to_device_latency_tma

begin 'eight GPUs are planned as the names say'
run_ok plan nvbandwidth --machine "$source_folder/tests/machines/h100x8-nvlink.toml" --format jsonl
equal 800 "$(wc -l <"$scratch/out")" 'cases'
equal 56 "$(grep -c '"case":"device_to_device_memcpy_write_ce/' "$scratch/out")" 'ordered pairs'
equal 28 "$(grep -c '"case":"device_to_device_bidirectional_memcpy_write_ce/' "$scratch/out")" 'pairs'

finish
