# instructions.awk - that kernels haul_arithmetic_* hold ARITHMETIC_BODY instructions of their kind, the
# kernels of streams and chases the loads and stores they should, and no more, and those that are named
# bulk the copies of the bulk copy engine, in machine code of sm_90 on. Input: the PTX of the kernels (-v form=ptx)
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
  expect("add3_i32", "add.s32", "^IADD3$")
  around = 64
  inputs["copy"] = inputs["mul"] = inputs["read"] = 1
  inputs["add"] = inputs["triad"] = inputs["dot"] = 2
}

function wrong(text) {
  print name (architecture != "" ? " for " architecture : "") ": " text
  failed = 1
}

function finish_arithmetic(    most) {
  most = form == "ptx" ? body : body + around
  if (count < body || count > most)
    wrong(count + 0 " instructions " (form == "ptx" ? ptx[kind] : sass[kind]) ", not " body)
  if (kind == "add_i32" && name ~ /_ilp1$/)
    for (mnemonic in issued)
      print name " for " architecture ": " issued[mnemonic] " " mnemonic
  delete issued
  kernels++
}

function expect_wide(found, least, what) {
  if (found < least || (least == 0 && found > 0))
    wrong(found + 0 " " what " of 16 bytes, not " (least == 0 ? "none" : least " or more"))
}

# 16-byte accesses are made as such, as many of each input and of the output as are under way together;
# read stores no data, and write loads none.
function finish_stream(    parts, unroll) {
  split(name, parts, "_")
  unroll = substr(name, length(name))
  if (name ~ /_16_/) {
    expect_wide(wide_loads, inputs[parts[3]] * unroll, "loads")
    expect_wide(wide_stores, parts[3] ~ /^(read|dot)$/ ? 0 : unroll + 0, "stores")
  }
  # ld.global.cg, in machine code a load from the point where all SMs see the same.
  if (name ~ /_l2_/ ? past_l1 < unroll : past_l1 > 0)
    wrong(past_l1 + 0 " loads past the L1 cache")
  streams++
}

# The unrolled loop: loads in a row, with little between them in machine code.
function finish_chase() {
  if (loads < 64)
    wrong(loads + 0 " dependent loads, not 64")
  finish_bulk(64)
  chases++
}

function finish_bulk(least) {
  if (name !~ /_bulk$/ || substr(architecture, 4) + 0 < 90)
    return
  if (bulk_copies < least)
    wrong(bulk_copies + 0 " copies by the bulk copy engine, not " least)
  bulks++
}

function finish() {
  if (kind != "")
    finish_arithmetic()
  else if (name ~ /^haul_stream_(copy|mul|add|triad|dot|read|write)_/)
    finish_stream()
  else if (name ~ /^haul_chase_/)
    finish_chase()
  else
    finish_bulk(2) # in and out
}

function begin(new_name,    parts) {
  finish()
  name = new_name
  count = wide_loads = wide_stores = past_l1 = bulk_copies = loads = inside = 0
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
# Not one that leaves a sum on the way.
form == "ptx" && inside && kind != "" && $1 == ptx[kind] && $2 ~ /^%/ { count++ }
form == "ptx" && inside && /^[ \t]*(ld|cp[.]async[.]bulk[.]shared)/ { loads++ }
form == "ptx" && /ld[.]global[.](cg[.])?(v4[.][ufb]32|v2[.][ufb]64)/ { wide_loads++ }
form == "ptx" && /ld[.]global[.]cg[.]/ { past_l1++ }
form == "ptx" && /st[.]global[.](v4[.][ufb]32|v2[.][ufb]64)/ { wide_stores++ }

form == "sass" && /^[ \t]*arch = / { architecture = $3 }
form == "sass" && /Function :/ { begin($3) }
# "        /*0010*/  @!P0 FFMA R0, R1, R2, R3 ;  /* 0x... */"
form == "sass" && /^[ \t]*\/\*[0-9a-f]+\*\// {
  mnemonic = $2 ~ /^@/ ? $3 : $2
  if (kind != "" && mnemonic ~ sass[kind]) {
    count++
    issued[mnemonic]++
  }
  if (mnemonic ~ /^(LDG|LDS)([.]|$)/)
    loads++
  if (mnemonic ~ /^UBLKCP/)
    bulk_copies++
  if (mnemonic ~ /^LDG[.].*128/)
    wide_loads++
  if (mnemonic ~ /^LDG[.].*STRONG[.]GPU/)
    past_l1++
  if (mnemonic ~ /^STG[.].*128/)
    wide_stores++
}

END {
  finish()
  if (kernels < 52 || streams < 70 || chases < 7 || (substr(architecture, 4) + 0 >= 90 && bulks < 2))
    wrong("only " kernels + 0 " kernels of arithmetic, " streams + 0 " of streams, " chases + 0 \
      " of chases and " bulks + 0 " of bulk copies were found")
  if (!failed)
    print kernels " kernels of arithmetic hold " body " instructions of their kind each"
  exit failed
}
