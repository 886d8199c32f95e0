# instructions.awk - that kernels haul_arithmetic_* hold ARITHMETIC_BODY instructions of their kind, and
# the kernels of streams and chases the loads they should. Input: the PTX of the kernels (-v form=ptx)
# or what cuobjdump -sass prints (-v form=sass); -v body=N. Prints what is wrong, and ends with 1 then.
# In PTX exactly so many. In machine code at least so many, and few more: threads compute their places
# with the same instructions of integers. A chain that was folded has fewer.

function expect(kind, ptx_text, sass_pattern) {
  ptx[kind] = ptx_text
  sass[kind] = sass_pattern
}

BEGIN {
  expect("add_f16", "add.rn.f16x2", "^(HADD2|HFMA2)([.]|$)")
  expect("mul_f16", "mul.rn.f16x2", "^(HMUL2|HFMA2)([.]|$)")
  expect("fma_f16", "fma.rn.f16x2", "^HFMA2([.]|$)")
  expect("add_f32", "add.rn.f32", "^FADD$")
  expect("mul_f32", "mul.rn.f32", "^FMUL$")
  expect("fma_f32", "fma.rn.f32", "^FFMA$")
  expect("add_f64", "add.rn.f64", "^DADD$")
  expect("mul_f64", "mul.rn.f64", "^DMUL$")
  expect("fma_f64", "fma.rn.f64", "^DFMA$")
  expect("add_i32", "add.s32", "^(IADD|IADD3|IMAD[.]IADD|VIADD)$")
  expect("mul_i32", "mul.lo.s32", "^IMAD$")
  expect("fma_i32", "mad.lo.s32", "^IMAD$")
  around = 64
}

function wrong(text) {
  print name (architecture != "" ? " for " architecture : "") ": " text
  failed = 1
}

function finish_arithmetic(    most) {
  most = form == "ptx" ? body : body + around
  if (count < body || count > most)
    wrong(count + 0 " instructions " (form == "ptx" ? ptx[kind] : sass[kind]) ", not " body)
  kernels++
}

# 16-byte accesses are made as such: of both inputs and the output.
function finish_stream() {
  if (name ~ /_16_/ && name !~ /_write_/ && wide_loads == 0)
    wrong("no load of 16 bytes")
  if (name ~ /_16_/ && name !~ /_(read|dot)_/ && wide_stores == 0)
    wrong("no store of 16 bytes")
  streams++
}

# The unrolled loop: loads in a row, with little between them in machine code.
function finish_chase() {
  if (loads < 64)
    wrong(loads + 0 " dependent loads, not 64")
  chases++
}

function finish() {
  if (kind != "")
    finish_arithmetic()
  else if (name ~ /^haul_stream_(copy|mul|add|triad|dot|read|write)_/)
    finish_stream()
  else if (name ~ /^haul_chase_/)
    finish_chase()
}

function begin(new_name,    parts) {
  finish()
  name = new_name
  count = wide_loads = wide_stores = loads = inside = 0
  kind = ""
  if (name ~ /^haul_arithmetic_/) {
    split(name, parts, "_")
    kind = parts[3] "_" parts[4]
  }
}

form == "ptx" && /[.]entry/ {
  match($0, /haul_[a-z0-9_]+/)
  begin(substr($0, RSTART, RLENGTH))
}
form == "ptx" && /begin inline asm/ { inside = 1 }
form == "ptx" && /end inline asm/ { inside = 0 }
form == "ptx" && inside && kind != "" && $1 == ptx[kind] { count++ }
form == "ptx" && inside && /^[ \t]*ld[.]/ { loads++ }
form == "ptx" && /ld[.]global[.](v4[.][ufb]32|v2[.][ufb]64)/ { wide_loads++ }
form == "ptx" && /st[.]global[.](v4[.][ufb]32|v2[.][ufb]64)/ { wide_stores++ }

form == "sass" && /^[ \t]*arch = / { architecture = $3 }
form == "sass" && /Function :/ { begin($3) }
# "        /*0010*/  @!P0 FFMA R0, R1, R2, R3 ;  /* 0x... */"
form == "sass" && /^[ \t]*\/\*[0-9a-f]+\*\// {
  mnemonic = $2 ~ /^@/ ? $3 : $2
  if (kind != "" && mnemonic ~ sass[kind])
    count++
  if (mnemonic ~ /^(LDG|LDS)([.]|$)/)
    loads++
  if (mnemonic ~ /^LDG[.].*128/)
    wide_loads++
  if (mnemonic ~ /^STG[.].*128/)
    wide_stores++
}

END {
  finish()
  if (kernels < 48 || streams < 58 || chases < 4)
    wrong("only " kernels + 0 " kernels of arithmetic, " streams + 0 " of streams and " chases + 0 " of chases were found")
  if (!failed)
    print kernels " kernels of arithmetic hold " body " instructions of their kind each"
  exit failed
}
