/* work.h - what a case of any kind but transfer measures: the member of that kind. */
#pragma once

#include "engine/case/arithmetic.h"
#include "engine/case/chase.h"
#include "engine/case/overhead.h"
#include "engine/case/signal.h"
#include "engine/case/stream.h"

union work {
  struct chase chase;
  struct stream stream;
  struct arithmetic arithmetic;
  struct overhead overhead;
  struct signal signal;
};
