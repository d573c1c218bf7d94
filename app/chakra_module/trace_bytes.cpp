#include "app/chakra_module/trace_bytes.h"

#include <et_def.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>

#include <limits>
#include <optional>
#include <utility>

namespace {

using stepcast::language::ChakraNode;
using stepcast::language::ChakraTrace;
using stepcast::language::ChakraType;
using stepcast::language::ChakraValue;
namespace io = google::protobuf::io;

struct Put {
  ChakraProtoMsg::AttributeProto& to;
  void operator()(bool value) const { to.set_bool_val(value); }
  void operator()(std::int32_t value) const { to.set_int32_val(value); }
  void operator()(std::int64_t value) const { to.set_int64_val(value); }
  void operator()(std::uint64_t value) const { to.set_uint64_val(value); }
  void operator()(double value) const { to.set_double_val(value); }
  void operator()(const std::string& value) const { to.set_string_val(value); }
  void operator()(const std::vector<std::uint64_t>& values) const {
    for (const std::uint64_t value : values) to.mutable_uint64_list()->add_values(value);
  }
};

ChakraValue integer(std::int64_t value) { return value; }
ChakraValue integer(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return value;
  return static_cast<std::int64_t>(value);
}

template <class List>
ChakraValue list(const List& from) {
  std::vector<std::uint64_t> values;
  for (const auto value : from.values()) values.push_back(static_cast<std::uint64_t>(value));
  return values;
}

/// Nothing: of a kind that no attribute which is read has.
std::optional<ChakraValue> value_of(const ChakraProtoMsg::AttributeProto& from) {
  using Kind = ChakraProtoMsg::AttributeProto;
  switch (from.value_case()) {
    case Kind::kBoolVal:
      return from.bool_val();
    case Kind::kDoubleVal:
      return from.double_val();
    case Kind::kFloatVal:
      return static_cast<double>(from.float_val());
    case Kind::kInt32Val:
      return integer(std::int64_t{from.int32_val()});
    case Kind::kInt64Val:
      return integer(std::int64_t{from.int64_val()});
    case Kind::kUint32Val:
      return integer(std::uint64_t{from.uint32_val()});
    case Kind::kUint64Val:
      return integer(std::uint64_t{from.uint64_val()});
    case Kind::kSint32Val:
      return integer(std::int64_t{from.sint32_val()});
    case Kind::kSint64Val:
      return integer(std::int64_t{from.sint64_val()});
    case Kind::kFixed32Val:
      return integer(std::uint64_t{from.fixed32_val()});
    case Kind::kFixed64Val:
      return integer(std::uint64_t{from.fixed64_val()});
    case Kind::kSfixed32Val:
      return integer(std::int64_t{from.sfixed32_val()});
    case Kind::kSfixed64Val:
      return integer(std::int64_t{from.sfixed64_val()});
    case Kind::kStringVal:
      return from.string_val();
    case Kind::kUint64List:
      return list(from.uint64_list());
    case Kind::kInt64List:
      return list(from.int64_list());
    case Kind::kUint32List:
      return list(from.uint32_list());
    case Kind::kInt32List:
      return list(from.int32_list());
    default:
      return std::nullopt;
  }
}

ChakraNode node_of(const ChakraProtoMsg::Node& from) {
  ChakraNode node{.id = from.id(), .name = from.name(), .type = static_cast<ChakraType>(from.type())};
  node.after.assign(from.ctrl_deps().begin(), from.ctrl_deps().end());
  node.after.insert(node.after.end(), from.data_deps().begin(), from.data_deps().end());
  node.duration_micros = from.duration_micros();
  node.input_values = from.inputs().values();
  for (const ChakraProtoMsg::AttributeProto& attribute : from.attr())
    if (std::optional<ChakraValue> value = value_of(attribute))
      node.attributes.push_back({attribute.name(), *std::move(value)});
  return node;
}

}  // namespace

void stepcast_write_trace(const ChakraTrace& trace, std::string& bytes) {
  // One coded stream for all: a new one has the string filled with zeros up to its capacity.
  io::StringOutputStream stream(&bytes);
  io::CodedOutputStream coded(&stream);
  ChakraProtoMsg::GlobalMetadata metadata;
  metadata.set_version(trace.version);
  google::protobuf::util::SerializeDelimitedToCodedStream(metadata, &coded);
  ChakraProtoMsg::Node out;
  for (const ChakraNode& node : trace.nodes) {
    out.Clear();
    out.set_id(node.id);
    out.set_name(node.name);
    out.set_type(static_cast<ChakraProtoMsg::NodeType>(node.type));
    for (const std::uint64_t before : node.after) out.add_data_deps(before);
    out.set_duration_micros(node.duration_micros);
    for (const auto& [name, value] : node.attributes) {
      ChakraProtoMsg::AttributeProto& attribute = *out.add_attr();
      attribute.set_name(name);
      std::visit(Put{attribute}, value);
    }
    google::protobuf::util::SerializeDelimitedToCodedStream(out, &coded);
  }
}

bool stepcast_read_trace(const std::string& bytes, ChakraTrace& trace, std::string& error) {
  trace = {};
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    error = "found more than 2 GiB";
    return false;
  }
  io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  const auto read = [&](google::protobuf::MessageLite& message, const std::string& what) {
    const std::int64_t at = stream.ByteCount();
    if (google::protobuf::util::ParseDelimitedFromZeroCopyStream(&message, &stream, nullptr)) return true;
    error = "byte " + std::to_string(at) + ": expected " + what + ", found what is none or is cut off";
    return false;
  };
  ChakraProtoMsg::GlobalMetadata metadata;
  if (!read(metadata, "a GlobalMetadata")) return false;
  trace.version = metadata.version();
  ChakraProtoMsg::Node node;
  while (stream.ByteCount() < static_cast<std::int64_t>(bytes.size())) {
    node.Clear();
    if (!read(node, "Node number " + std::to_string(trace.nodes.size() + 1))) return false;
    trace.nodes.push_back(node_of(node));
  }
  return true;
}
