#!/bin/sh
# instructions.sh FORM NVCC-OR-CUOBJDUMP ROOT [FOLDER] - what the compilers made of the kernels that
# measure instructions. ptx: compiles ROOT/kernels/ with that nvcc; sass: reads the machine code of the
# fatbins in FOLDER with that cuobjdump. Ends with 77 where the tool is not there.
set -eu
form=$1
tool=$2
root=$3
command -v "$tool" >/dev/null 2>&1 || {
  echo "there is no $tool here"
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
body=$(sed -n 's/.*ARITHMETIC_BODY = \([0-9]*\).*/\1/p' "$root/kernels/arithmetic_values.h")
case $form in
  ptx)
    for file in chase stream arithmetic; do
      echo "#include \"kernels/$file.cu\""
    done >"$folder/unit.cu"
    "$tool" -ptx -std=c++17 -O3 -allow-unsupported-compiler "-I$root" -o "$folder/listing" \
      "$folder/unit.cu"
    ;;
  sass)
    for file in chase stream arithmetic; do
      "$tool" -sass "$4/$file.fatbin"
    done >"$folder/listing"
    ;;
esac
awk -v form="$form" -v body="$body" -f "$root/tests/gpu/instructions.awk" "$folder/listing"
