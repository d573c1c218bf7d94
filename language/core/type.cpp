#include "language/core/type.h"

#include "sim/input_error.h"

namespace stepcast::language {
namespace {

using Kind = Type::Kind;

constexpr double kMostBytes = 1e15;

Type of(Kind kind) {
  Type type;
  type.kind = kind;
  return type;
}

Type above_zero(Type type) {
  type.least = 0;
  type.above_least = true;
  return type;
}

}  // namespace

Type text_type() { return of(Kind::text); }

Type whole(std::int64_t least, std::int64_t most) {
  Type type = of(Kind::whole);
  type.least = static_cast<double>(least);
  type.most = static_cast<double>(most);
  return type;
}

Type number(double least, double most) {
  Type type = of(Kind::number);
  type.least = least;
  type.most = most;
  return type;
}

Type fraction() {
  Type type = above_zero(of(Kind::number));
  type.most = 1;
  return type;
}

Type flag() { return of(Kind::flag); }

Type choice(Names (*names)(), Names (*later_names)()) {
  Type type = of(Kind::choice);
  type.names = names;
  type.later_names = later_names;
  return type;
}

Type time_type() {
  Type type = of(Kind::time);
  type.most = static_cast<double>(milliseconds(1000).value);
  return type;
}

Type bytes_type() {
  Type type = of(Kind::bytes);
  type.most = kMostBytes;
  return type;
}

Type positive_time() { return above_zero(of(Kind::time)); }

Type positive_bytes() { return above_zero(bytes_type()); }

Type bandwidth_type() { return above_zero(of(Kind::bandwidth)); }

Type flop_rate_type() { return above_zero(of(Kind::flop_rate)); }

Type power_type() { return above_zero(of(Kind::power)); }

Type duration_type() { return above_zero(of(Kind::duration)); }

Type block(const Schema& (*fields)()) {
  Type type = of(Kind::block);
  type.fields = fields;
  return type;
}

Type list_type(std::string_view example, Names (*names)()) {
  Type type = of(Kind::list);
  type.example = example;
  type.names = names;
  return type;
}

Type list_of_mappings(std::string_view example, const Schema& (*fields)()) {
  Type type = list_type(example);
  type.fields = fields;
  return type;
}

void fail(const Place& place, const std::string& path, const std::string& what) {
  throw InputError(text(place), path.empty() ? what : path + ": " + what);
}

}  // namespace stepcast::language
