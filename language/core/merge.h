#pragma once

#include <string>
#include <string_view>

#include "language/core/schema.h"
#include "language/core/tree.h"

namespace stepcast::language {

/// Lays mapping `over` on mapping `under`. Mappings merge key by key, anything else replaces. The name of a file under
/// a mapping becomes its base (`model: gpt3-175b` and `model: {layers: 12}` give a shortened gpt3-175b). What `over`
/// says takes away what it leaves no room for below: a key's rival (`gpus` over `nodes`), the details of another value
/// (`recompute: {modules: [mlp]}` over `{every: 2}`; `pipeline.schedule: 1f1b` over `pipeline.orders`), what
/// belongs to the value below (Schema::dependents: another `family` over a link's `nccl`), and what another reader of
/// the block does not read (Schema::reader: a fabric of kind torus over `radix`). An erased key is
/// gone, from the files too that `under` starts from. Laying three layers one by one or the upper two first is the
/// same. Throws InputError past kMostKeys.
void merge(const Schema& schema, Node& under, const Node& over);

/// Adds `more` to a layer that is not laid over anything yet: as merge, but nothing is taken away, neither rivals nor
/// erased keys, which are for what comes below.
void gather(const Schema& schema, Node& layer, const Node& more);

/// {a: {b: value}} for the path "a.b".
Node nest(std::string_view path, Node value);

}  // namespace stepcast::language
