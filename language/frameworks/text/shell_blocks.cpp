#include "language/frameworks/text/shell_blocks.h"

#include <algorithm>
#include <utility>

#include "sim/input_error.h"

namespace stepcast::language {
namespace {

constexpr std::size_t kMostBlocks = 200;

bool is_unknown(const ShellBlock& block) { return block.reached == Truth::unknown || block.runs == Truth::unknown; }

}  // namespace

ShellBlock& ShellBlocks::open(Kind kind, std::string opened_by, Place place) {
  if (open_.size() == kMostBlocks) throw InputError(text(place), "found more than 200 blocks inside each other");
  open_.push_back({.kind = kind, .opened_by = std::move(opened_by), .place = std::move(place), .reached = next_});
  if (next_ == Truth::unknown) open_.back().decided_by = last_decided_by_;
  next_ = Truth::yes;
  return open_.back();
}

ShellBlock ShellBlocks::close() {
  ShellBlock block = std::move(open_.back());
  open_.pop_back();
  last_ = Truth::unknown;
  return block;
}

void ShellBlocks::leave_loop() {
  const auto loop = std::find_if(open_.rbegin(), open_.rend(), [](const ShellBlock& block) {
    return block.kind == Kind::loop || block.kind == Kind::call;
  });
  if (loop == open_.rend() || loop->kind == Kind::call || may_run()) return;
  loop->is_left = true;
  loop->runs = Truth::no;
}

void ShellBlocks::leave_call() {
  const auto left = std::find_if(open_.rbegin(), open_.rend(), [](const ShellBlock& block) {
    return block.kind == Kind::call || block.kind == Kind::file || block.kind == Kind::subshell;
  });
  if (left == open_.rend()) return;  // the script itself goes on, as in a shell
  // Of the blocks that it leaves alone: where the rest may not run anyway, it does not run behind this.
  if (next_ == Truth::unknown || std::any_of(open_.rbegin(), left, is_unknown)) {
    if (left->decided_by.empty()) left->decided_by = decided_by();
    left->runs = Truth::unknown;
    return;
  }
  for (auto loop = open_.rbegin(); loop != left; ++loop) {
    if (loop->kind != Kind::loop) continue;
    loop->is_left = true;
    loop->runs = Truth::no;
  }
  left->runs = Truth::no;
}

void ShellBlocks::note_shift() {
  for (auto block = open_.rbegin(); block != open_.rend(); ++block) {
    if (block->kind == Kind::call || block->kind == Kind::subshell) return;  // what is outside keeps its arguments
    block->shifts = true;
  }
}

void ShellBlocks::note_change(const std::string& variable) {
  for (ShellBlock& block : open_)
    if (block.kind == Kind::loop) block.changed.insert(variable);
}

bool ShellBlocks::runs() const {
  return next_ != Truth::no && std::ranges::none_of(open_, [](const ShellBlock& block) {
           return block.reached == Truth::no || block.runs == Truth::no;
         });
}

bool ShellBlocks::may_run() const { return next_ == Truth::unknown || std::ranges::any_of(open_, is_unknown); }

std::string ShellBlocks::decided_by() const {
  if (next_ == Truth::unknown && !last_decided_by_.empty()) return last_decided_by_;
  const auto block = std::find_if(open_.rbegin(), open_.rend(),
                                  [](const ShellBlock& each) { return is_unknown(each) && !each.decided_by.empty(); });
  return block == open_.rend() ? "" : block->decided_by;
}

void ShellBlocks::follow(bool has_words, Truth holds, std::string unset, std::string_view connector) {
  if (has_words) last_decided_by_ = std::move(unset);
  if (has_words || connector == "&&" || connector == "||")
    last_ = next_ == Truth::yes ? holds : next_ == Truth::no ? last_ : last_ == holds ? holds : Truth::unknown;
  next_ = connector == "&&" ? last_ : connector == "||" ? opposite(last_) : Truth::yes;
}

}  // namespace stepcast::language
