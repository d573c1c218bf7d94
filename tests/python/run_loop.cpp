// run_loop SCENARIO COUNT: what one `stepcast.run(SCENARIO)` of Python does, so often from C++ alone; prints the
// seconds of the processor. tests/python/overhead.py compares it with Python's.

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "python/calls.h"

int main(int count, char** words) {
  if (count != 3) return 2;
  const int times = std::atoi(words[2]);
  std::size_t bytes = stepcast::python::run({stepcast::python::Asking(std::string(words[1]))}, {}).size();
  const std::clock_t start = std::clock();
  for (int i = 0; i < times; ++i)
    bytes += stepcast::python::run({stepcast::python::Asking(std::string(words[1]))}, {}).size();
  std::printf("%.6f\n", static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  return bytes == 0 ? 1 : 0;
}
