// The functions of libfmt.so, for the program (cmake/Archives.cmake): Debian has no archive of them. fmt's own header
// has them; what else is instantiated in the shared object is named here. Another version than Debian 12's is linked as
// it is.
#include <fmt/core.h>

#if FMT_VERSION / 10000 == 9
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template FMT_API dragonbox::decimal_fp<float> dragonbox::to_decimal(float x) noexcept;
template FMT_API dragonbox::decimal_fp<double> dragonbox::to_decimal(double x) noexcept;
template FMT_API thousands_sep_result<char> thousands_sep_impl(locale_ref loc);
template FMT_API char decimal_point_impl(locale_ref loc);

}  // namespace detail
FMT_END_NAMESPACE
#endif
