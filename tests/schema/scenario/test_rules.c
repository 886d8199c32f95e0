#include "support.h"

/* A text with one mistake, and where it must be found. */
struct mistake {
  const char *text;
  unsigned line;
  unsigned column;
  const char *message;    /* part of it */
  const char *suggestion; /* NULL = none */
};

#define CPU_BLOCK                                                                                  \
  "[[transfer]]\nname = \"b\"\nmethod = \"cpu\"\nfrom.numa = 0\nto.numa = 0\nsize = 1\n"
#define CHASE_BLOCK      "[[chase]]\nname = \"c\"\n"
#define STREAM_BLOCK     "[[stream]]\nname = \"s\"\nop = \"copy\"\nsize = 4096\n"
#define ARITHMETIC_BLOCK "[[arithmetic]]\nname = \"a\"\nop = \"fma\"\ntype = \"f32\"\n"
#define OVERHEAD_BLOCK   "[[overhead]]\nname = \"o\"\n"
#define FLOWS            "[[transfer.flow]]\nfrom.gpu = 0\nto.gpu = 1\n"

static const struct mistake mistakes[] = {
    /* The head */
    {"name = \"t\"\n" BLOCK "size = 1\n", 1, 1, "missing \"schema_version\"", NULL},
    {"schema_version = 1\n" BLOCK "size = 1\n", 1, 1, "missing \"name\"", NULL},
    {"schema_version = 2\nname = \"t\"\n" BLOCK "size = 1\n", 1, 18,
     "schema_version: 2 is not supported by this version", NULL},
    {"schema_version = 1\nname = \"a b\"\n" BLOCK "size = 1\n", 2, 8, "name: invalid value \"a b\"",
     NULL},
    {HEAD, 1, 1, "nothing to measure", NULL},
    {"", 1, 1, "the file is empty", NULL},
    {"# nothing\n", 1, 1, "the file is empty", NULL},
    {HEAD "descripton = \"x\"\n" BLOCK "size = 1\n", 3, 1, "unknown key \"descripton\"",
     "description"},
    {HEAD "size = 1\n" BLOCK "size = 1\n", 3, 1, "\"size\" is not allowed in", NULL},
    {HEAD "measure = 1\n" BLOCK "size = 1\n", 3, 1, "\"measure\" must be written as [measure]",
     NULL},
    {HEAD "[[measure]]\n" BLOCK "size = 1\n", 3, 3, "\"measure\" must be written as [measure]",
     NULL},
    {HEAD "[transfer]\nname = \"x\"\n", 3, 2, "\"transfer\" must be written as [[transfer]]", NULL},
    {HEAD "[stream]\n" BLOCK "size = 1\n", 3, 2, "\"stream\" must be written as [[stream]]", NULL},
    {HEAD "[steam]\n" BLOCK "size = 1\n", 3, 2, "unknown key \"steam\"", "stream"},
    /* [measure] and [checks] */
    {HEAD "[measure]\nwarmpu = 1\n" BLOCK "size = 1\n", 4, 1, "unknown key \"warmpu\"", "warmup"},
    {HEAD "[measure]\nmax_time = 20\n" BLOCK "size = 1\n", 4, 12, "20 lacks a unit", NULL},
    {HEAD "[measure]\nmax_time = \"20 ms\"\n" BLOCK "size = 1\n", 4, 12, "\"20 ms\"", "20ms"},
    {HEAD "[measure]\nprecision = 0.9\n" BLOCK "size = 1\n", 4, 13, "0.9 is out of range", NULL},
    {HEAD "[measure]\ndelta = 1\n" BLOCK "size = 1\n", 4, 9, "1 is out of range", NULL},
    {HEAD "[measure]\ndelta = 0\n" BLOCK "size = 1\n", 4, 9, "0 is out of range", NULL},
    {HEAD "[measure]\ndelta = \"1 %\"\n" BLOCK "size = 1\n", 4, 9, "invalid value \"1 %\"", NULL},
    {HEAD BLOCK "size = 1\ndelta = \"aut\"\n", 9, 9, "invalid value \"aut\"", "auto"},
    {HEAD "[measure]\nwarmup = 1.5\n" BLOCK "size = 1\n", 4, 10, "warmup", NULL},
    {HEAD "[measure]\nwarmup = true\n" BLOCK "size = 1\n", 4, 10, "true or false is not allowed",
     NULL},
    {HEAD "[measure]\ntrials = 5\n" BLOCK "size = 1\n", 4, 10, "trials: an integer", NULL},
    {HEAD "[measure]\ntrials = { mni = 5 }\n" BLOCK "size = 1\n", 4, 12,
     "unknown key \"trials.mni\"", "min"},
    {HEAD "[measure]\ntrials = { min = 9, max = 8 }\n" BLOCK "size = 1\n", 4, 27,
     "min, 9, is greater", NULL},
    {HEAD "[measure]\ntrials.min = 500\n" BLOCK "size = 1\n", 4, 14,
     "greater than max, 200 by default", NULL},
    {HEAD BLOCK "size = 1\ntrials = { min = [1, 9, 300] }\n", 9, 18, "min, 300, is greater", NULL},
    {HEAD "[measure]\nprocesses = [1, 2]\n" BLOCK "size = 1\n", 4, 13, "only one value", NULL},
    {HEAD "[measure]\niterations = \"aut\"\n" BLOCK "size = 1\n", 4, 14, "\"aut\"", "auto"},
    {HEAD "[measure]\n\"trials.min\" = 1\n" BLOCK "size = 1\n", 4, 1, "unknown key \"trials.min\"",
     NULL},
    {HEAD "[checks]\ngovernor = { want = \"performace\" }\n" BLOCK "size = 1\n", 4, 21,
     "\"performace\"", "performance"},
    {HEAD "[checks]\ngovernor = \"performance\"\n" BLOCK "size = 1\n", 4, 12, "governor: text",
     NULL},
    {HEAD "[checks]\ndriver = { on_fail = \"skip\" }\n" BLOCK "size = 1\n", 4, 12,
     "missing \"driver.want\"", NULL},
    {HEAD "[checks]\ndriver = { want = \">=5x\" }\n" BLOCK "size = 1\n", 4, 19, "\">=5x\"", NULL},
    /* Names */
    {HEAD "[[transfer]]\nmethod = \"ce\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 1\n", 3, 1,
     "missing \"name\" in [[transfer]]", NULL},
    {HEAD "[[transfer]]\nname = \"a/b\"\nmethod = \"ce\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 1\n", 4,
     8, "name: invalid value \"a/b\"", NULL},
    {HEAD CPU_BLOCK BLOCK "size = 1\n", 10, 8, "already used by the block in line 3", NULL},
    {HEAD GPU_BLOCK "size = 1\n[[transfer.load]]\nname = \"x\"\nfrom.gpu = 0\nto.gpu = 1\n"
                    "[[transfer.load]]\nname = \"x\"\nfrom.gpu = 0\nto.gpu = 1\n",
     14, 8, "\"load.x\" is listed twice", NULL},
    /* Endpoints */
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nto.gpu = 1\nsize = 1\n", 3, 1,
     "missing \"from\"", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nfrom.memory = \"pinned\"\nto.gpu = 1\n"
          "size = 1\n",
     6, 6, "from: the place is missing", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nfrom = { gpu = 0, numa = 0 }\nto.gpu = 1\n"
          "size = 1\n",
     6, 19, "gpu and numa cannot both be given", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nfrom = 0\nto.gpu = 1\nsize = 1\n", 6, 8,
     "from: an integer is not allowed here", NULL},
    {HEAD GPU_BLOCK "size = 1\nfrom.memory = \"device\"\n", 9, 1, "duplicate key", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nfrom = { gpu = 0, memory = \"pinned\" }\n"
          "to.gpu = 1\nsize = 1\n",
     6, 28, "no \"pinned\" memory on a GPU", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nfrom = { numa = 0, memory = [\"huge\", "
          "\"device\"] }\nto.gpu = 1\nsize = 1\n",
     6, 38, "no \"device\" memory on a NUMA node", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"cpu\"\nfrom.numa = \"local\"\nto.numa = 1\n"
          "size = 1\n",
     6, 13, "\"local\" is seen from a GPU", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"cpu\"\nfrom.numa = 0\nto.numa = \"remote\"\n"
          "size = 1\n",
     7, 11, "\"remote\" is seen from a GPU", NULL},
    {HEAD
     "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nfrom.numa = \"locl\"\nto.gpu = 1\nsize = 1\n",
     6, 13, "\"locl\"", "local"},
    {HEAD
     "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nfrom.gpu = \"local\"\nto.gpu = 1\nsize = 1\n",
     6, 12, "invalid value \"local\"", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nfrom.gpu = \"3-1\"\nto.gpu = 1\nsize = 1\n",
     6, 12, "\"3-1\"", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nfrom.gpu = [0, -1]\nto.gpu = 1\nsize = 1\n",
     6, 16, "-1 is out of range", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nfrom.gpu = []\nto.gpu = 1\nsize = 1\n", 6,
     12, "the array is empty", NULL},
    /* Methods and what belongs to them */
    {HEAD "[[transfer]]\nname = \"b\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 1\n", 3, 1,
     "missing \"method\"", NULL},
    {HEAD BLOCK "size = 1\nmethod = \"sm\"\n", 9, 10, "duplicate key", NULL},
    {HEAD
     "[[transfer]]\nname = \"b\"\nmethod = [\"ce\", \"cpu\"]\nfrom.gpu = 0\nto.gpu = 1\nsize = 1\n",
     5, 17, "method \"cpu\" moves bytes between NUMA nodes", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"sm\"\nfrom.numa = 0\nto.numa = 1\nsize = 1\n", 5,
     10, "method \"sm\" needs a GPU", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"um\"\nfrom = { numa = 0, memory = \"pinned\" }\n"
          "to.gpu = 1\nsize = 1\n",
     6, 29, "method \"um\" moves managed memory", NULL},
    {HEAD BLOCK "size = 1\nthreads = 2\n", 9, 1, "\"threads\" has no effect", NULL},
    {HEAD BLOCK "size = 1\nkernel = { block = 2 }\n", 9, 12, "\"kernel.block\" has no effect",
     NULL},
    {HEAD BLOCK "size = 1\nunified.mode = \"prefetch\"\n", 9, 9, "\"unified.mode\" has no effect",
     NULL},
    {HEAD
     "[[transfer]]\nname = \"b\"\nmethod = \"um\"\nfrom.numa = 0\nto.gpu = 1\nshape.width = 8\n",
     8, 7, "\"shape.width\" has no effect", NULL},
    {HEAD BLOCK "size = 1\ninitiator = \"source\"\n", 9, 13, "\"source\" would be a NUMA node",
     NULL},
    {HEAD BLOCK "size = 1\ninitiator = \"target\"\ndirection = [\"forward\", \"reverse\"]\n", 9, 13,
     "\"target\" would be a NUMA node", NULL},
    {HEAD BLOCK "size = 1\npeer = false\n", 9, 1, "peer is for flows between two GPUs", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"sm\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 1\n"
          "peer = [true, false]\n",
     9, 15, "only copy engines can stage", NULL},
    /* Sizes and shapes */
    {HEAD BLOCK, 3, 1, "missing \"size\"", NULL},
    {HEAD BLOCK "size = 0\n", 8, 8, "size: 0 is out of range", NULL},
    {HEAD BLOCK "size = -5\n", 8, 8, "size: -5 is out of range", NULL},
    {HEAD BLOCK "size = \"64KB\"\n", 8, 8, "\"64KB\"", "64kB"},
    {HEAD BLOCK "size = \"1000000TiB\"\n", 8, 8, "1000000TiB is out of range", NULL},
    {HEAD BLOCK "size = 1.5\n", 8, 8, "size: a number is not allowed", NULL},
    {HEAD BLOCK "size = []\n", 8, 8, "the array is empty", NULL},
    {HEAD BLOCK "size = [1, [2]]\n", 8, 12, "an array is not allowed here", NULL},
    {HEAD BLOCK "size = 1\nshape.width = 4\n", 8, 1, "the size follows from shape", NULL},
    {HEAD BLOCK "size = 1\nshape.height = 4\n", 9, 7, "nothing without shape.width", NULL},
    {HEAD BLOCK "shape = { width = 64, pitch = 32 }\n", 8, 31, "rows of 64 bytes", NULL},
    {HEAD BLOCK "shape = { width = [8, 64], pitch = 32 }\n", 8, 36, "rows of 64 bytes", NULL},
    {HEAD BLOCK "shape = { width = \"1TiB\", height = 1000 }\n", 8, 19, "the shape is too large",
     NULL},
    /* Ranges */
    {HEAD BLOCK "size = { from = 2, to = 1, factor = 2 }\n", 8, 8, "from is greater than to", NULL},
    {HEAD BLOCK "size = { from = 2, factor = 2 }\n", 8, 8, "a range needs from and to", NULL},
    {HEAD BLOCK "size = { from = 2, to = 4 }\n", 8, 8, "either factor or step", NULL},
    {HEAD BLOCK "size = { from = 2, to = 4, factor = 2, step = 1 }\n", 8, 8,
     "either factor or step", NULL},
    {HEAD BLOCK "size = { from = 2, to = 4, factor = 1 }\n", 8, 37, "factor must be", NULL},
    {HEAD BLOCK "size = { from = 2, to = 4, factor = \"2\" }\n", 8, 37, "factor must be", NULL},
    {HEAD BLOCK "size = { from = 2, to = 4, facto = 2 }\n", 8, 28, "unknown key \"facto\"",
     "factor"},
    {HEAD BLOCK "size = { from = 2, to = 4, step = 0 }\n", 8, 35, "0 is out of range", NULL},
    {HEAD BLOCK "size = { from = 1, to = \"1GiB\", step = 1 }\n", 8, 8, "more than 1048576 values",
     NULL},
    {HEAD BLOCK "size = { from = 1, to = 2, factor = 1.000000000001 }\n", 8, 8,
     "more than 1048576 values", NULL},
    {HEAD BLOCK "size = 1\nwarmup = { from = 0, to = 4, factor = 2 }\n", 9, 10, "cannot start at 0",
     NULL},
    {HEAD BLOCK "size = 1\nverify = { from = 0, to = 4, factor = 2 }\n", 9, 10,
     "a table is not allowed here", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"sm\"\nfrom.gpu = 0\nto.gpu = 1\nsize = 1\n"
          "kernel.vector_bytes = { from = 1, to = 16, step = 5 }\n",
     9, 23, "powers of two", NULL},
    /* zip */
    {HEAD BLOCK "size = [1, 2]\nwarmup = [1, 2, 3]\nzip = [[\"size\", \"warmup\"]]\n", 10, 17,
     "\"warmup\" has 3 values, the axis before it 2", NULL},
    {HEAD BLOCK "size = [1, 2]\nzip = [[\"size\", \"sise\"]]\n", 9, 17, "\"sise\" is not an axis",
     "size"},
    {HEAD BLOCK "size = [1, 2]\nwarmup = 3\nzip = [[\"size\", \"warmup\"]]\n", 10, 17,
     "\"warmup\" is not an axis", NULL},
    {HEAD BLOCK "size = [1, 2]\nzip = [[\"size\", \"size\"]]\n", 9, 17, "\"size\" is listed twice",
     NULL},
    {HEAD BLOCK "size = [1, 2]\nzip = [\"size\"]\n", 9, 8, "array of at least two keys", NULL},
    {HEAD BLOCK "size = [1, 2]\nzip = \"size\"\n", 9, 7, "expected an array", NULL},
    {HEAD BLOCK "size = [1, 2]\nzip = [[\"size\", 1]]\n", 9, 17, "expected keys in quotes", NULL},
    /* Which flows */
    {HEAD BLOCK "size = 1\npairs = \"same\"\n", 9, 9, "pairs \"same\" needs both ends", NULL},
    {HEAD BLOCK "size = 1\nconcurrent = [\"all\", \"ring\"]\n", 9, 22, "\"ring\" needs both ends",
     NULL},
    {HEAD BLOCK "size = 1\nprocesses = 2\n", 9, 1, "\"processes\" is not allowed in [[transfer]]",
     NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nsize = 1\nfrom.gpu = 0\n" FLOWS, 7, 6,
     "from.gpu has no meaning beside [[transfer.flow]]", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nsize = 1\nconcurrent = \"all\"\n" FLOWS, 7,
     1, "concurrent has no meaning beside", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nsize = 1\n" FLOWS, 6, 1,
     "missing \"method\" in [[transfer.flow", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\n" FLOWS, 6, 1,
     "missing \"size\" in [[transfer.flow]]", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nsize = 1\n" FLOWS "direction = \"both\"\n",
     10, 1, "\"direction\" is not allowed in [[transfer.flow]]", NULL},
    {HEAD GPU_BLOCK "size = 1\n[transfer.load]\nfrom.gpu = 0\n", 9, 11,
     "\"load\" must be written as [[transfer.load]]", NULL},
    /* Loads that mirror */
    {HEAD GPU_BLOCK "size = 1\n[[transfer.load]]\nfrom.gpu = 0\nto.gpu = 1\ndirection = "
                    "\"reverse\"\n",
     12, 1, "direction is for a load without from and to", NULL},
    {HEAD GPU_BLOCK "size = 1\n[[transfer.load]]\ndirection = \"both\"\n", 10, 13,
     "direction: invalid value \"both\"", NULL},
    {HEAD GPU_BLOCK "size = 1\n[[transfer.load]]\npeer = false\n", 10, 1,
     "goes the way of the measured flows", NULL},
    {HEAD BLOCK "size = 1\n[[transfer.load]]\ninitiator = \"source\"\n", 10, 1,
     "between a NUMA node and a GPU the GPU starts", NULL},
    {HEAD GPU_BLOCK "size = 1\n[[transfer.load]]\nkernel.block = 32\n", 10, 8,
     "\"kernel.block\" has no effect with this method", NULL},
    {HEAD "[[transfer]]\nname = \"b\"\nsize = 1\n" FLOWS "method = \"sm\"\n"
          "[[transfer.load]]\nkernel.block = 32\n",
     11, 8, "it is not known which method this is for", NULL},
    /* Chases */
    {HEAD CHASE_BLOCK, 3, 1, "missing \"space\" in [[chase]]", NULL},
    {HEAD CHASE_BLOCK "space = \"hots\"\n", 5, 9, "invalid value \"hots\"", "host"},
    {HEAD CHASE_BLOCK "space = \"host\"\nsize = 1\n", 6, 1, "\"size\" is not allowed in [[chase]]",
     NULL},
    {HEAD CHASE_BLOCK "space = \"host\"\nverify = \"every\"\n", 6, 1,
     "\"verify\" is not allowed in [[chase]]", NULL},
    {HEAD CHASE_BLOCK "space = \"host\"\nof.gpu = 1\n", 5, 9, "of.gpu is the memory of a GPU",
     NULL},
    {HEAD CHASE_BLOCK "space = [\"host\", \"peer\"]\nof.numa = 1\n", 5, 18,
     "of.numa is the memory of a node", NULL},
    {HEAD CHASE_BLOCK "space = \"host\"\nof.memory = [\"pinned\", \"device\"]\n", 6, 24,
     "a chase through the host does not read \"device\" memory", NULL},
    {HEAD CHASE_BLOCK "space = \"peer\"\nof.memory = \"pinned\"\n", 6, 13,
     "a chase through the peer does not read \"pinned\" memory", NULL},
    {HEAD CHASE_BLOCK "space = \"peer\"\nstride = [8, 12]\n", 6, 10, "12 is no multiple of 8",
     NULL},
    {HEAD CHASE_BLOCK "space = \"peer\"\nfootprint = \"1KiB\"\nstride = 1024\n", 6, 13,
     "less than two elements", NULL},
    {HEAD CHASE_BLOCK "space = \"peer\"\nfootprint = \"1TiB\"\nstride = 8\n", 6, 13,
     "too many elements", NULL},
    {HEAD CHASE_BLOCK "space = \"global\"\nof.gpu = 0\n", 5, 9, "space \"global\" does not read",
     NULL},
    {HEAD CHASE_BLOCK "space = \"shared\"\nof.memory = \"pinned\"\n", 6, 13,
     "shared does not read \"pinned\" memory", NULL},
    {HEAD CHASE_BLOCK "space = \"host\"\ncache = \"l2\"\n", 6, 1, "cache: only a chase through",
     NULL},
    {HEAD CHASE_BLOCK "space = \"global\"\nstride = 4\n", 6, 10, "4 is no multiple of 8", NULL},
    {HEAD CHASE_BLOCK "space = \"shared\"\nstride = 6\n", 6, 10, "6 is no multiple of 4", NULL},
    {HEAD CHASE_BLOCK "space = \"shared\"\nthreads = 1025\n", 6, 11, "1025 is out of range", NULL},
    /* Streams */
    {HEAD "[[stream]]\nname = \"s\"\nsize = 8\n", 3, 1, "missing \"op\" in [[stream]]", NULL},
    {HEAD STREAM_BLOCK "type = \"f16\"\n", 7, 8, "a stream has no numbers of f16", NULL},
    {HEAD STREAM_BLOCK "type = [\"f32\", \"i32\"]\n", 7, 16, "no numbers of i32", NULL},
    {HEAD STREAM_BLOCK "at = { gpu = 0, numa = 0 }\n", 7, 17, "on GPUs already", NULL},
    {HEAD STREAM_BLOCK "at = { numa = \"local\" }\n", 7, 15, "seen from a GPU", NULL},
    {HEAD STREAM_BLOCK "at = { numa = 0 }\nblock = 64\n", 8, 1, "only a stream on a GPU", NULL},
    {HEAD STREAM_BLOCK "threads = 4\n", 7, 1, "only a stream on a node has it", NULL},
    {HEAD STREAM_BLOCK "at = { memory = \"pinned\" }\n", 7, 17, "on a GPU does not work on", NULL},
    {HEAD STREAM_BLOCK "at = { numa = 0, memory = \"managed\" }\n", 7, 27, "on a node does not",
     NULL},
    {HEAD "[[stream]]\nname = \"s\"\nop = \"dot\"\nsize = [8, 12]\n", 6, 8,
     "12 bytes are no whole number of f64", NULL},
    {HEAD STREAM_BLOCK "vector_bytes = [16, 4]\n", 7, 16, "4 is less than one f64", NULL},
    {HEAD STREAM_BLOCK "unroll = 2\n", 7, 10, "no kernel for 2", NULL},
    {HEAD STREAM_BLOCK "grid = \"per_sm\"\n", 7, 8, "invalid value \"per_sm\"", NULL},
    {HEAD STREAM_BLOCK "grid = \"per_sm*0\"\n", 7, 8, "invalid value \"per_sm*0\"", NULL},
    {HEAD STREAM_BLOCK "grid = \"per_sm*x\"\n", 7, 8, "invalid value \"per_sm*x\"", NULL},
    {HEAD STREAM_BLOCK "grid = 0\n", 7, 8, "0 is out of range", NULL},
    {HEAD STREAM_BLOCK "grid = { from = \"per_sm*1\", to = 9, step = 1 }\n", 7, 17,
     "text is not allowed here", NULL},
    {HEAD STREAM_BLOCK "precision = 0.1\nfree_share = 0.5\n", 8, 1, "\"free_share\" is not allowed",
     NULL},
    /* Arithmetic */
    {HEAD "[[arithmetic]]\nname = \"a\"\nop = \"fma\"\n", 3, 1, "missing \"type\"", NULL},
    {HEAD ARITHMETIC_BLOCK "ilp = [1, 2]\n", 7, 7, "of one chain, not of 2", NULL},
    {HEAD ARITHMETIC_BLOCK "block = 64\n", 7, 9, "64 threads are more", NULL},
    {HEAD ARITHMETIC_BLOCK "grid = \"per_sm*1\"\n", 7, 8, "latency is that of one block", NULL},
    {HEAD ARITHMETIC_BLOCK "measure = \"throughput\"\ngrid = \"full\"\n", 8, 8, "no arrays", NULL},
    {HEAD ARITHMETIC_BLOCK "measure = \"throughput\"\nilp = 3\n", 8, 7, "3 is out of range", NULL},
    {HEAD ARITHMETIC_BLOCK "instructions = 1000\n", 7, 16, "1000 is no multiple of 512", NULL},
    {HEAD ARITHMETIC_BLOCK "verify = \"once\"\n", 7, 1, "\"verify\" is not allowed", NULL},
    /* Overheads */
    {HEAD OVERHEAD_BLOCK, 3, 1, "missing \"operation\" in [[overhead]]", NULL},
    {HEAD OVERHEAD_BLOCK "operation = \"kernel_lunch\"\n", 5, 13, "\"kernel_lunch\"",
     "kernel_launch"},
    {HEAD OVERHEAD_BLOCK "operation = \"graph_launch\"\nsize = 1\n", 6, 1,
     "size: no operation here allocates", NULL},
    {HEAD OVERHEAD_BLOCK "operation = \"graph_launch\"\nat.numa = 1\n", 6, 4,
     "at.numa: no operation here", NULL},
    /* A share is neither nothing nor all. */
    {HEAD "[measure]\nfree_share = 1\n" BLOCK "size = 1\n", 4, 14, "1 is out of range", NULL},
    {HEAD "[measure]\nfree_share = 0.0\n" BLOCK "size = 1\n", 4, 14, "0 is out of range", NULL},
    {HEAD BLOCK "size = 1\nfree_share = 1.5\n", 9, 14, "1.5 is out of range", NULL},
    {HEAD CHASE_BLOCK "space = \"peer\"\n[chase.load]\n", 6, 8, "unknown key \"load\" in [[chase]]",
     NULL},
};

static void every_mistake_is_found_where_it_is(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    const struct mistake *mistake = &mistakes[i];
    struct diagnostics *diagnostics = must_refuse(mistake->text);
    assert_one(diagnostics, mistake->line, mistake->column, mistake->message);
    const char *suggestion = diagnostics_at(diagnostics, 0)->suggestion;
    if (mistake->suggestion == NULL) {
      assert_null(suggestion);
    } else {
      assert_non_null(suggestion);
      assert_string_equal(suggestion, mistake->suggestion);
    }
    diagnostics_free(diagnostics);
  }
}

static const char *const right[] = {
    BLOCK "size = 1\ninitiator = \"target\"\n",
    BLOCK "size = 1\ninitiator = \"source\"\ndirection = \"reverse\"\n",
    GPU_BLOCK
    "size = 1\nconcurrent = [\"ring\", \"bisect\"]\npairs = \"unordered\"\npeer = false\n",
    "[[transfer]]\nname = \"b\"\nmethod = \"um\"\nfrom.numa = 0\nto.gpu = 1\nsize = 1\n"
    "unified = { mode = \"demand\", touch_by = \"source\", threads = 8, advise = \"none\" }\n",
    "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\ndirection = \"both\"\nsize = 1\n" FLOWS,
    "[[transfer]]\nname = \"b\"\nthreads = 4\n"
    "[[transfer.flow]]\nmethod = \"cpu\"\nfrom.numa = 0\nto.numa = 1\nsize = 1\n",
    "[[transfer]]\nname = \"measure\"\nmethod = \"ce\"\nfrom.numa = 0\nto.numa = 0\npairs = "
    "\"same\"\n"
    "size = 1\n",
    BLOCK "size = 1\ntrials = { min = [1, 300], max = [200, 400] }\n"
          "zip = [[\"trials.min\", \"trials.max\"]]\n",
    CHASE_BLOCK "space = [\"host\", \"peer\", \"global\", \"shared\"]\nthreads = [1, 1024]\n",
    CHASE_BLOCK "space = \"shared\"\nfootprint = 8\nstride = 4\nblocks = 3\n",
    CHASE_BLOCK "space = [\"global\", \"shared\"]\ncache = [\"l1\", \"l2\"]\nstride = 8\n",
    STREAM_BLOCK "grid = [34, \"per_sm*2\", \"full\", \"auto\"]\nclock = \"cycles\"\n",
    STREAM_BLOCK "grid = { from = 1, to = 48, step = 1 }\npasses = 10\nunroll = 4\n",
    STREAM_BLOCK "at = { numa = \"*\", memory = \"huge\" }\nthreads = [1, \"all\"]\n",
    ARITHMETIC_BLOCK "measure = [\"latency\", \"throughput\"]\n",
    ARITHMETIC_BLOCK "measure = \"throughput\"\nilp = [1, 8]\nblock = 33\ngrid = \"per_sm*3\"\n",
    OVERHEAD_BLOCK "operation = [\"kernel_launch\", \"free\"]\nmemory = [\"huge\", \"managed\"]\n",
    OVERHEAD_BLOCK "operation = \"allocate\"\nat = { gpu = 0, numa = \"remote\" }\n",
    BLOCK "size = 1\nfree_share = [0.01, 0.99]\n",
    CHASE_BLOCK "space = [\"host\", \"peer\"]\nstride = [8, 64]\nhops = 1\nwarmup = 0\n",
    CHASE_BLOCK "space = \"host\"\nat = { gpu = [0, 1] }\nof = { numa = \"remote\", memory = "
                "\"huge\" }\n",
    GPU_BLOCK "size = 1\n[[transfer.load]]\nsize = [1, 2]\n[[transfer.load]]\nmethod = \"sm\"\n"
              "kernel.block = 32\ndirection = \"forward\"\ninitiator = \"source\"\n",
    "[[transfer]]\nname = \"b\"\nmethod = \"ce\"\nsize = 1\n" FLOWS "[[transfer.load]]\n",
};

static void what_is_right_is_taken(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    char text[1024];
    (void)snprintf(text, sizeof text, "%s%s", HEAD, right[i]);
    scenario_free(must_parse(text));
  }
}

static void ten_mistakes_are_ten_complaints_in_order(void **state) {
  (void)state;
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
  diagnostics_free(diagnostics);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_mistake_is_found_where_it_is),
      cmocka_unit_test(what_is_right_is_taken),
      cmocka_unit_test(ten_mistakes_are_ten_complaints_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
