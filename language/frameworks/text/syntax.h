#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/frameworks/text/shell_start.h"
#include "language/frameworks/text/statement.h"

namespace stepcast::language {

/// How a framework's configurations are written. Reading throws InputError with file:line:column for text that is none;
/// a value of null counts as not said. Where the configuration is a script, `start` is what it is started with;
/// anything there is refused for a file that is none. Writing puts `heading`, a line each, in front as comments.
struct Syntax {
  ReadStatements (*read)(std::string_view text, const std::string& file, const ShellStart& start);
  std::string (*write)(const std::vector<std::string>& heading, const Statements& statements);
  bool launches = false;  ///< what is written is a script that ends with the command
};

/// Flags of a program: read out of a command line or a shell script (shell.h), written as a bash script that ends with
/// `launch`, whose last word is the array of all flags.
extern const Syntax flags_syntax;
/// JSON with comments: `//`, as hjson has them too.
extern const Syntax json_syntax;
extern const Syntax toml_syntax;
extern const Syntax yaml_syntax;
/// Flags of a program together with the files that they name (JSON of DeepSpeed and FSDP, YAML of accelerate and of
/// arguments), which a here-document of the script holds or which stand beside it; or the YAML of arguments alone.
/// Names of arguments begin with "--", those inside of files do not. Written as a bash script with here-documents.
extern const Syntax trainer_syntax;
/// YAML whose values may name others ("${.hidden_size}"), or a command with words "path=value" that lie over the file
/// that it names; written as YAML.
extern const Syntax hydra_syntax;

}  // namespace stepcast::language
