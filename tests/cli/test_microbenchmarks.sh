#!/usr/bin/env bash
# Streams, loads, instructions and calls on the fake driver, from their scenarios to the queries
# that print their tables, and which GPU made a run.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
fake_driver gh200 || exit 77
small=(--set measure.max_time=1ms --set measure.trials.min=1 --set measure.trials.max=2
  --set measure.warmup=0 --set measure.min_trial=1us --db results.db)

# Run a shipped scenario with less to do, then its query, which must give that many rows.
reproduce() { # SCENARIO 'QUERY=ROWS...' [--set ...]
  local scenario=$1 queries=$2
  shift 2
  begin "$scenario"
  run_ok run "$scenario" "${small[@]}" "$@"
  local said query
  said=$(grep 'next: haul query --saved ' err)
  equal 0 "$(value results.db "select count(*) from v_case where status not in ('ok', 'skipped')
    and run = (select max(run) from v_run)")" 'cases that went wrong'
  for query in $queries; do
    [[ "$said" =~ [\ ,]"${query%=*}"([\ ,\;]|$) ]] || bad "the run does not point to $query: '$said'"
    case $query in
      driver-calls=* | pinning=* | graphs=* | kv-map=* | allocators=* | l2-parts=* | stream-best=* | *-conflicts=* | arithmetic-latency=* | memory-capacity=*)
        run_error 2 'a table without curves; --plot draws: ' query --saved "${query%=*}" \
          --db results.db --plot
        ;;
      *)
        run_ok query --saved "${query%=*}" --db results.db --plot
        expect_out '^  a  '
        run_ok query --saved "${query%=*}" --db results.db --plot --format svg
        expect_out '^<path class="line c0 d0" d="M[0-9]'
        ;;
    esac
    run_ok query --saved "${query%=*}" --db results.db --format csv
    equal "${query#*=}" "$(($(wc -l <"$scratch/out") - 1))" "rows of $query"
  done
}

reproduce grid-sweep grid-sweep=15 --set stream.size=64KiB
expect_out '^gpu0,100000,[0-9.]+,'
reproduce stream 'stream=72 stream-best=15 stream-sequence=32' --set threads.size=64KiB \
  --set 'alone_elements.size={ from = "1KiB", to = "64KiB", factor = 2 }' --set alone.size=64KiB \
  --set 'elements.size={ from = "1KiB", to = "64KiB", factor = 2 }' --set best.size=64KiB \
  --set 'sequence_elements.size={ from = "1KiB", to = "64KiB", factor = 2 }' --set sequence.size=64KiB \
  --set host.size=64KiB
# Beside every rate in sequence stands that of the operation alone.
equal 32 "$(grep -Ec '^gpu0,(best|simple),[0-9]+,[a-z]+,[0-9.]+,,,[0-9.]+,,,[0-9.]+,-?[0-9.]+,all three' out)" \
  'operations in sequence and alone'
# Blocks of a fake GPU are alike, whatever their threads; then as an H200 was: past the knee they move less again.
run_ok query --saved microbenchmark-claims --db results.db --format csv
expect_out 'twice the threads per block move more until 95 % of the best is reached,(does not hold|holds|cannot be tested here),'
cp results.db knee.db
sqlite3 knee.db "update case_run set median_ns = 1e6 * (SELECT CASE s.block WHEN 512 THEN 1.1 WHEN 1024 THEN 1.2
    ELSE 256.0 / s.block END FROM stream s WHERE s.bench_case = case_run.bench_case)
  where bench_case in (select bench_case from plan_case p join bench_case b on b.id = p.bench_case where b.block = 'threads')"
run_ok query --saved microbenchmark-claims --db knee.db --format csv
expect_out 'until 95 % of the best is reached,holds,.* = 2\.00 on gpu0, claimed at least 1'
sqlite3 knee.db "update case_run set median_ns = 1.5 * median_ns where bench_case in
  (select bench_case from stream s join bench_case b on b.id = s.bench_case where b.block = 'threads' and s.block = 8)"
run_ok query --saved microbenchmark-claims --db knee.db --format csv
expect_out 'until 95 % of the best is reached,holds,.* = 1\.33 on gpu0'
sqlite3 knee.db "update case_run set median_ns = 1.5 * median_ns where bench_case in
  (select bench_case from stream s join bench_case b on b.id = s.bench_case where b.block = 'threads' and s.block = 8)"
run_ok query --saved microbenchmark-claims --db knee.db --format csv
expect_out 'until 95 % of the best is reached,does not hold,.* = 0\.89 on gpu0'
reproduce shared-memory-latency 'shared-memory-latency=28 shared-memory-conflicts=6' \
  --set chase.hops=8 --set 'l2.threads=[1, 32, 1024]'
# The fake driver's banks: 23 cycles, and 2 more for each further thread.
equal 'gpu0,32-way,85,62,2' "$(tail -n 1 out | tr -d '\r')" 'the last row of shared-memory-conflicts'
reproduce shared-cache-scaling shared-cache-scaling=360 --set stream.passes=1 \
  --set stream.size=8KiB --set l1.size=4KiB
expect_out '^gpu0,l1,4096,256,48,'
reproduce arithmetic-latency 'arithmetic-throughput=6 arithmetic-latency=4' \
  --set arithmetic.instructions=512 --set 'throughput.grid=2' --set 'integer.grid=1' --set occupancy.grid=1
expect_out '^gpu0,f64,([0-9.]+,){5}[0-9.]+'
# The latency of add3, not the cycles of its throughput.
expect_out '^gpu0,i32,([0-9.]+,){6}4\.[0-9]+,[0-9.]+'
# An SM of the fake driver does 128 operations of any type per clock, but for starting.
expect_value 1 results.db "select count(*) from v_case where kind = 'arithmetic'
  and block = 'throughput' and number_type = 'f32' and operation = 'fma'
  and ops_per_clock_sm between 100 and 130"
reproduce memory-hierarchy 'memory-hierarchy=113 memory-capacity=3' --set chase.hops=64 \
  --set 'l2.footprint=["8MiB", "16MiB", "48MiB", "56MiB", "72MiB", "80MiB", "88MiB", "96MiB"]' \
  --set 'l1.footprint=["32KiB", "64KiB", "192KiB", "208KiB", "224KiB", "256KiB", "288KiB", "320KiB"]' \
  --set 'hierarchy.footprint={ from = "4KiB", to = "4MiB", factor = 2 }' \
  --set 'strided.footprint={ from = "4KiB", to = "4MiB", factor = 2 }'
# Caches of 213 KiB, of 28 KiB beside the largest shared memory, and of 60 MiB, between two footprints measured.
expect_out '^gpu0,l1,[0-9.]+,[0-9.]+,212992,16384,'
expect_out '^gpu0,l1 smallest,[0-9.]+,[0-9.]+,28672,4096,'
expect_out '^gpu0,l2,[0-9.]+,[0-9.]+,58720256,16777216,.*,62914560'
reproduce cache-bandwidth l2-parts=1 --only 'l2_parts' --set l2_parts.footprint=64KiB --set l2_parts.hops=16
expect_out '^gpu0,278\.[0-9]+,309\.[0-9]+,293\.'
expect_out ',66,[0-9.]+,66,'
reproduce fingerprint fingerprint=2 --set stream.size=4KiB
expect_out '^[0-9]+,.*,1,one_thread'

# A quarter of 132 SMs, by the kernel's blocks and in a green context, which gets SMs in pairs.
begin 'a kernel beside a copy'
run_ok run interference "${small[@]/results.db/share.db}" --only 'share_beside_host_out/*sm_percent=25/*ce*' \
  --set share_beside_host_out.size=512KiB --set share_beside_host_out.load.size=64KiB
run_ok query --saved interference --db share.db --format csv
expect_out ',25,green_context,.*,34'
reject_out ',25,blocks,.*,34'

# On a machine with two GPUs of its own database: what additions take of their link, if each is a packet of 32 bytes, and which
# copies share an engine (of the fake driver none).
begin 'additions beside the rate of their link, and pairs of copies'
(
  fake_driver h200x4
  exec "$haul" run signals "${small[@]/results.db/two.db}" --only 'atomics_*/gpu0-*' --only 'copy_*/gpu0-*'
) >"$scratch/out" 2>"$scratch/err" || bad "$(<"$scratch/err")"
run_ok query --saved signals --db two.db --format csv
equal 'atomics,gpu0,numa0:pinned,32' "$(cut -d, -f 1-3,6 <"$scratch/out" | sed -n 3p | sed 's/,,/,/')" 'additions to the host'
awk -F , '$1 == "atomics" && $6 >= 32 && $3 != "gpu0" {
    rows++; off = $(NF - 1) / (3200 / $9 / $(NF - 2)) - 1; bad += !(off > -0.001 && off < 0.001) }
  $1 == "atomics" && ($6 < 32 || $3 == "gpu0") && $(NF - 1) != "" { bad++ }
  END { exit !(rows >= 5 && bad == 0) }' "$scratch/out" || bad "shares of the link: $(<"$scratch/out")"
(
  fake_driver h200x4
  exec "$haul" run copy-engines "${small[@]/results.db/two.db}" --only 'alone_*' --only '*_with_*'
) >"$scratch/out" 2>"$scratch/err" || bad "$(<"$scratch/err")"
run_ok query --saved engine-pairs --db two.db --format csv
equal '10 1' "$(awk -F , 'NR > 1 { rows++; shared += $6 } END { print rows, shared < 10 }' "$scratch/out")" 'pairs, of their own engines'

begin 'what the sources state, beside what is here'
run_ok query --saved reference --db results.db --format csv
expect_out '^microbenchmarking,table I,"32 threads, stride 32",cycles,84,85,1\.01'
expect_out '^microbenchmarking,table II,32-way,cycles,84,85,'
expect_out '^microbenchmarking,VI,capacity of the L1 cache,KiB,64,208,'
expect_out '^coherence,table,"GPU To GPU, 64 MiB",GB/s,,,,,'
run_ok query --saved reference --db results.db --format csv --param source=memory*
equal 9 "$(grep -c '' out)" 'the table of grids, its peak and the heading'

begin 'a query whose scenario was not measured says so'
run_ok run "$source_folder/tests/cli/small.toml" --db other.db
reject_err 'haul query --saved'
for file in "$source_folder"/schema/results/queries/*.sql; do
  query=$(basename "$file" .sql)
  run_ok query --saved "$query" --db other.db --format csv
  if grep -q '^-- of: ' "$file" && [ "$(wc -l <out)" -eq 1 ] && ! grep -q '^-- :run (run, default latest)' "$file"; then
    expect_err "^haul: $query has no rows: it reads runs of the scenarios? .*; haul run .* measures one"
  elif grep -q '^-- empty: ' "$file" && [ "$(wc -l <out)" -eq 1 ]; then
    expect_err "^haul: $query has no rows: "
  else
    reject_err 'no rows'
  fi
done
run_ok query --saved microbenchmark-claims --db other.db --format csv
equal "$(($(wc -l <out) - 1))" "$(grep -c ',not measured,not measured: haul run ' out)" 'claims without a run'
run_ok query --saved energy --db other.db
expect_err 'energy has no rows: it reads runs of the scenario energy; haul run energy measures one'
run_ok query --saved um-access --db other.db --plot
expect_out 'nothing to draw: it reads runs of the scenario um-access; haul run um-access measures one'

begin 'copies in graphs beside calls, and which way moves pieces fastest'
reproduce graphs graphs=6 --only host_one --set 'host_one.size=["64KiB", "1MiB"]'
expect_out '^host_one,numa0:pinned-gpu0,ce,65536,[0-9.]+,[0-9.]+,1(\.0+[0-9]*)?,'
expect_value 0 results.db "select count(*) from v_case where block = 'host_one' and (not verified or not gated)"
# Two steps are planted: the deeper one is named.
run_ok run graphs --only host_one --set host_one.graph=false --set host_one.direction='["forward", "reverse"]' \
  --set 'host_one.size=["1MiB", "2MiB"]' "${small[@]/results.db/fall.db}"
sqlite3 fall.db "update case_run set median_ns = median_ns * (2 + (bench_case in (select bench_case from flow where source_place = 'gpu')))
  where bench_case in (select bench_case from flow where size_bytes = 2097152)"
run_ok explain --db fall.db
expect_out 'gpu0-numa0:pinned: 2,097,152 bytes: -[56][0-9] % against 1,048,576; 1 more'
reproduce allocators allocators=15 --set copy.size='["64KiB", "2MiB"]' --set 'pages.footprint=["8MiB", "64MiB"]' --set pages.hops=64 --set 'host.size=["64KiB", "2MiB"]'
expect_out '^gpu0:vmm-gpu0:vmm,vmm,copy by sm,GB/s,[0-9.]+,2097152,2097152,'
expect_out '^gpu0:global:pool,pool,load,ns,'
expect_out '^numa0:host_vmm-gpu0,host_vmm,copy by ce,GB/s,'
reproduce kv-map kv-map=4 --only calls --only graph --only kernel --set calls.piece_size=4KiB \
  --set graph.piece_size=4KiB --set kernel.piece_size=4KiB --set calls.pieces=16 --set graph.pieces=16 --set kernel.pieces=16
expect_out '^numa0:pinned-gpu0,16,8,4096,4096,(loop|batch|graph|kernel),'
reproduce driver-calls driver-calls=12 --only ask
run_ok run driver-calls "${small[@]}" --only alive --set alive.operation=allocate --set 'alive.alive=[0, 100]'
expect_value 1 results.db "select count(*) from v_case where block = 'alive' and alive = 100"
reproduce pinning pinning=7 --only touch --only together --set touch.size=64KiB --set together.size=64KiB \
  --set 'together.threads=[1, 2]' --set together.operation=pin
expect_out '^touch,gpu0-numa0:registered,pin,registered,65536,transparent,16,1,'
run_ok explain --db results.db

begin 'scattered copies: curves, and the sizes at which they cross'
# The rates are on the host's clock, which the fake driver does not simulate; those between events are its model.
reproduce scattered-copies scattered-copies=66 --only host_by_ce --only host_by_sm \
  --set host_by_ce.size=2MiB --set host_by_sm.size=2MiB \
  --set 'host_by_ce.piece_size={ from = "2KiB", to = "2MiB", factor = 2 }' \
  --set 'host_by_sm.piece_size={ from = "2KiB", to = "2MiB", factor = 2 }'
run_ok query --saved scattered-crossovers --db results.db --format csv --param gpu=1
expect_out '^numa0:pinned-gpu0,step of ce batch,32768,,,[0-9.]+,1[0-9.]+'
expect_out '^gpu0-numa0:pinned,ce loop or ce batch,[0-9]{7},ce batch,ce loop,'
cp results.db steps.db
times() { # SQL of a case's time by f.piece_bytes and f.submit, and its least and most as factors
  sqlite3 steps.db "update case_run set (median_ns, median_low_ns, median_high_ns) =
    (select $1, $1 * $2, $1 * $3 from flow f where f.bench_case = case_run.bench_case and f.ordinal = 0)
    where bench_case in (select bench_case from flow where submit = '$4' and piece_bytes $5)"
}
times 2e6 0.99 1.01 loop '> 0'
times 1e6 0.99 1.01 batch '>= 4096'
times 1e7 0.99 1.01 batch '= 2048'
run_ok query --saved scattered-crossovers --db steps.db --format csv
expect_out '^numa0:pinned-gpu0,step of ce batch,4096,,,[0-9.]+,10\b'
expect_out '^numa0:pinned-gpu0,ce loop or ce batch,3[0-9]{3},ce loop,ce batch,'
times 1e7 0.15 1.01 batch '= 2048'
run_ok query --saved scattered-crossovers --db steps.db --format csv
reject_out 'step of ce batch'
expect_out '^numa0:pinned-gpu0,ce loop or ce batch,,ce batch,ce batch,'
run_ok query --saved run-result --db results.db --format jsonl
expect_out '"special":1'
reject_out '"special":0' # or scattered copies would be held against the rates of contiguous ones
expect_value 0 results.db "select count(*) from v_case where submit is not null
  and (submit_ns > median_ns or gpu_ns is null or gated or clock <> 'host' or not verified)"

begin 'what was measured is held against the claims of the studies'
run_ok query --saved microbenchmark-claims --db results.db --format csv
equal 22 "$(wc -l <out)" 'lines of claims'
equal 6 "$(grep -c '^microbenchmarking,II,.*,holds,' out)" 'claims of section II that hold'
expect_out '^microbenchmarking,VI,loads past the capacity of the L1 cache take longer,holds,'
reject_out 'not measured'
expect_out '^microbenchmarking,IV,integers are multiplied as fast as added,(holds|does not hold),"[0-9.]+ : [0-9.]+ cycles = [0-9.]+ on gpu0'
# The one that says so is the least grid within 5 % of the best.
run_ok query --saved knee --db results.db --format csv
expect_value "$(sed -n 's/^gpu0,grid-sweep,copy,blocks,\([0-9]*\),.*/\1/p' out)" results.db \
  "select min(cast(grid_blocks as integer)) from v_run_case where run = 1 and gbps >= 0.95 *
   (select max(gbps) from v_run_case where run = 1)"

begin 'models of GPUs on one axis and side by side'
HAUL_FAKE_MACHINE=$source_folder/tests/machines/l40sx4-pcie.toml run_ok run shared-cache-scaling "${small[@]}" \
  --only l2 --set l2.at.gpu=0-1 --set l2.size=8KiB --set l2.grid='[1, 2]' --set l2.block=256
run_ok query --saved shared-cache-gpus --db results.db --format csv
equal 188 "$(grep -Ec ',gpu[01],l[12],256,' out)" 'points of three GPUs'
expect_out '^NVIDIA L40S,.*,gpu1,l2,256,2,0.01,'
run_ok query --saved shared-cache-gpus --db results.db --plot
expect_out '^  a  .*GH200'
expect_out '^  c  .*L40S.*gpu1'
run_ok query --saved models --db results.db --format csv
expect_out '^NVIDIA GH200[^,]*,1,132,23,2,32(\.[0-9]+)?,280,'
expect_out '^NVIDIA L40S,2,142,,,'

begin 'every kind has its own unit, in tables and as JSON'
run run arithmetic-latency "${small[@]}" --only latency --set arithmetic.instructions=512
expect_out '^path +settings +ns/op +cycles/op'
run run arithmetic-latency "${small[@]}" --only throughput --set arithmetic.instructions=512 \
  --set throughput.grid=2
expect_out '^path +settings +ops/clock/SM'
run run memory-hierarchy "${small[@]}" --only l1 --set chase.hops=8
expect_out '^path +size +ns/hop +cycles/hop'
run run arithmetic-latency "${small[@]}" --only latency --set arithmetic.instructions=512 --json
expect_out '"ns_per_op":[0-9.]+,"cycles_per_op":[0-9.]+,"ops_per_clock_sm":null'
expect_out '"stop":"trials".*"noise":"unknown","noise_percent":null,"noise_ns":null'
run run memory-hierarchy "${small[@]}" --only l1 --set chase.hops=8 --json
expect_out '"ns_per_hop":[0-9.]+,"cycles_per_hop":[0-9.]+'

begin 'the page of a run has the figures of its scenario, another run none'
run_ok run memory-hierarchy "${small[@]}" --only l1 --set chase.hops=8 --tag figures
run_ok report figures.html tag:figures --db results.db
equal 1 "$(grep -c "<figcaption>Latency of a GPU's memory over footprint and stride: gpu0" \
  figures.html)" 'figures of memory-hierarchy'
run_ok run fingerprint "${small[@]}" --set stream.size=4KiB --tag none
run_ok report none.html tag:none --db results.db
equal 0 "$(grep -c '<figcaption>' none.html)" 'figures of fingerprint'

begin 'calls of the driver'
cat >calls.toml <<'TOML'
schema_version = 1
name = "calls"
[[overhead]]
name = "calls"
operation = ["kernel_launch", "event_record", "stream_synchronize", "memcpy_call",
  "graph_instantiate", "graph_launch"]
[[overhead]]
name = "memory"
operation = ["allocate", "free"]
memory = ["device", "managed", "pinned", "registered", "pageable"]
size = "4KiB"
TOML
run_ok run calls.toml "${small[@]}"
expect_value 16 results.db "select count(*) from v_case where kind = 'overhead' and status = 'ok'
  and block in ('calls', 'memory') and median_ns > 0"

begin 'a call that one driver makes slower is found and named'
for driver in 580.1 580.2; do
  {
    printf '[fake]\ndriver_version = "%s"\ncall_ns = 4000\n' "$driver"
    [ "$driver" = 580.1 ] || printf '[[fake.fault]]\nkind = "slow"\ncount = 0\ncall = "cuPointerGetAttribute"\n'
  } >"$driver.toml"
  for run in 1 2 3; do
    # Trials of five calls: what a busy machine interrupts is few of them.
    HAUL_FAKE_FAULTS=$PWD/$driver.toml run_ok run driver-calls --db slow.db --processes 2 --only ask \
      --set 'ask.operation=["pointer_attribute", "address_range", "memory_info", "event_query"]' \
      --set measure.max_time=50ms --set measure.trials.max=200 --set measure.trials.min=100 \
      --set measure.min_trial=20us --set measure.settle_time=off --tag "$driver-$run"
  done
done
run diff driver:580.1 driver:580.2 --db slow.db
expect_out '^verdict +case +A ns +B ns'
expect_out '^REGRESSED.? +ask/gpu0/operation=pointer_attribute +[0-9]+ +[0-9]+ '
run diff driver:580.1 driver:580.2 --db slow.db --format csv
equal 1 "$(grep -c '^regressed,' out)" 'calls that became slower'
equal 3 "$(grep -c '^same,' out)" 'calls that take as long'
run_ok query --saved driver-calls --db slow.db --format csv
expect_out '^gpu0,ask,pointer_attribute,,,1,0,1,1[0-9.]+,'

begin 'a call that is slower than it was learned to be'
run_ok expect learn 1 2 3 --db slow.db
cp out mine.toml
grep -q '^path = "call"' mine.toml || bad 'no row is of a call'
run_says 1 'gpu0, driver call latency: [0-9]+ ns, usual ' \
  check tag:580.2-3 --expect=mine.toml --db slow.db --only '*pointer_attribute'
run_ok check tag:580.1-3 --expect=mine.toml --db slow.db

begin 'a share of all is refused'
run_error 2 'free_share: 1 is out of range' validate calls.toml --set measure.free_share=1
run_ok plan calls.toml --set memory.free_share=1e-9 --set 'memory.memory=managed'
expect_out 'more than free_share = 1e-09'

begin 'which GPU it was'
export HAUL_FAKE_MACHINE=$source_folder/tests/machines/h200x4.toml
run_ok identify --db results.db run:1
expect_out 'too few runs'
for number in 1 2 3 4 5 6; do
  run_ok run fingerprint --set stream.size=4KiB "${small[@]/results.db/gpus.db}" --tag "run-$number"
done
run_ok identify --db gpus.db
equal 4 "$(grep -c 'not told apart' "$scratch/out")" 'GPUs that are the same'
expect_err 'of 20 were right'
# GPU n is n per cent slower, within a tenth of that.
sqlite3 gpus.db "update case_run set median_ns = median_ns * (1 + 0.01 * (select s.gpu from stream s
  where s.bench_case = case_run.bench_case)) * (1 + 0.00001 * (abs(random()) % 100))"
run_ok identify tag:run-6 --db gpus.db --format csv
equal 4 "$(grep -c ',named,.*,yes,' "$scratch/out")" 'GPUs that are named right'
expect_err '20 of 20 were right \(100 %\), with 4 GPUs and 8 cases; guessing gives 25 %'
run identify tag:run-6 --db gpus.db --confusion --format csv
equal 5 "$(wc -l <"$scratch/out")" 'lines of the confusion'
run_ok identify tag:run-6 --db gpus.db --features --format csv
equal "$(printf 'all,8,4,20,20,100,25,\none_thread,4,4,20,20,100,25,\nmany_threads,4,4,20,20,100,25,')" \
  "$(tail -n +2 out | tr -d '\r' | sed 's/[^,]*$//')" 'how well each set of cases tells GPUs apart'
# The control tells nothing where its times are the same: then one thread decides.
sqlite3 gpus.db "update case_run set median_ns = 1000 + abs(random()) % 100 where bench_case in
  (select id from bench_case where block = 'many_threads')"
run_ok identify tag:run-6 --db gpus.db --features --format csv
expect_out '^one_thread,4,4,20,20,100,25,[0-9.e-]+'
reject_out '^many_threads,4,4,20,20,'
run_ok identify tag:run-6 --db gpus.db --format csv
equal 4 "$(grep -Ec ',named,.*,yes,.*,(all|one_thread).?$' out)" 'GPUs that are named right beside a control'
# Only what came before counts.
run identify tag:run-1 --db gpus.db
expect_out 'too few runs'

begin 'a run without such cases'
scenario none '' 't | { numa = 0 } | { numa = 0 } | 4096 | method = "cpu"'
run run none.toml "${small[@]/results.db/none.db}"
run_error 3 'no streams, instructions or loads' identify --db none.db
run identify a b --db none.db
expect_code 2

finish
