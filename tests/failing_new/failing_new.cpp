// Linked into a program: lets its allocations fail, as they do where memory runs out.
//   STEPCAST_FAIL_AT=N     the Nth allocation fails, and all after it
//   STEPCAST_FAIL_ABOVE=B  those of more than B bytes fail, or the first STEPCAST_FAIL_COUNT of them

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::size_t number_in(const char* variable, std::size_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

bool fails(std::size_t bytes) {
  constexpr std::size_t kNever = ~std::size_t{0};
  static std::atomic<std::size_t> allocations{0}, large{0};
  static const std::size_t first = number_in("STEPCAST_FAIL_AT", kNever);
  static const std::size_t most = number_in("STEPCAST_FAIL_ABOVE", kNever);
  static const std::size_t count = number_in("STEPCAST_FAIL_COUNT", kNever);
  return ++allocations >= first || (bytes > most && ++large <= count);
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = fails(bytes) ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
