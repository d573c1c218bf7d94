#pragma once

#include <span>
#include <string>
#include <vector>

#include "language/core/given.h"
#include "language/core/library.h"
#include "language/question.h"

namespace stepcast::language {

/// One scenario asked about again and again with other settings, as a sweep does: its file is read once, and so is each
/// file of configs/ that it or a setting names. A copy has what was read so far; each thread needs one of its own.
class Variants {
 public:
  /// `path`: a scenario file, or a stream that holds one ("-": standard input). `settings` and `options` are laid over
  /// it, as read_questions does. Throws InputError where it cannot be read, or is a table or a folder. That a key is
  /// missing is no error yet: what is laid over it later may give it.
  Variants(const std::string& path, std::span<const std::string> settings, std::vector<Given> options, Library library);

  /// The same of a scenario that a program made (read_question).
  Variants(Node tree, std::span<const std::string> settings, Library library);

  /// The scenario with these keys laid over it, of which no two are the same. What is wrong with it is in its error.
  Question with(const std::vector<Given>& keys);

  const Node& tree() const { return tree_; }  ///< what the file and the settings say
  Library& library() { return library_; }
  const std::filesystem::path& file() const { return file_; }
  std::string name() const;  ///< the scenario's, or its file's

 private:
  void lay_over(const Node& over);

  Library library_;
  std::filesystem::path file_;
  std::string origin_;
  Node tree_;
};

}  // namespace stepcast::language
