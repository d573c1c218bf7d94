#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workload/recorded_program.h"

namespace stepcast::language {

/// The groups of ranks that communications name, numbered as they first come.
class NumberedGroups {
 public:
  std::size_t number(const collectives::Group& group);
  const std::vector<collectives::Group>& all() const { return all_; }

 private:
  std::map<collectives::Group, std::size_t> numbers_;
  std::vector<collectives::Group> all_;
};

/// What a recorded program has besides its tasks and no Chakra trace can say: PREFIX.stepcast.json (docs/chakra.md).
std::string chakra_details(const workload::RecordedProgram& recorded, std::uint32_t ranks, NumberedGroups& groups);

/// That file as read: all of a recorded program but its tasks.
struct ChakraDetails {
  std::uint32_t ranks = 0, tasks = 0, engines = 0;
  workload::RecordedProgram recorded{};                  ///< with no tasks yet
  std::vector<workload::Program::Slowdown> slowdowns{};  ///< by CommunicationId
};

/// Throws InputError with the file and the key.
ChakraDetails read_chakra_details(const std::string& text, const std::string& file);

}  // namespace stepcast::language
