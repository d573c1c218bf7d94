#pragma once

#include "calibrate/logs/unpacker.h"

/// The one function of the module stepcast-archive, a shared object of its own because libarchive brings ten others,
/// whose loading took a quarter of the time of start-up. A calibrate::Unpacker; app/unpacker.cpp loads it when a packed
/// file is read.
extern "C" bool stepcast_unpack(std::string_view packed, stepcast::calibrate::PackedForm form,
                                stepcast::calibrate::UnpackedSink& to, std::string& error);
