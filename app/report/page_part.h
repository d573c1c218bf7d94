#pragma once

#include <string>

#include "app/report/page.h"

namespace stepcast::app {

/// What a file holds that stepcast wrote with --format json or jsonl, or topology --json, as a part of a page. `shown`:
/// the file's name in errors, and the part's title. Throws InputError where it is no such file.
PagePart page_part(const std::string& text, const std::string& shown);

}  // namespace stepcast::app
