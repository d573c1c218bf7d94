#pragma once

#include <string>

#include "language/frameworks/text/shell_text.h"

namespace stepcast::language {

/// A here-document whose command has been read: "cat > ds.json <<EOT". Its lines begin behind the command's own.
struct HereDocument {
  std::string end;  ///< the line behind its last
  Place place;
  bool strips = false;     ///< tabs in front of its lines: "<<-"
  bool expands = true;     ///< variables are put in: its end is not in quotes
  std::string file{};      ///< that its command writes
  bool is_script = false;  ///< its command runs it: "sbatch <<EOT"
};

/// Passes over its lines and its end, and returns the lines. Throws InputError where its end is missing.
std::string read_lines(ShellText& text, const HereDocument& document, const ShellVariables& variables);

}  // namespace stepcast::language
