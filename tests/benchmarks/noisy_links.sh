#!/usr/bin/env bash
# noisy_links.sh HAUL FAKE_CUDA_FOLDER [RUNS] - is a sound link called bad on a noisy host, and is a slow one found there? The
# fake driver replays recorded disturbance on a sound link and on one that is 3 % slower. The table counts what `haul run health`
# says in RUNS runs (10) with a tolerance of 2 %, and has the first line of a diff of five processes a side: of two sound links,
# and of a sound one and a slow one.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2s/^# //p' "$0" >&2 && exit 2; }
haul=$(realpath "$1") runs=${3:-10} LD_LIBRARY_PATH=$(realpath "$2")
export LD_LIBRARY_PATH
here=$(cd "$(dirname "$0")/.." && pwd)
export HAUL_FAKE_MACHINE=$here/machines/h200x4.toml HAUL_EXPECT=expect.toml
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd "$scratch"
for file in traces later; do xz -dc "$here/data/noisy-host-h100-$file.csv.xz" >"$file.csv"; done

{
  printf 'format = 1\n[[machine]]\nname = "H200 of the fake driver"\ngpu = "*H200*"\nsimulated = true\n'
  for path in host_to_device device_to_host; do
    printf '[[machine.expect]]\npath = "%s"\nmethod = "ce"\nsize.min = "16MiB"\nlow = 54.9\nhigh = 55.3\n' "$path"
    printf 'unit = "GB/s"\nstatement = "reports"\ncount = 2\ntolerance = 0.02\nsource = "noisy_links.sh"\n'
  done
} >expect.toml

faults() { # FILE CASES_TO CASES_FROM FACTOR
  printf '[fake]\n'
  printf '[[fake.disturbance]]\nfrom = "host"\nto = 0\nreplay = "%s"\ncase = "%s"\n' "$scratch/$1" "$2"
  printf '[[fake.disturbance]]\nfrom = 0\nto = "host"\nreplay = "%s"\ncase = "%s"\n' "$scratch/$1" "$3"
  printf '[[fake.link]]\nfrom = "host"\nto = 0\nfactor = %s\n[[fake.link]]\nfrom = 0\nto = "host"\nfactor = %s\n' "$4" "$4"
}

health() { # prints how many of the runs were healthy, unhealthy, not judged
  local healthy=0 bad=0 unclear=0
  for ((run = 0; run < runs; run++)); do
    case $("$haul" run health --db health.db --only 'host_to_device/*gpu0*,device_to_host/gpu0*' 2>/dev/null) in
      healthy*) healthy=$((healthy + 1)) ;;
      unhealthy*) bad=$((bad + 1)) ;;
      *) unclear=$((unclear + 1)) ;;
    esac
  done
  printf '%d/%d/%d' $healthy $bad $unclear
}

five_processes() { # TAG FAULTS
  HAUL_FAKE_FAULTS=$2 "$haul" run nvbandwidth --processes 5 --tag "$1" --db diff.db -q >/dev/null 2>&1 \
    --only 'host_to_device_memcpy_*/*gpu0/*,device_to_host_memcpy_*/gpu0*'
}

printf '%-9s %-7s %-24s %s\n' noise link 'healthy/bad/not judged' 'diff with a sound link'
while read -r noise file to from; do
  faults "$file" "$to" "$from" 1 >sound.toml
  faults "$file" "$to" "$from" 0.97 >slow.toml
  rm -f diff.db
  five_processes before sound.toml
  for link in sound slow; do
    five_processes $link $link.toml
    printf '%-9s %-7s %-24s %s\n' "$noise" $link "$(HAUL_FAKE_FAULTS=$link.toml health)" \
      "$("$haul" diff tag:before tag:$link --db diff.db 2>/dev/null | head -1)"
  done
done <<'END'
light traces.csv h2d/numa0* h2d/gpu0*
episodes later.csv host_to_device_memcpy_ce* device_to_host_memcpy_ce*
heavy traces.csv both/* both/*
END
