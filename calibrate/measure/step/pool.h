#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace stepcast::measure {

template <class T>
class PoolBlock;

/// Memory of one GPU, handed out and taken back block by block. What comes back is kept for the next block of the same
/// size, without waiting, as frameworks' caching allocators do: all blocks must be used on one stream alone.
class Pool {
 public:
  Pool() = default;
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Elements of T, not initialised. The pool must outlive them. Throws std::runtime_error where memory does not
  /// suffice.
  template <class T>
  PoolBlock<T> take(std::int64_t elements);

  std::int64_t peak() const { return peak_; }          ///< most bytes handed out at one time
  std::int64_t reserved() const { return reserved_; }  ///< bytes taken from the GPU, in use or not

 private:
  template <class T>
  friend class PoolBlock;
  static std::size_t rounded(std::size_t bytes) { return (bytes + 511) / 512 * 512; }
  void* get(std::size_t bytes);
  void put(void* at, std::size_t bytes);

  std::map<std::size_t, std::vector<void*>> free_;
  std::int64_t in_use_ = 0, peak_ = 0, reserved_ = 0;
};

/// Elements of T out of a pool; they go back to it when it ends.
template <class T>
class PoolBlock {
 public:
  PoolBlock() = default;
  PoolBlock(PoolBlock&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        elements_(std::exchange(other.elements_, 0)) {}
  PoolBlock& operator=(PoolBlock&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    std::swap(elements_, other.elements_);
    return *this;
  }
  ~PoolBlock() { clear(); }

  T* data() const { return data_; }
  std::int64_t size() const { return elements_; }
  std::size_t bytes() const { return static_cast<std::size_t>(elements_) * sizeof(T); }
  void clear() {
    if (pool_ != nullptr) pool_->put(data_, bytes());
    pool_ = nullptr;
    data_ = nullptr;
    elements_ = 0;
  }

 private:
  friend class Pool;
  PoolBlock(Pool& pool, std::int64_t elements) : pool_(&pool), elements_(elements) {
    data_ = static_cast<T*>(pool.get(bytes()));
  }
  Pool* pool_ = nullptr;
  T* data_ = nullptr;
  std::int64_t elements_ = 0;
};

template <class T>
PoolBlock<T> Pool::take(std::int64_t elements) {
  return PoolBlock<T>(*this, elements);
}

}  // namespace stepcast::measure
