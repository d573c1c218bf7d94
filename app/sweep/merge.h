#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// The rows of all shards of one sweep in the order of the points: the bytes that the whole sweep writes, without
/// --shard. The files are as `stepcast sweep --shard I/N --output` leaves them, CSV or JSON lines. Throws InputError,
/// with the file, for one that is none, is of another sweep or is not ended, and for a shard that is missing or there
/// twice.
std::string merged(const std::vector<std::string>& files);

}  // namespace stepcast::app
