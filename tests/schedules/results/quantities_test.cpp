#include "schedules/results/quantities.h"

#include <gtest/gtest.h>

#include <concepts>
#include <set>

namespace stepcast::schedules {
namespace {

template <class T>
struct Bare {
  using Type = T;
};
template <class T>
struct Bare<std::optional<T>> : Bare<T> {};
template <class T>
Bare<T> bare(T Forecast::*);
template <class T, class From>
Bare<T> bare(T (*)(const From&));

TEST(Quantities, EachHasOneKeyWordsAndTheUnitOfItsType) {
  std::set<std::string_view> keys;
  for (const ReportedQuantity& quantity : quantities()) {
    EXPECT_TRUE(keys.insert(quantity.key).second) << quantity.key;
    EXPECT_FALSE(quantity.title.empty()) << quantity.key;
    const auto is_of_type = [&](const auto& how) {
      using Type = typename decltype(bare(how))::Type;
      if (std::same_as<Type, Time>) return quantity.unit == Unit::seconds;
      if (std::same_as<Type, Bytes>) return quantity.unit == Unit::bytes;
      if (std::same_as<Type, FlopRate>) return quantity.unit == Unit::flops_per_second;
      return std::same_as<Type, double> || quantity.unit == Unit::count;
    };
    EXPECT_TRUE(std::visit(is_of_type, quantity.read)) << quantity.key;
  }
}

TEST(Quantities, ColumnsOfCsvThatHaveAPlaceHaveItAlone) {
  std::set<int> taken;
  for (const ReportedQuantity& quantity : quantities()) {
    const int place = quantity.places.csv;
    if (place == Places::kNoColumn || place == Places::kLastColumn) continue;
    EXPECT_TRUE(taken.insert(place).second) << quantity.key;
  }
}

// The first inside an object says why the object may be null, and the others follow it: so JSON and the schema make it.
TEST(Quantities, ThoseOfAnObjectStandTogetherAndTheFirstSaysWhyItMayBeNull) {
  std::set<std::string_view> objects;
  std::string_view last;
  for (const ReportedQuantity& quantity : quantities()) {
    const std::size_t dot = quantity.key.find('.');
    const std::string_view object = dot == std::string_view::npos ? "" : quantity.key.substr(0, dot);
    if (!object.empty() && object != last) {
      EXPECT_TRUE(objects.insert(object).second) << quantity.key;
      EXPECT_FALSE(quantity.absent.empty()) << quantity.key;
    } else if (!object.empty()) {
      EXPECT_TRUE(quantity.absent.empty()) << quantity.key;
    }
    last = object;
  }
}

}  // namespace
}  // namespace stepcast::schedules
