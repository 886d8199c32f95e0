#!/usr/bin/env bash
# docs/results: its pages are what its command makes from its databases, to the byte; and the command keeps and shows
# what the fake driver measured.
# shellcheck source=tests/cli/common.sh
. "$(dirname -- "$0")/common.sh"
results=$source_folder/docs/results
make() { python3 "$@" 2>err >out; }

begin 'the pages are made of the data'
if compgen -G "$results/data/*.db.xz" >/dev/null; then
  make "$results/make.py" "$haul" pages || bad "make.py: $(cat err)"
  if diff -r -q --exclude=data --exclude=make.py --exclude=measure.sh "$results" pages >differences; then good; else bad "other pages: $(cat differences)"; fi
fi

fake_driver h200x4 || exit 77
begin 'runs are kept and shown'
small=(--set measure.max_time=1ms --set measure.trials.min=1 --set measure.trials.max=2 --set measure.telemetry=off -q)
mkdir own && cp "$results/make.py" own
run_ok run grid-sweep "${small[@]}" --set stream.size=1MiB --db a.db
run_ok run quick "${small[@]}" --only host_to_device --set transfer.size=4KiB --db a.db # is of no set
run_ok run comm-scope/fig06 "${small[@]}" --set measure.processes=1 --set transfer.size='["4KiB","1MiB"]' --db b.db
make own/make.py "$haul" --keep h200 a.db b.db || bad "keeping: $(cat err)"
equal 'h200-comm-scope.db.xz h200-memory-bandwidth.db.xz' "$(cd own/data && echo ./* | sed 's|\./||g')" 'what is kept'
python3 -c 'import lzma,sys; sys.stdout.buffer.write(lzma.open("own/data/h200-memory-bandwidth.db.xz").read())' >kept.db
expect_value 1 kept.db "select count(*) from v_run"
expect_value 0 kept.db "select count(*) from v_trial"
for pages in pages1 pages2; do
  make own/make.py "$haul" "$pages" || bad "making: $(cat err)"
done
if diff -r pages1 pages2; then good; else bad 'the same data make other pages'; fi
cp pages1/memory-bandwidth.md out
expect_out '^. table . 34 blocks . GB/s . 211 . [0-9.]+ .$'
expect_out '^!\[grid-sweep on H200\]\(figures/h200-grid-sweep\.svg\)'
cp pages1/comm-scope.md out
expect_out '^. 4\.1 . pageable to GPU is no faster than .*\*\*(holds|does not hold|too noisy to tell)\*\*: '
if [ -s pages1/figures/h200-comm-scope-figure-6.svg ]; then good; else bad 'no figure 6'; fi
cp pages1/README.md out
expect_out '^## Claims that no longer hold'
finish
