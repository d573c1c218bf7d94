#pragma once

#include <string>

namespace stepcast::app {

/// The function of a module of the program: a shared object that is loaded when what it does is asked for, because what
/// it brings takes long to load. It stays until the program ends: what it brings is not made to be taken away again.
/// Null: it cannot be loaded, and `error` says why. `module`: "stepcast-png".
void* function_of_module(const std::string& module, const char* function, std::string& error);

}  // namespace stepcast::app
