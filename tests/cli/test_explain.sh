#!/bin/bash
# haul explain: recorded machines, runs that were disturbed, cases, formats, and what it says without results.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"

machines=$source_folder/tests/machines

begin 'healthy machines: nothing is found'
for name in h200x4 h100x8-nvlink gh200; do
  run_ok explain --machine "$machines/$name.toml"
  expect_out '^No known cause found \([0-9]+ rules: [0-9]+ checked.*\)\.$'
  expect_out '^[0-9]+ rules found nothing$'
  expect_out '^    pcie_link, '
done

begin 'a machine with findings: each with evidence, cost, what to do and source'
run_ok explain --machine "$machines/l40sx4-pcie.toml"
expect_out '^4 causes found: peer_access, iommu, numa_balancing, governor \([0-9]+ rules: [0-9]+ checked.*\)\.$'
expect_out '^No peer access: .* \[peer_access\]$'
expect_out '^    evidence  gpu0: peer_access = 0 to gpu1, gpu2, gpu3$'
expect_out '^    source    https://docs.nvidia.com'
expect_out '^    persistence +all GPUs: persistence = off$'
expect_out '^    pcie_link +all GPUs: gen1 x16, best gen4 x16, when it was idle$'
run_ok explain --machine "$machines/l40sx4-pcie.toml" --format csv
expect_out '^iommu,finding,found,,iommu = translated,,'
expect_out '^mig,finding,not found,0,mig = not supported,'

begin 'half the lanes of a machine file'
sed 's/^pcie_width = 16/pcie_width = 8/' "$machines/h200x4.toml" >half.toml
run_ok explain --machine half.toml
expect_out '^1 cause found: pcie_link \('
expect_out 'evidence  all GPUs: gen5 x8, best gen5 x16, when it was idle'

begin 'a GPU at work in a machine file, and one that is as good as idle'
sed 's/^utilization_percent = 0/utilization_percent = 5/' "$machines/h200x4.toml" >busy_machine.toml
run_ok explain --machine busy_machine.toml --format csv
expect_out '^gpu_in_use,finding,found,'
sed 's/^utilization_percent = 0/utilization_percent = 4/' "$machines/h200x4.toml" >busy_machine.toml
run_ok explain --machine busy_machine.toml --format csv
expect_out '^gpu_in_use,finding,not found,'

begin 'the rules themselves'
COLUMNS=80 run_ok explain --rules
expect_out '^pcie_link +finding +The PCIe link is slower or narrower '
expect_out '^haul explain --rules NAME prints a rule in full$'
reject_out 'no room for'
COLUMNS=80 run_ok explain --rules pcie_link memlock
equal 2 "$(grep -c '^[A-Z].* \[\(pcie_link\|memlock\)\]$' out)" 'rules that are printed'
equal '2 2 2 2' "$(for key in "do" usually recorded source; do grep -c "^ *$key  *[^ ]" out; done | xargs)" 'what is said of each'
run_error 2 'no rule is called "pcie_lnk" .did you mean "pcie_link"' explain --rules pcie_lnk
run_ok explain --rules --format jsonl
expect_out '"rule":"shared_uplink","kind":"finding"'

begin 'without results this machine is explained'
run_ok explain --db none.db
expect_err 'none.db.*\. Explaining this machine as it is now'
missing none.db
run_fails 2 'a machine without a run has no "latest"' explain --here latest

fake_driver h200x4 || finish

scenario link 'trials = { min = 8, max = 8 }; max_time = "20ms"; telemetry = "10ms"
[checks]; gpu_idle = { want = true, on_fail = "record" }' \
  'host_to_device | { numa = "local" } | { gpu = "*" } | "4MiB"' \
  'device_to_device | { gpu = 0 } | { gpu = 1 } | "4MiB"'

begin 'a run that skipped all of its cases says why'
run run link.toml --set transfer.size=20TiB --db skipped.db
run_fails 3 'run 1 failed: nothing was measured: needs 20480\.0 GiB on GPU 0' show --db skipped.db
expect_out '^nothing was measured$'
expect_out '^Skipped +5 of 5 cases: needs 20480.0 GiB on GPU 0, .* \(haul query --saved skipped --db skipped.db\)$'
run_ok explain --db skipped.db
expect_out '^Nothing was measured. Skipped 5 of 5 cases: needs 20480.0 GiB'
expect_out '^run 1 of link, .* H200, simulated$'
reject_out 'No known cause found'
run_error 2 '"pcie_link" is a rule, not a case: haul explain --rules pcie_link$' explain pcie_link --db skipped.db

cat >busy.toml <<'EOF'
[[fake.process]]
gpu = 1
pid = 1
busy_percent = 93
[[fake.link]]
to = 1
factor = 0.5
# So that a case of gpu1 is long enough to be seen by who samples it.
[[fake.fault]]
kind = "block"
call = "cuMemcpy*"
from = "host"
to = 1
milliseconds = 500
EOF

# As many cases, long enough to be sampled.
for gpu in 0 1 2 3; do
  printf '%s\n' '[[fake.fault]]' 'kind = "block"' 'call = "cuMemcpy*"' 'from = "host"' "to = $gpu" 'milliseconds = 200'
done >slow.toml

begin 'a quiet run'
HAUL_FAKE_FAULTS=slow.toml run_ok run link.toml --db runs.db
run_ok explain --db runs.db --format csv
reject_out '^(pcie_link|gpu_in_use|nvlinks|peer_access|power_limit|fabric|throttled_heat),finding,found'
expect_out '^pcie_link,finding,not found,3,'

begin 'each rule is counted once, and every number has as many names'
HAUL_FAKE_FAULTS=slow.toml run_ok run link.toml --only 'host_to_device/*gpu0*' --db part.db
run_ok explain --db part.db
expect_out '^    pcie_link +gpu1, gpu2, gpu3: no case of this run uses this link$'
rules=$(sed -n 's/.*(\([0-9]*\) rules: .*/\1/p' out)
equal "$rules" "$(grep -o '([0-9]* rules: .*' out | sed 's/([0-9]* rules//' | tr -cs '0-9' '\n' | awk '{ n += $1 } END { print n }')" 'rules in all'
fine=$(sed -n 's/^\([0-9]*\) rules found nothing$/\1/p' out)
equal "$fine" "$(sed -n '/rules found nothing$/,/^$/p' out | tail -n +2 | grep -o '[a-z_]\+' | wc -l)" 'names'

begin 'another program on a GPU: its cases, and how far they are behind'
HAUL_FAKE_FAULTS=busy.toml run_ok run link.toml --db runs.db
run_ok explain --db runs.db
expect_out '^1 cause found: gpu_in_use \('
expect_out '^run 2 of link, 20.* on .*, [0-9] x '
expect_out '^Another program uses the GPU \[gpu_in_use\]$'
expect_out 'evidence  gpu1: in use by '
expect_out 'affects   2 of 5 cases: host_to_device, device_to_device$'
expect_out 'worst     host_to_device/numa0:pinned-gpu1/4MiB: [0-9.]+ GB/s, [0-9.]+ % below the best place'
run_ok explain latest 'device_to_device' --db runs.db --format csv
expect_out '^gpu_in_use,finding,found,1,.*,1,device_to_device,'
run_ok explain 'host_to_device/*gpu0*' --db runs.db --format csv
reject_out '^gpu_in_use,finding,found'
run_ok explain previous --db runs.db --format csv
reject_out '^gpu_in_use,finding,found'

begin 'a case without a value is said, whatever the rules find'
printf '%s\n' '[[fake.fault]]' 'kind = "out_of_memory"' 'call = "cuMemAlloc*"' 'nth = 1' 'count = 0' 'gpu = 1' >full.toml
HAUL_FAKE_FAULTS=full.toml run run link.toml --db full.db
expect_code 3
run_ok explain --db full.db
expect_out '^[0-9]+ cases have no value, such as'
expect_out 'out of memory'
run_ok explain latest 'host_to_device/*gpu0*' --db full.db
reject_out 'no value'

begin 'a case or run that is not there'
run_error 2 "no case or block matches .nothing." explain latest nothing --db runs.db
run_error 2 'there is no run' explain run:99 --db runs.db

begin 'a link that was idle when the machine was saved is as fast as copies are, once there are some'
# Long enough that telemetry asks twice.
HAUL_FAKE_MACHINE=$machines/l40sx4-pcie.toml run_ok run link.toml --only 'host_to_device/*gpu0*' --db idle.db \
  --set measure.min_time=300ms --set measure.max_time=1s --set measure.trials.max=1000000
run_ok explain --db idle.db --format csv
expect_out '^pcie_link,finding,not found,0,"gen4 x16, best gen4 x16, the highest of'

begin 'telemetry that was off is not known'
run_ok run link.toml --db runs.db --set measure.telemetry=off
run_ok explain --db runs.db --format csv
expect_out '^throttled_heat,finding,unknown,0,'
expect_out '^gpu_in_use,finding,unknown,0,'
reject_out '^throttled_heat,finding,not found'

finish
