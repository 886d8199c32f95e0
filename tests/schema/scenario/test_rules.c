#include "support.h"

/* A text below HEAD with one mistake. It must be found at the '@', which is no part of the text;
 * without one at the header of the first block. */
struct mistake {
  const char *text;
  const char *message;    /* part of it */
  const char *suggestion; /* NULL = none */
};

#define TRANSFER  "[[transfer]]\nname = \"b\"\n"
#define CE        TRANSFER "method = \"ce\"\n"
#define SIZED     BLOCK "size = 1\n"
#define GPU_SIZED GPU_BLOCK "size = 1\n"
#define CPU_BLOCK                                                                                  \
  "[[transfer]]\nname = \"b\"\nmethod = \"cpu\"\nfrom.numa = 0\nto.numa = 0\nsize = 1\n"
#define CHASE_BLOCK      "[[chase]]\nname = \"c\"\n"
#define STREAM_BLOCK     "[[stream]]\nname = \"s\"\nop = \"copy\"\nsize = 4096\n"
#define ARITHMETIC_BLOCK "[[arithmetic]]\nname = \"a\"\nop = \"fma\"\ntype = \"f32\"\n"
#define OVERHEAD_BLOCK   "[[overhead]]\nname = \"o\"\n"
#define FLOWS            "[[transfer.flow]]\nfrom.gpu = 0\nto.gpu = 1\n"

static const struct mistake mistakes[] = {
    /* The head */
    {"@descripton = \"x\"\n" SIZED, "unknown key \"descripton\"", "description"},
    {"@size = 1\n" SIZED, "\"size\" is not allowed in", NULL},
    {"@measure = 1\n" SIZED, "\"measure\" must be written as [measure]", NULL},
    {"[[@measure]]\n" SIZED, "\"measure\" must be written as [measure]", NULL},
    {"[@transfer]\nname = \"x\"\n", "\"transfer\" must be written as [[transfer]]", NULL},
    {"[@stream]\n" SIZED, "\"stream\" must be written as [[stream]]", NULL},
    {"[@steam]\n" SIZED, "unknown key \"steam\"", "[[stream]]"},
    /* [measure] and [checks] */
    {"[measure]\nprecision = @\"0.01\"\n" SIZED, "precision: write 0.01 without quotes", NULL},
    {SIZED "@cache_flush = true\n", "write host_cache = \"flushed\" here", NULL},
    {BLOCK "size = @\"1PiB\"\n", "invalid value \"1PiB\"", NULL},
    /* A misspelt key is not missing as well. */
    {TRANSFER "@metod = \"ce\"\nfrom.numa = 0\nto.gpu = 0\nsize = 1\n", "unknown key \"metod\"",
     "method"},
    {CE "@fron.numa = 0\nto.gpu = 0\nsize = 1\n", "unknown key \"fron\"", "from"},
    {BLOCK "@sise = 1\n", "unknown key \"sise\"", "size"},
    {"[[stream]]\nname = \"s\"\n@opp = \"copy\"\nsize = 4096\n", "unknown key \"opp\"", "op"},
    {"[[@transfers]]\nname = \"x\"\n", "unknown key \"transfers\"", "[[transfer]]"},
    {"[[@copy]]\nname = \"x\"\n", "unknown key \"copy\"", "[[transfer]]"},
    {SIZED "@repeat = 3\n", "unknown key \"repeat\"", "iterations"},
    {"[measure]\n@warmpu = 1\n" SIZED, "unknown key \"warmpu\"", "warmup"},
    {"[measure]\nmax_time = @20\n" SIZED, "20 lacks a unit", NULL},
    {"[measure]\nmax_time = @\"20 ms\"\n" SIZED, "\"20 ms\"", "20ms"},
    {"[measure]\nprecision = @0.9\n" SIZED, "0.9 is out of range", NULL},
    {"[measure]\nprecision = @\"0.5%\"\n" SIZED,
     "\"0.5%\" is written as a fraction: 0.005 is 0.5 %", NULL},
    {"[measure]\ndelta = @\"3 %\"\n" SIZED, "is written as a fraction: 0.03 is 3 %", NULL},
    {BLOCK "size = @\"4KiB,2MiB\"\n", "several values are an array: [\"4KiB\",\"2MiB\"]", NULL},
    {"[measure]\ndelta = @1\n" SIZED, "1 is out of range", NULL},
    {"[measure]\ndelta = @0\n" SIZED, "0 is out of range", NULL},
    {"[measure]\ndelta = @\"1 %\"\n" SIZED, "\"1 %\" is written as a fraction", NULL},
    {SIZED "delta = @\"aut\"\n", "invalid value \"aut\"", "auto"},
    {"[measure]\nwarmup = @1.5\n" SIZED, "warmup", NULL},
    {"[measure]\nwarmup = @true\n" SIZED, "true or false is not allowed", NULL},
    {"[measure]\nseed = @9007199254740993\n" SIZED, "9007199254740993 is out of range", NULL},
    {"[measure]\ntrials = @5\n" SIZED, "trials: an integer", NULL},
    {"[measure]\ntrials = @{}\n" SIZED, "trials: the table is empty", NULL},
    {SIZED "[checks]\nthrottling = @{}\n", "throttling: the table is empty", NULL},
    {CE "from = @{}\nto.gpu = 0\nsize = 1\n", "from: the table is empty", NULL},
    {SIZED "@load = []\n", "\"load\" must be written as [[transfer.load]]", NULL},
    {"@transfer = []\n", "\"transfer\" must be written as [[transfer]]", NULL},
    {"[measure]\ntrials = { @mni = 5 }\n" SIZED, "unknown key \"trials.mni\"", "min"},
    {"[measure]\ntrials = { min = 9, max = @8 }\n" SIZED, "min, 9, is greater", NULL},
    {"[measure]\ntrials.min = @500\n" SIZED, "greater than max, 200 by default", NULL},
    {SIZED "trials = { min = @[1, 9, 300] }\n", "min, 300, is greater", NULL},
    {"[measure]\nprocesses = @[1, 2]\n" SIZED, "only one value", NULL},
    {SIZED "host_cache = \"flushed\"\niterations = @20\n", "only the first of 20 iterations", NULL},
    {"[measure]\nhost_cache = \"flushed\"\niterations = @2\n" SIZED, "only the first of 2", NULL},
    {"[measure]\niterations = @\"aut\"\n" SIZED, "\"aut\"", "auto"},
    {"[measure]\n@\"trials.min\" = 1\n" SIZED, "unknown key \"trials.min\"", NULL},
    {"[checks]\ngovernor = { want = @\"performace\" }\n" SIZED, "\"performace\"", "performance"},
    {"[checks]\ngovernor = @\"performance\"\n" SIZED, "governor: text", NULL},
    {"[checks]\ndriver = { @on_fail = \"skip\" }\n" SIZED, "missing \"driver.want\"", NULL},
    {"[checks]\ndriver = { want = @\">=5x\" }\n" SIZED, "\">=5x\"", NULL},
    /* Names */
    {"@[[transfer]]\nmethod = \"ce\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 1\n",
     "missing \"name\" in [[transfer]]", NULL},
    {"[[transfer]]\nname = @\"a/b\"\nmethod = \"ce\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 1\n",
     "name: invalid value \"a/b\"", NULL},
    {GPU_SIZED "[[transfer.load]]\nname = \"x\"\nfrom.gpu = 0\nto.gpu = 1\n[[transfer.load]]\nname "
               "= @\"x\"\nfrom.gpu = 0\nto.gpu = 1\n",
     "\"load.x\" is listed twice", NULL},
    /* Endpoints */
    {CE "to.gpu = 1\nsize = 1\n", "missing \"from\"", NULL},
    {CE "from.@memory = \"pinned\"\nto.gpu = 1\nsize = 1\n", "from: missing gpu or numa", NULL},
    {CE "from = { gpu = 0, @numa = 0 }\nto.gpu = 1\nsize = 1\n",
     "gpu and numa cannot both be given", NULL},
    {CE "from = @0\nto.gpu = 1\nsize = 1\n", "from: an integer is not allowed here", NULL},
    {GPU_SIZED "@from.memory = \"device\"\n", "duplicate key", NULL},
    {CE "from = { gpu = 0, memory = @\"pinned\" }\nto.gpu = 1\nsize = 1\n",
     "no \"pinned\" memory on a GPU", NULL},
    {CE "from = { numa = 0, memory = [\"huge\", @\"device\"] }\nto.gpu = 1\nsize = 1\n",
     "no \"device\" memory on a NUMA node", NULL},
    {TRANSFER "method = \"cpu\"\nfrom.numa = @\"local\"\nto.numa = 1\nsize = 1\n",
     "\"local\" is relative to a GPU", NULL},
    {TRANSFER "method = \"cpu\"\nfrom.numa = 0\nto.numa = @\"remote\"\nsize = 1\n",
     "\"remote\" is relative to a GPU", NULL},
    {CE "from.numa = @\"locl\"\nto.gpu = 1\nsize = 1\n", "\"locl\"", "local"},
    {CE "from.gpu = @\"local\"\nto.gpu = 1\nsize = 1\n", "invalid value \"local\"", NULL},
    {CE "from.gpu = @\"3-1\"\nto.gpu = 1\nsize = 1\n", "\"3-1\"", NULL},
    {CE "from.gpu = [0, @-1]\nto.gpu = 1\nsize = 1\n", "-1 is out of range", NULL},
    {CE "from.gpu = @[]\nto.gpu = 1\nsize = 1\n", "the array is empty", NULL},
    /* Memory of another process */
    {CE "from = { gpu = 0, process = @8 }\nto.gpu = 1\nsize = 1\n", "8 is out of range", NULL},
    {CE "from = { gpu = 0, share = [\"ipc\", @\"memfd\"] }\nto.gpu = 1\nsize = 1\n",
     "\"memfd\" is for memory of a NUMA node", NULL},
    {CE "from.gpu = 0\nto = { numa = 0, process = 1, share = @\"pool\" }\nsize = 1\n",
     "to.share: \"pool\" is for memory of a GPU", NULL},
    {CE "from = { numa = 0, memory = [\"shared\", @\"pinned\"], process = [0, 1] }\nto.gpu = 1\n"
        "size = 1\n",
     "no process opens \"pinned\" memory of another one", NULL},
    {CE "from = { gpu = 0, @memory = \"vmm\", share = \"fd\" }\nto.gpu = 1\nsize = 1\n",
     "from.share says which kind of memory it is", NULL},
    {TRANSFER "method = [\"ce\", \"um\"]\nfrom = { gpu = 0, @process = 1 }\nto.gpu = 1\nsize = 1\n",
     "work on memory of their own process", NULL},
    {CE "from.gpu = 0\nto = { gpu = 1, @process = 1 }\npieces = 4\npiece_size = 4096\n",
     "the pieces of a scattered copy", NULL},
    /* Methods and what belongs to them */
    {TRANSFER "from.gpu = 0\nto.gpu = 1\nsize = 1\n", "missing \"method\"", NULL},
    {SIZED "method = @\"sm\"\n", "duplicate key", NULL},
    {TRANSFER "method = [\"ce\", @\"cpu\"]\nfrom.gpu = 0\nto.gpu = 1\nsize = 1\n",
     "method \"cpu\" copies between NUMA nodes", NULL},
    {TRANSFER "method = @\"sm\"\nfrom.numa = 0\nto.numa = 1\nsize = 1\n",
     "method \"sm\" needs a GPU", NULL},
    {TRANSFER "method = \"um\"\nfrom = { numa = 0, memory = @\"pinned\" }\nto.gpu = 1\nsize = 1\n",
     "method \"um\" moves managed memory", NULL},
    {SIZED "@threads = 2\n", "\"threads\" has no effect", NULL},
    {SIZED "kernel = { @block = 2 }\n", "\"kernel.block\" has no effect", NULL},
    {SIZED "unified.@mode = \"prefetch\"\n", "\"unified.mode\" has no effect", NULL},
    {TRANSFER "method = \"um\"\nfrom.numa = 0\nto.gpu = 1\nshape.@width = 8\n",
     "\"shape.width\" has no effect", NULL},
    {SIZED "initiator = @\"source\"\n", "\"source\" would be a NUMA node", NULL},
    {SIZED "initiator = @\"target\"\ndirection = [\"forward\", \"reverse\"]\n",
     "\"target\" would be a NUMA node", NULL},
    {SIZED "@cpu = \"any\"\n", "cpu has no effect: no processor makes these copies", NULL},
    {GPU_SIZED "peer = true\n@cpu = 0\n", "cpu has no effect", NULL},
    {GPU_SIZED "peer = false\ncpu = @\"lokal\"\n", "invalid value \"lokal\"", "local"},
    {GPU_SIZED "peer = false\ncpu = [0, @-1]\n", "-1 is out of range", NULL},
    {CPU_BLOCK "@cpu = 0\n", "\"cpu\" has no effect with this method", NULL},
    {SIZED "@peer = false\n", "peer applies to flows between two GPUs", NULL},
    {TRANSFER "method = \"sm\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 1\npeer = [true, @false]\n",
     "only copy engines can stage", NULL},
    /* Sizes and shapes */
    {BLOCK, "missing \"size\"", NULL},
    {BLOCK "size = @0\n", "size: 0 is out of range", NULL},
    {BLOCK "size = @-5\n", "size: -5 is out of range", NULL},
    {BLOCK "size = @\"64KB\"\n", "\"64KB\"", "64kB"},
    {BLOCK "size = @\"1M\"\n", "\"1M\"", "1MiB\" (powers of 1024) or \"1MB"},
    {BLOCK "size = @\"64k\"\n", "\"64k\"", "64KiB\" (powers of 1024) or \"64kB"},
    {BLOCK "size = @\"1000000TiB\"\n", "1000000TiB is out of range", NULL},
    {BLOCK "size = @1.5\n", "size: 1.5 is not a whole number of bytes", NULL},
    {BLOCK "size = @[]\n", "the array is empty", NULL},
    {BLOCK "size = [1, @[2]]\n", "an array is not allowed here", NULL},
    {BLOCK "@size = 1\nshape.width = 4\n", "shape defines the size", NULL},
    {SIZED "shape.@height = 4\n", "no effect without shape.width", NULL},
    {BLOCK "shape = { width = 64, pitch = @32 }\n", "rows of 64 bytes", NULL},
    {BLOCK "shape = { width = [8, 64], pitch = @32 }\n", "rows of 64 bytes", NULL},
    {BLOCK "shape = { width = @\"1TiB\", height = 1000 }\n", "the shape is too large", NULL},
    {SIZED "@pieces = 4\n", "pieces has no effect without piece_size", NULL},
    {SIZED "@submit = \"batch\"\n", "submit has no effect without piece_size", NULL},
    {BLOCK "@size = 8\npieces = 4\npiece_size = 2\n", "pieces defines the size", NULL},
    {BLOCK "piece_size = 2\npieces = 4\nshape.@width = 8\n", "both a shape and pieces", NULL},
    {BLOCK "size = 8\npiece_size = @3\n", "pieces of 3 bytes do not divide a size of 8", NULL},
    {BLOCK "size = [6, 8]\npiece_size = @3\n", "do not divide a size of 8", NULL},
    {BLOCK "size = \"1GiB\"\npiece_size = @1\n", "1073741824 pieces of 1 bytes are too many", NULL},
    {BLOCK "piece_size = @\"1TiB\"\npieces = 100\n", "are too many", NULL},
    {BLOCK "piece_size = @\"64TiB\"\npieces = 16777216\n", "are too many", NULL},
    {BLOCK "pieces = @16777217\npiece_size = 1\n", "16777217 is out of range", NULL},
    {BLOCK "pieces = 4\npiece_size = 2\nbatch.@order = \"any\"\n", "no effect without one", NULL},
    {TRANSFER "method = \"sm\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 8\npiece_size = 2\n@submit = "
              "\"loop\"\n",
     "\"submit\" has no effect", NULL},
    /* Ranges */
    {BLOCK "size = @{ from = 2, to = 1, factor = 2 }\n", "from is greater than to", NULL},
    {BLOCK "size = @{ from = 2, factor = 2 }\n", "a range needs from and to", NULL},
    {BLOCK "size = @{ from = 2, to = 4 }\n", "either factor or step", NULL},
    {BLOCK "size = @{ from = 2, to = 4, factor = 2, step = 1 }\n", "either factor or step", NULL},
    {BLOCK "size = { from = 2, to = 4, factor = @1 }\n", "factor must be", NULL},
    {BLOCK "size = { from = 2, to = 4, factor = @\"2\" }\n", "factor must be", NULL},
    {BLOCK "size = { from = 2, to = 4, @facto = 2 }\n", "unknown key \"facto\"", "factor"},
    {BLOCK "size = { from = 2, to = 4, step = @0 }\n", "0 is out of range", NULL},
    {BLOCK "size = @{ from = 1, to = \"1GiB\", step = 1 }\n", "more than 1048576 values", NULL},
    {BLOCK "size = @{ from = 1, to = 2, factor = 1.000000000001 }\n", "more than 1048576 values",
     NULL},
    {SIZED "warmup = @{ from = 0, to = 4, factor = 2 }\n", "cannot start at 0", NULL},
    {SIZED "verify = @1\n", "a number is not allowed here", NULL},
    {SIZED "verify = @{ from = 0, to = 4, factor = 2 }\n", "a table is not allowed here", NULL},
    {TRANSFER "method = \"sm\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 1\nkernel.vector_bytes = @{ from "
              "= 1, to = 16, step = 5 }\n",
     "powers of two", NULL},
    /* zip */
    {BLOCK "size = [1, 2]\nwarmup = [1, 2, 3]\nzip = [[\"size\", @\"warmup\"]]\n",
     "\"warmup\" has 3 values, the axis before it 2", NULL},
    {BLOCK "size = [1, 2]\nzip = [[\"size\", @\"sise\"]]\n", "\"sise\" is not an axis", "size"},
    {BLOCK "size = [1, 2]\nwarmup = 3\nzip = [[\"size\", @\"warmup\"]]\n",
     "\"warmup\" is not an axis", NULL},
    {BLOCK "size = [1, 2]\nzip = [[\"size\", @\"size\"]]\n", "\"size\" is listed twice", NULL},
    {BLOCK "size = [1, 2]\nzip = [@\"size\"]\n", "array of at least two keys", NULL},
    {BLOCK "size = [1, 2]\nzip = @\"size\"\n", "expected an array", NULL},
    {BLOCK "size = [1, 2]\nzip = [[\"size\", @1]]\n", "expected keys in quotes", NULL},
    /* Which flows */
    {SIZED "pairs = @\"same\"\n", "pairs \"same\" needs both ends", NULL},
    {SIZED "pairs = [\"ordered\", @\"sample\"]\n", "pairs \"sample\" needs both ends", NULL},
    {GPU_SIZED "pairs = \"ordered\"\n@samples = 3\n", "samples has no effect without", NULL},
    {CE "size = 1\nfrom.gpu = 0\nto.gpu = @\"GPU-xyz\"\n", "invalid value \"GPU-xyz\"", NULL},
    {CE "size = 1\nfrom.numa = @\"GPU-12\"\nto.gpu = 0\n", "invalid value \"GPU-12\"", NULL},
    {SIZED "concurrent = [\"all\", @\"ring\"]\n", "\"ring\" needs both ends", NULL},
    {SIZED "@processes = 2\n", "\"processes\" is not allowed in [[transfer]]", NULL},
    {CE "size = 1\nfrom.@gpu = 0\n" FLOWS, "from.gpu has no effect with [[transfer.flow]]", NULL},
    {CE "size = 1\n@concurrent = \"all\"\n" FLOWS, "concurrent has no effect with", NULL},
    {TRANSFER "size = 1\n@" FLOWS, "missing \"method\" in [[transfer.flow", NULL},
    {CE "@" FLOWS, "missing \"size\" in [[transfer.flow]]", NULL},
    {CE "size = 1\n" FLOWS "@direction = \"both\"\n",
     "\"direction\" is not allowed in [[transfer.flow]]", NULL},
    {CPU_BLOCK "@stream = 1\n", "\"stream\" has no effect with this method", NULL},
    {CPU_BLOCK "@count = 2\n", "\"count\" has no effect with this method", NULL},
    {TRANSFER "size = 1\nstream = 2\n" FLOWS "method = \"ce\"\n[[transfer.flow]]\n@method = "
              "\"cpu\"\nfrom.numa = 0\nto.numa = 0\n",
     "only flows of copy engines and kernels can share a stream", NULL},
    {GPU_SIZED "stream = @0\n", "stream: 0 is out of range", NULL},
    {GPU_SIZED "[[transfer.load]]\n@count = 2\n", "\"count\" is not allowed in", NULL},
    {GPU_SIZED "[transfer.@load]\nfrom.gpu = 0\n", "\"load\" must be written as [[transfer.load]]",
     NULL},
    /* Loads that mirror */
    {GPU_SIZED "[[transfer.load]]\nfrom.gpu = 0\nto.gpu = 1\n@direction = \"reverse\"\n",
     "direction applies to loads without from and to", NULL},
    {GPU_SIZED "[[transfer.load]]\ndirection = @\"both\"\n", "direction: invalid value \"both\"",
     NULL},
    {GPU_SIZED "[[transfer.load]]\n@peer = false\n", "takes the path of the measured flows", NULL},
    {SIZED "[[transfer.load]]\n@initiator = \"source\"\n",
     "between a NUMA node and a GPU the GPU initiates", NULL},
    {GPU_SIZED "[[transfer.load]]\nkernel.@block = 32\n",
     "\"kernel.block\" has no effect with this method", NULL},
    {TRANSFER "size = 1\n" FLOWS "method = \"sm\"\n[[transfer.load]]\nkernel.@block = 32\n",
     "the method to which this applies is not known", NULL},
    /* Chases */
    {CHASE_BLOCK, "missing \"space\" in [[chase]]", NULL},
    {CHASE_BLOCK "space = @\"hots\"\n", "invalid value \"hots\"", "host"},
    {CHASE_BLOCK "space = \"host\"\n@size = 1\n", "unknown key \"size\" in [[chase]]", "footprint"},
    {CHASE_BLOCK "space = \"host\"\n@verify = \"every\"\n",
     "\"verify\" is not allowed in [[chase]]", NULL},
    {CHASE_BLOCK "space = @\"host\"\nof.gpu = 1\n", "of.gpu is memory of a GPU", NULL},
    {CHASE_BLOCK "space = [\"host\", @\"peer\"]\nof.numa = 1\n", "of.numa is memory of a node",
     NULL},
    {CHASE_BLOCK "space = \"host\"\nof.memory = [\"pinned\", @\"device\"]\n",
     "a chase through the host does not read \"device\" memory", NULL},
    {CHASE_BLOCK "space = \"peer\"\nof.memory = @\"pinned\"\n",
     "a chase through the peer does not read \"pinned\" memory", NULL},
    {CHASE_BLOCK "space = \"peer\"\nstride = @[8, 12]\n", "12 is not a multiple of 8", NULL},
    {CHASE_BLOCK "space = \"peer\"\nfootprint = @\"1KiB\"\nstride = 1024\n",
     "less than two strides", NULL},
    {CHASE_BLOCK "space = \"peer\"\nfootprint = @\"1TiB\"\nstride = 8\n", "too many elements",
     NULL},
    {CHASE_BLOCK "space = @\"global\"\nof.gpu = 0\n", "space \"global\" does not read", NULL},
    {CHASE_BLOCK "space = \"shared\"\nof.memory = @\"pinned\"\n",
     "shared does not read \"pinned\" memory", NULL},
    {CHASE_BLOCK "space = \"host\"\n@cache = \"l2\"\n", "cache: only space", NULL},
    {CHASE_BLOCK "space = \"host\"\n@blocks = 2\nsm = \"each\"\n", "blocks: sm \"each\" has", NULL},
    {CHASE_BLOCK "space = \"global\"\nstride = @4\n", "4 is not a multiple of 8", NULL},
    {CHASE_BLOCK "space = \"global\"\nelement_bytes = 4\nstride = @6\n", "not a multiple of 4",
     NULL},
    {CHASE_BLOCK "space = \"global\"\nelement_bytes = 4\nfootprint = @\"4MiB\"\n",
     "tells 2 MiB apart", NULL},
    {CHASE_BLOCK "space = \"shared\"\n@element_bytes = 4\n", "only space \"global\"", NULL},
    {CHASE_BLOCK "space = \"shared\"\nstride = @6\n", "6 is not a multiple of 4", NULL},
    {CHASE_BLOCK "space = \"shared\"\nthreads = @1025\n", "1025 is out of range", NULL},
    {CHASE_BLOCK "space = \"shared\"\n@access = \"bulk\"\n", "shared memory is read by loads",
     NULL},
    {CHASE_BLOCK "space = \"global\"\n@cache = \"l1\"\naccess = \"bulk\"\n",
     "the bulk copy engine passes the L1 cache", NULL},
    {CHASE_BLOCK "space = \"peer\"\nstride = @24\naccess = \"bulk\"\n",
     "24 is not a multiple of 16", NULL},
    /* Streams */
    {"@[[stream]]\nname = \"s\"\nsize = 8\n", "missing \"op\" in [[stream]]", NULL},
    {STREAM_BLOCK "type = @\"f16\"\n", "do not support f16", NULL},
    {STREAM_BLOCK "type = [\"f32\", @\"i32\"]\n", "do not support i32", NULL},
    {STREAM_BLOCK "at = { gpu = 0, @numa = 0 }\n", "at.gpu is given already", NULL},
    {STREAM_BLOCK "at = { numa = @\"local\" }\n", "relative to a GPU", NULL},
    {STREAM_BLOCK "at = { numa = 0 }\n@block = 64\n", "only a stream on a GPU", NULL},
    {STREAM_BLOCK "@threads = 4\n", "only a stream on a node has it", NULL},
    {STREAM_BLOCK "at = { memory = @\"pinned\" }\n", "on a GPU does not work on", NULL},
    {STREAM_BLOCK "at = { numa = 0, memory = @\"managed\" }\n", "on a node does not", NULL},
    {"[[stream]]\nname = \"s\"\nop = \"dot\"\nsize = @[8, 12]\n",
     "12 bytes are not a whole number of f64", NULL},
    {STREAM_BLOCK "vector_bytes = @[16, 4]\n", "4 is less than one f64", NULL},
    {STREAM_BLOCK "unroll = @2\n", "no kernel for 2", NULL},
    {"[[stream]]\nname = \"s\"\nop = [\"add\", @\"dot\"]\nsize = 8\norder = \"sequence\"\n",
     "dot is not in the sequence", NULL},
    {"[[stream]]\nname = \"s\"\nop = \"add\"\ntype = @\"f32\"\nsize = 8\norder = \"sequence\"\n",
     "only numbers of f64", NULL},
    {STREAM_BLOCK "at = { numa = 0 }\n@order = \"sequence\"\n", "only a stream on a GPU", NULL},
    {STREAM_BLOCK "grid = @\"per_sm\"\n", "invalid value \"per_sm\"", NULL},
    {STREAM_BLOCK "grid = @\"per_sm*0\"\n", "invalid value \"per_sm*0\"", NULL},
    {STREAM_BLOCK "grid = @\"per_sm*-1\"\n", "invalid value \"per_sm*-1\"", NULL},
    {STREAM_BLOCK "grid = @\"per_sm*+2\"\n", "invalid value \"per_sm*+2\"", NULL},
    {STREAM_BLOCK "grid = @\"per_sm* 2\"\n", "invalid value \"per_sm* 2\"", NULL},
    {STREAM_BLOCK "grid = @\"per_sm*10000\"\n", "invalid value \"per_sm*10000\"", NULL},
    {STREAM_BLOCK "grid = @\"per_sm*x\"\n", "invalid value \"per_sm*x\"", NULL},
    {STREAM_BLOCK "grid = @0\n", "0 is out of range", NULL},
    {STREAM_BLOCK "grid = { from = @\"per_sm*1\", to = 9, step = 1 }\n", "text is not allowed here",
     NULL},
    {STREAM_BLOCK "precision = 0.1\n@free_share = 0.5\n", "\"free_share\" is not allowed", NULL},
    /* Arithmetic */
    {"@[[arithmetic]]\nname = \"a\"\nop = \"fma\"\n", "missing \"type\"", NULL},
    {ARITHMETIC_BLOCK "ilp = @[1, 2]\n", "with one chain, not 2", NULL},
    {ARITHMETIC_BLOCK "block = @64\n", "one warp, not 64 threads", NULL},
    {ARITHMETIC_BLOCK "grid = @\"per_sm*1\"\n", "latency is measured with one block", NULL},
    {ARITHMETIC_BLOCK "measure = \"throughput\"\ngrid = @\"full\"\n", "needs arrays", NULL},
    {ARITHMETIC_BLOCK "measure = \"throughput\"\nilp = @3\n", "3 is out of range", NULL},
    {"[[arithmetic]]\nname = \"a\"\nop = [\"add\", \"add3\"]\ntype = [\"i32\", @\"f32\"]\n",
     "add3 is an instruction of integers, not of f32", NULL},
    {"@[[arithmetic]]\nname = \"a\"\nop = \"add3\"\n", "missing \"type\"", NULL},
    {ARITHMETIC_BLOCK "instructions = @1000\n", "1000 is not a multiple of 512", NULL},
    {ARITHMETIC_BLOCK "@verify = \"once\"\n", "\"verify\" is not allowed", NULL},
    /* Streams and priorities */
    {"[[transfer]]\nname = \"t\"\nmethod = \"ce\"\nfrom.gpu = 0\nto.gpu = 0\n@streams = 2\n"
     "shape.width = 8\n",
     "streams divides contiguous bytes", NULL},
    {"[[transfer]]\nname = \"t\"\nmethod = \"cpu\"\nfrom.numa = 0\nto.numa = 0\nsize = 8\n"
     "@priority = \"highest\"\n",
     "\"priority\" has no effect with this method", NULL},
    /* Signals */
    {"@[[signal]]\nname = \"s\"\n", "missing \"op\" in [[signal]]", NULL},
    {"[[signal]]\nname = \"s\"\nop = \"atomics\"\naddresses = @65537\n", "65537 is out of range",
     NULL},
    {"[[signal]]\nname = \"s\"\nop = \"flag\"\nof = { process = 1, share = @\"ipc\" }\n",
     "of.share: \"ipc\" is for memory of a GPU", NULL},
    /* A chase by processors */
    {"[[chase]]\nname = \"c\"\nspace = @\"global\"\nat.numa = 0\n",
     "processors of a node load from the host's memory, not from \"global\"", NULL},
    {"[[chase]]\nname = \"c\"\nspace = \"host\"\nat.gpu = 0\nat.@numa = 0\n",
     "at.gpu is given already", NULL},
    {"[[chase]]\nname = \"c\"\nspace = \"host\"\nat.numa = @\"local\"\n",
     "are relative to a GPU, and there is none", NULL},
    {"[[chase]]\nname = \"c\"\nspace = \"host\"\nat.numa = 0\n@blocks = 2\n",
     "only a chase by a GPU has it", NULL},
    /* Kernels that compute */
    {"@[[compute]]\nname = \"c\"\n", "missing \"op\" in [[compute]]", NULL},
    {"[[compute]]\nname = \"c\"\nop = \"fma\"\nsm_percent = @101\n", "101 is out of range", NULL},
    {"[[transfer]]\nname = \"t\"\nmethod = @\"compute\"\nfrom.gpu = 0\nto.gpu = 0\nsize = 1\n",
     "moves nothing: it is measured by [[compute]]", NULL},
    {"[[compute]]\nname = \"c\"\nop = \"fma\"\n@[[compute.load]]\nmethod = \"ce\"\n",
     "missing \"size\" in [[compute.load]]", NULL},
    {"[[compute]]\nname = \"c\"\nop = \"fma\"\n[[compute.load]]\nmethod = \"ce\"\nsize = 1\n"
     "compute.@op = \"fma\"\n",
     "\"compute.op\" has no effect with this method", NULL},
    /* Overheads */
    {OVERHEAD_BLOCK, "missing \"operation\" in [[overhead]]", NULL},
    {OVERHEAD_BLOCK "operation = @\"kernel_lunch\"\n", "\"kernel_lunch\"", "kernel_launch"},
    {OVERHEAD_BLOCK "operation = \"graph_launch\"\n@size = 1\n",
     "size: applies to operations that take a size", NULL},
    {OVERHEAD_BLOCK "operation = \"event_record\"\n@nodes = 2\n",
     "nodes: applies to operations of graphs", NULL},
    {OVERHEAD_BLOCK "operation = \"free\"\n@touch_threads = 2\n",
     "touch_threads: applies to operations that pin pages", NULL},
    {OVERHEAD_BLOCK "operation = \"memset\"\nsize = 8\n@memory = \"pinned\"\n",
     "memory: applies to operations that allocate or free", NULL},
    {OVERHEAD_BLOCK "operation = \"event_record\"\nthreads = @65\n", "65 is out of range", NULL},
    {OVERHEAD_BLOCK "operation = \"graph_launch\"\nat.@numa = 1\n",
     "at.numa: applies to operations", NULL},
    /* A share is neither nothing nor all. */
    {"[measure]\nfree_share = @1\n" SIZED, "1 is out of range", NULL},
    {"[measure]\nfree_share = @0.0\n" SIZED, "0 is out of range", NULL},
    {SIZED "free_share = @1.5\n", "1.5 is out of range", NULL},
    {CHASE_BLOCK "space = \"peer\"\n[chase.@load]\n", "must be written as [[chase.load]]", NULL},
    {CHASE_BLOCK "space = \"peer\"\n@[[chase.load]]\nsize = 1\n",
     "missing \"method\" in [[chase.load]]", NULL},
    {CHASE_BLOCK "space = \"peer\"\n@[[chase.load]]\nmethod = \"ce\"\n",
     "missing \"size\" in [[chase.load]]", NULL},
    {CHASE_BLOCK
     "space = \"peer\"\n[[chase.load]]\nmethod = \"ce\"\nsize = 1\nkernel.@block = 32\n",
     "\"kernel.block\" has no effect with this method", NULL},
    {CHASE_BLOCK "space = \"peer\"\n[[chase.load]]\nmethod = \"ce\"\nsize = 1\n"
                 "from.gpu = 0\nto.gpu = 1\n@direction = \"reverse\"\n",
     "direction applies to loads without from and to", NULL},
};

/* The text without its '@', and where that stood. */
static void place_mark(const char *marked, char *text, size_t size, unsigned *line,
                       unsigned *column) {
  const int length = snprintf(text, size, HEAD "%s", marked);
  assert_true(length > 0 && (size_t)length < size);
  char *mark = strchr(text, '@');
  *line = 3;
  *column = 1;
  if (mark != NULL) {
    for (const char *p = text + strlen(HEAD); p < mark; p++) {
      *line += *p == '\n' ? 1 : 0;
      *column = *p == '\n' ? 1 : *column + 1;
    }
    memmove(mark, mark + 1, strlen(mark));
  }
}

TEST(every_mistake_is_found_where_it_is) {
  for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
    const struct mistake *mistake = &mistakes[i];
    char text[1024];
    unsigned line = 0;
    unsigned column = 0;
    place_mark(mistake->text, text, sizeof text, &line, &column);
    SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = must_refuse(text);
    assert_one(diagnostics, line, column, mistake->message);
    const char *suggestion = diagnostics_at(diagnostics, 0)->suggestion;
    if (mistake->suggestion == NULL) {
      assert_null(suggestion);
    } else {
      assert_non_null(suggestion);
      assert_string_equal(suggestion, mistake->suggestion);
    }
  }
}

TEST(a_file_has_a_head_and_unique_names) {
  static const struct {
    const char *text;
    unsigned line, column;
    const char *message;
  } files[] = {
      {"name = \"t\"\n" SIZED, 1, 1, "missing \"schema_version\""},
      {"schema_version = 1\n" SIZED, 1, 1, "missing \"name\""},
      {"schema_version = 2\nname = \"t\"\n" SIZED, 1, 18,
       "schema_version: 2 is not supported by this version"},
      {"schema_version = 1\nname = \"a b\"\n" SIZED, 2, 8, "name: invalid value \"a b\""},
      {HEAD, 1, 1, "nothing to measure"},
      {"", 1, 1, "the file is empty"},
      {"# nothing\n", 1, 1, "the file is empty"},
      {HEAD CPU_BLOCK SIZED, 10, 8, "already used by the block in line 3"},
  };
  for (size_t i = 0; i < COUNT_OF(files); i++) {
    SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = must_refuse(files[i].text);
    assert_one(diagnostics, files[i].line, files[i].column, files[i].message);
    assert_null(diagnostics_at(diagnostics, 0)->suggestion);
  }
}

static const char *const right[] = {
    SIZED "host_cache = \"flushed\"\niterations = 1\n",
    SIZED "host_cache = \"warm\"\niterations = 20\n",
    "[measure]\nhost_cache = \"flushed\"\niterations = 20\n" GPU_SIZED,
    GPU_SIZED "pairs = [\"ordered\", \"sample\"]\nsamples = [1, 3]\n",
    CE "size = 1\nfrom.gpu = \"GPU-8932f937\"\nto.gpu = [\"gpu-00\", 3]\n",
    SIZED "initiator = \"target\"\n",
    SIZED "initiator = \"source\"\ndirection = \"reverse\"\n",
    GPU_BLOCK
    "size = 1\nconcurrent = [\"ring\", \"bisect\"]\npairs = \"unordered\"\npeer = false\n",
    "[[transfer]]\nname = \"b\"\nmethod = \"um\"\nfrom.numa = 0\nto.gpu = 1\nsize = 1\n"
    "unified = { mode = \"demand\", touch_by = \"source\", threads = 8, advise = \"none\" }\n",
    CE "direction = \"both\"\nsize = 1\n" FLOWS,
    "[[transfer]]\nname = \"b\"\nthreads = 4\n"
    "[[transfer.flow]]\nmethod = \"cpu\"\nfrom.numa = 0\nto.numa = 1\nsize = 1\n",
    "[[transfer]]\nname = \"measure\"\nmethod = \"ce\"\nfrom.numa = 0\nto.numa = 0\npairs = "
    "\"same\"\n"
    "size = 1\n",
    SIZED "trials = { min = [1, 300], max = [200, 400] }\n"
          "zip = [[\"trials.min\", \"trials.max\"]]\n",
    CHASE_BLOCK "space = [\"host\", \"peer\", \"global\", \"shared\"]\nthreads = [1, 1024]\n",
    CHASE_BLOCK "space = \"shared\"\nfootprint = 8\nstride = 4\nblocks = 3\n",
    CHASE_BLOCK "space = [\"host\", \"shared\"]\naccess = [\"load\", \"bulk\"]\nstride = 16\n",
    CHASE_BLOCK "space = [\"global\", \"shared\"]\ncache = [\"l1\", \"l2\"]\nstride = 8\n",
    STREAM_BLOCK "grid = [34, \"per_sm*2\", \"full\", \"auto\"]\nclock = \"cycles\"\n",
    STREAM_BLOCK "grid = { from = 1, to = 48, step = 1 }\npasses = 10\nunroll = 4\n",
    STREAM_BLOCK "at = { numa = \"*\", memory = \"huge\" }\nthreads = [1, \"all\"]\n",
    ARITHMETIC_BLOCK "measure = [\"latency\", \"throughput\"]\n",
    ARITHMETIC_BLOCK "measure = \"throughput\"\nilp = [1, 8]\nblock = 33\ngrid = \"per_sm*3\"\n",
    OVERHEAD_BLOCK "operation = [\"kernel_launch\", \"free\"]\nmemory = [\"huge\", \"managed\"]\n",
    OVERHEAD_BLOCK "operation = \"allocate\"\nat = { gpu = 0, numa = \"remote\" }\n",
    SIZED "free_share = [0.01, 0.99]\n",
    GPU_SIZED "peer = [true, false]\ncpu = [1, \"any\", \"remote\", \"local\"]\n",
    CHASE_BLOCK "space = [\"host\", \"peer\"]\nstride = [8, 64]\nhops = 1\nwarmup = 0\n",
    CHASE_BLOCK "space = \"host\"\nat = { gpu = [0, 1] }\nof = { numa = \"remote\", memory = "
                "\"huge\" }\n",
    GPU_SIZED "[[transfer.load]]\nsize = [1, 2]\n[[transfer.load]]\nmethod = \"sm\"\n"
              "kernel.block = 32\ndirection = \"forward\"\ninitiator = \"source\"\n",
    CE "size = 1\n" FLOWS "[[transfer.load]]\n",
};

TEST(what_is_right_is_taken) {
  for (size_t i = 0; i < COUNT_OF(right); i++) {
    PRINTED(text, 1024, "%s%s", HEAD, right[i]);
    scenario_free(must_parse(text));
  }
}

/* A mistake of which the line to write is known. */
TEST(what_was_meant_is_written_out) {
  static const struct {
    const char *text, *message, *expected;
  } lines[] = {
      {"[checks]\ngovernor = \"performance\"\n" SIZED, "governor: text is not allowed here",
       "governor = { want = \"performance\" }: a table with one of: want, on_fail, on_unknown"},
      {"[checks]\ncache_flush = \"abort\"\n" SIZED, "cache_flush: text is not allowed here",
       "cache_flush = { on_fail = \"abort\" }: a table with one of: want, on_fail, on_unknown"},
      {CE "size = 1\nfrom.gpu = 0\nto = \"host\"\n", "to: text is not allowed here",
       "to = { numa = \"local\" }: a table with one of: gpu, numa, memory, process, share"},
      {CE "size = 1\nfrom.gpu = 0\nto = \"gpu1\"\n", "to: text is not allowed here",
       "to = { gpu = 1 }: a table with one of: gpu, numa, memory, process, share"},
      {"[checks]\ngpu_idle = true\n" SIZED, "gpu_idle: true or false is not allowed here",
       "gpu_idle = { want = true }: a table with one of: want, on_fail, on_unknown"},
      {"[checks]\ngovernor = \"fast\"\n" SIZED, "governor: text is not allowed here",
       "governor = { want = \"performance\" }: a table with one of: want, on_fail, on_unknown"},
      {CE "size = 1\nto.gpu = 0\nfrom.numa = [\"local\", \"remote\"]\n",
       "from.numa: an array holds numbers",
       "numa = \"*\" for the local and the remote nodes; or two blocks, one with \"local\" and one "
       "with \"remote\""},
      {CE "size = 1\nto.gpu = 0\nfrom.numa = [\"local\"]\n", "from.numa: an array holds numbers",
       "numa = \"local\", without brackets"},
      {CE "size = 1\nfrom.numa = 0\nto = { gpu = [\"0\", \"1\"] }\n",
       "to.gpu: an array holds numbers", "gpu = [0, 1], without quotes"},
  };
  for (size_t i = 0; i < COUNT_OF(lines); i++) {
    PRINTED(text, 1024, HEAD "%s", lines[i].text);
    SCOPED(diagnostics_free_at) struct diagnostics *diagnostics = must_refuse(text);
    assert_int_equal(diagnostics_count(diagnostics), 1);
    assert_contains(diagnostics_at(diagnostics, 0)->error.message, lines[i].message);
    assert_string_equal(diagnostics_at(diagnostics, 0)->expected, lines[i].expected);
  }
}

TEST(a_range_has_all_its_mistakes_at_once) {
  SCOPED(diagnostics_free_at)
  struct diagnostics *diagnostics =
      must_refuse(HEAD BLOCK "size = { from = 2, to = 1, factor = 1 }\n");
  assert_int_equal(diagnostics_count(diagnostics), 2);
  assert_non_null(strstr(diagnostics_at(diagnostics, 0)->error.message, "from is greater than to"));
  assert_non_null(strstr(diagnostics_at(diagnostics, 1)->error.message, "factor must be a number"));
}

TEST(ten_mistakes_are_ten_complaints_in_order) {
  SCOPED(diagnostics_free_at)
  struct diagnostics *diagnostics = must_refuse(
      "schema_version = 3\nnmae = \"x\"\nname = \"ten\"\n[measure]\ntrials = { min = 500 }\n"
      "host_cache = \"wram\"\n[checks]\ngovernor = { on_fail = \"abrot\" }\n[[transfer]]\n"
      "name = \"a b\"\nmethod = \"dma\"\nfrom = { gpu = \"all\", numa = 1 }\nto = { gpu = 0 }\n"
      "size = \"64KB\"\nthread = 3\n[[transfer]]\nname = \"ok\"\nmethod = \"ce\"\n"
      "from = { numa = 0 }\nto = { gpu = 0 }\nsize = 1\nkernel = { block = 5 }\n");
  static const unsigned places[][2] = {{1, 18},  {2, 1},   {5, 18},  {6, 14}, {8, 24}, {10, 8},
                                       {11, 10}, {12, 16}, {12, 23}, {14, 8}, {15, 1}, {22, 12}};
  assert_int_equal(diagnostics_count(diagnostics), 12);
  for (size_t i = 0; i < 12; i++) {
    const struct position *at = &diagnostics_at(diagnostics, i)->error.position;
    assert_int_equal(at->line, places[i][0]);
    assert_int_equal(at->column, places[i][1]);
    assert_non_null(diagnostics_at(diagnostics, i)->expected);
    assert_non_null(diagnostics_at(diagnostics, i)->source_line);
  }
  assert_string_equal(diagnostics_at(diagnostics, 1)->suggestion, "name");
  assert_string_equal(diagnostics_at(diagnostics, 10)->suggestion, "threads");
}
