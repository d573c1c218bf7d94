#pragma once

#include <string>

#include "app/sweep/processes.h"

/// The only name of the module that speaks MPI: the program loads it where MPI's launcher has started it, and has no
/// start-up to pay for where not. Begins MPI. Null: this process is alone, and `error` is empty; or MPI fails, and
/// `error` says why.
extern "C" stepcast::app::Processes* stepcast_begin_mpi(std::string& error);
