#include "language/frameworks/emit.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "language/core/stated.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "sim/shell_quoted.h"

namespace stepcast::language {
namespace {

bool matches(std::string_view pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

/// What a plan has that makes nothing of the key, whatever the framework.
bool is_neutral(std::string_view key, std::string_view text) {
  static constexpr std::array<FixedKey, 13> kNeutral{{{"parallelism.tensor", "1", {}},
                                                      {"parallelism.context", "1", {}},
                                                      {"parallelism.pipeline", "1", {}},
                                                      {"parallelism.expert", "1", {}},
                                                      {"parallelism.expert_tensor", "1", {}},
                                                      {"parallelism.sequence", "false", {}},
                                                      {"pipeline.schedule", "1f1b", {}},
                                                      {"pipeline.virtual_stages", "1", {}},
                                                      {"data_parallel.zero", "0", {}},
                                                      {"recompute", "none", {}},
                                                      {"model.qkv_bias", "false", {}},
                                                      {"model.qk_norm", "false", {}},
                                                      {"model.experts.shared_ffn", "0", {}}}};
  return std::ranges::any_of(kNeutral, [&](const FixedKey& each) { return each.key == key && each.text == text; });
}

std::string texts(const std::vector<Spelling>& spellings) {
  std::string all;
  for (const Spelling& each : spellings)
    if (all.find(each.ours) == all.npos) all += (all.empty() ? "" : ", ") + std::string(each.ours);
  return all;
}

/// Adds what the rows say of the words, and takes those away.
void write_rows(const Framework& framework, Words& words, Statements& out) {
  std::set<std::string_view> said;
  for (const FlagRow& row : framework.rows()) {
    const auto word = words.find(row.key);
    if (row.only_read || word == words.end()) continue;
    const std::string& text = word->second.text;
    const std::string remark(row.remark.empty() ? row.key.starts_with('@') ? "" : row.key : row.remark);
    if (!row.present.empty()) {
      if (text == row.present) out.push_back({.name = std::string(row.name), .text = {}, .comment = remark});
      if (text == row.present || text == row.usual) said.insert(row.key);
      continue;
    }
    const auto spelling =
        std::ranges::find_if(row.spellings, [&](const Spelling& each) { return each.ours == text && !each.only_read; });
    if (!row.spellings.empty() && spelling == row.spellings.end()) {
      if (word->second.usual) continue;
      throw InputError(std::string(!row.key.starts_with('@') ? row.key
                                   : row.remark.empty()      ? row.name
                                                             : row.remark),
                       "found " + in_quotes(text) + ", which " + std::string(framework.title) +
                           " has not; expected one of " + texts(row.spellings));
    }
    out.push_back({.name = std::string(row.name),
                   .text = row.spellings.empty() ? text : std::string(spelling->theirs),
                   .comment = remark});
    said.insert(row.key);
  }
  for (const std::string_view key : said) words.erase(words.find(key));
}

/// What no row said: it goes without saying, or the user's script says it, or the plan cannot be started.
void check_unsaid(const Framework& framework, Words& words, std::vector<std::string>& scripts) {
  const std::vector<FixedKey> elsewhere = framework.elsewhere(), fixed = framework.fixed();
  const std::vector<RefusedName> refused = framework.refused();
  std::erase_if(words, [&](const auto& each) {
    const std::string& key = each.first;
    const Word& word = each.second;
    if (const auto row = std::ranges::find(fixed, key, &FixedKey::key); row != fixed.end()) {
      if (row->text == word.text) return true;
      if (!word.usual)
        throw InputError(key, "found " + in_quotes(word.text) + ", but " + std::string(row->why) + "; expected " +
                                  std::string(row->text));
    }
    const auto script = std::ranges::find_if(elsewhere, [&](const FixedKey& one) { return matches(one.key, key); });
    if (script != elsewhere.end()) {
      if (!script->why.empty() && !is_neutral(key, word.text))
        scripts.push_back(key + ": " + word.text + " is for your script: " + std::string(script->why));
      return false;
    }
    if (word.usual || is_neutral(key, word.text)) return false;
    const auto why = std::ranges::find_if(refused, [&](const RefusedName& one) { return matches(one.name, key); });
    throw InputError(key, "found " + in_quotes(word.text) + ", which " + std::string(framework.title) +
                              (why == refused.end() ? " cannot be told" : " cannot: " + std::string(why->why)));
  });
}

/// Whether a framework is told the model by its name.
bool names_model(const Framework& framework) {
  return std::ranges::any_of(framework.rows(),
                             [](const FlagRow& row) { return row.key == "@model" && !row.only_read; });
}

/// Keys of the tree with their texts; in `too_long` those whose value is a list of mappings, which no setting can give.
void add_leaves(const Node& node, const std::string& path, std::vector<std::pair<std::string, std::string>>& out,
                std::vector<std::string>& too_long) {
  const auto is_mapping = [](const Node& item) { return item.kind == Node::Kind::mapping; };
  if (node.kind == Node::Kind::mapping) {
    for (const Entry& entry : node.entries) add_leaves(entry.value, join(path, entry.key), out, too_long);
  } else if (node.kind == Node::Kind::list && std::ranges::any_of(node.items, is_mapping)) {
    too_long.push_back(path);
  } else if (node.kind != Node::Kind::nothing) {
    out.emplace_back(path, node.kind == Node::Kind::scalar ? node.scalar : on_one_line(node));
  }
}

/// Settings of the tree that neither a row nor what goes without saying has said. `unsaid`: the words that are left.
/// `scripts` gets a line for each key that no setting can give, or that the framework does otherwise.
std::vector<std::string> settings_left(const Framework& framework, const Node& tree, const Words& before,
                                       const Words& unsaid, std::vector<std::string>& scripts) {
  std::vector<std::pair<std::string, std::string>> leaves;
  std::vector<std::string> too_long;
  add_leaves(tree, "", leaves, too_long);
  for (const std::string& path : too_long) {
    const std::string block = path.substr(0, path.find('.'));
    std::string& line = scripts.emplace_back(path);
    line.append(" is a list, which --set does not take: put what stands below ").append(block);
    line.append(" into a file of its own, and read it back with --set ")
        .append(block)
        .append("=FILE beside what follows");
    const std::string inside = join(block, "");
    std::erase_if(leaves, [&](const auto& leaf) { return leaf.first.starts_with(inside); });
  }
  const bool has_model = before.contains("model.layers") && !unsaid.contains("model.layers");
  std::vector<std::string> left;
  bool cluster_by_name = false;
  for (const auto& [path, value] : leaves) {
    const bool label = path == "name" || path == "source" || path == "note" || path == "confidence";
    const std::string key = path.ends_with(".base") ? path.substr(0, path.size() - 5) : path;
    const bool said = before.contains(key) && (!unsaid.contains(key) || is_neutral(key, text_of(before, key)));
    const bool of_model = path == "model" || path.starts_with("model.");
    const bool of_usual_stack = (path == "software" || path == "software.base") && value == framework.software;
    const bool size = path == "cluster.gpus" || path == "cluster.nodes";
    if (label || said || size || of_usual_stack || path.starts_with("measured.") || (of_model && has_model)) continue;
    if ((path == "parallelism.order" || path == "parallelism.context_method") && !before.contains(path)) continue;
    if (path.starts_with("recompute") && !unsaid.contains(path)) continue;  // said, in another form
    if (path == "model" && names_model(framework)) continue;
    cluster_by_name |= path == "cluster" || path == "cluster.base";
    left.push_back(path == "software" ? "software.base" : path);  // what is read of it stays
    left.back().append("=").append(value);
  }
  const bool launched_only =
      !framework.syntax.launches &&
      std::ranges::any_of(framework.rows(), [](const FlagRow& row) { return row.key == "@nodes" && row.only_read; });
  if (cluster_by_name || launched_only || !before.contains("model.layers") || !has_model)
    left.push_back("cluster.gpus=" + text_of(before, "cluster.gpus"));
  // What the software of the scenario does and reading would take for the framework's default.
  const auto add = [&](const std::string& key, const std::string& value) {
    const std::string setting = key + "=";
    if (std::ranges::none_of(left, [&](const std::string& each) { return each.starts_with(setting); }))
      left.push_back(setting + value);
  };
  for (const FixedKey& row : framework.fixed()) {
    const std::string key(row.key);
    if (!unsaid.contains(key) || text_of(unsaid, key) == row.text) continue;
    add(key, text_of(unsaid, key));
    scripts.push_back(key + ": " + text_of(unsaid, key) + " is what was forecast, but " + std::string(row.why));
  }
  for (const auto& each : unsaid) {
    const std::string& key = each.first;
    const auto has_key = [&](const auto& row) { return row.key == key; };
    const bool read =
        std::ranges::any_of(framework.rows(), has_key) || std::ranges::any_of(framework.elsewhere(), has_key);
    const bool of_stack = key.starts_with("software.") || key == "data_parallel.gradient_precision";
    if (read && has_model && (key == "model.vocab" || of_stack)) add(key, each.second.text);
  }
  if (text_of(before, "software") == framework.software || !unsaid.contains("software")) return left;
  const auto says_software = [](const std::string& each) { return each.starts_with("software.base="); };
  if (std::ranges::none_of(left, says_software)) left.push_back("software.base=" + text_of(before, "software"));
  return left;
}

Launch launch_of(const schedules::Scenario& s) {
  if (s.cluster.allocation)
    return {static_cast<std::uint32_t>(s.cluster.allocation->nodes.size()),
            static_cast<std::uint32_t>(s.cluster.allocation->nodes.front().gpus.size())};
  const std::uint32_t node = s.cluster.node.gpus;
  return {std::max(1U, (s.cluster.gpus + node - 1) / node), std::min(node, s.cluster.gpus)};
}

std::vector<std::string> heading(const Framework& framework, const schedules::Scenario& s,
                                 const std::vector<std::string>& scripts, const std::vector<std::string>& left,
                                 const std::vector<std::string>& launch) {
  std::vector<std::string> lines{"Written by stepcast emit for " + std::string(framework.title) + " (" +
                                 std::string(framework.version) + ")."};
  lines.push_back("Behind each line: the key of the scenario that it stands for.");
  const std::string others = " " + std::string(framework.other_software) + " ";
  if (!s.software.name.starts_with(framework.software) && others.find(" " + s.software.name + " ") == others.npos)
    lines.push_back("The forecast was made with the software " + s.software.name + ", not " +
                    std::string(framework.software) + ": another framework's kernels and overlaps take other times.");
  for (const std::string& line : scripts) lines.push_back(line);
  std::string settings;
  for (const std::string& each : left) settings += " --set " + shell_quoted(each);
  lines.push_back("Read it back: stepcast import " + std::string(framework.name) + " FILE" + settings);
  if (launch.size() > 1 || !framework.syntax.launches) lines.push_back("Launch:");
  for (const std::string& line : launch)
    if (&line != &launch.back() || !framework.syntax.launches) lines.push_back("  " + line);
  return lines;
}

/// Nodes and their GPUs, where the framework's configuration has them.
void say_nodes(const Framework& framework, const Launch& launch, std::uint32_t gpus, Words& words) {
  const auto writes = [](const FlagRow& row) { return row.key == "@nodes" && !row.only_read; };
  if (std::ranges::none_of(framework.rows(), writes)) return;
  const std::uint32_t each = std::gcd(launch.gpus_per_node, gpus);
  say(words, "@nodes", std::to_string(gpus / each));
  say(words, "@gpus_per_node", std::to_string(each));
}

/// Launch lines have no order of passes for one stage: what is read back runs each backward pass behind its forward
/// pass. Throws InputError for a plan of another order, which holds more or takes longer.
void check_one_stage(const Framework& framework, const Words& words) {
  const std::string schedule = text_of(words, "pipeline.schedule");
  if (text_of(words, "parallelism.pipeline") == "1" && schedule != "1f1b")
    throw InputError("pipeline.schedule", "found " + in_quotes(schedule) + " on one stage, which " +
                                              std::string(framework.title) +
                                              " cannot be told: there each backward pass runs behind its forward "
                                              "pass; expected 1f1b");
}

}  // namespace

Emitted emit(const Framework& framework, const schedules::Scenario& s, const Node& tree) {
  const Words before = words_of(s);
  Words words = before;
  check_one_stage(framework, words);
  take(words, "cluster.gpus");
  const std::vector<std::string> launch = framework.launch(before, launch_of(s));
  say_nodes(framework, launch_of(s), s.cluster.gpus, words);
  if (const Node* model = tree.find("model");
      model != nullptr && model->kind == Node::Kind::scalar && names_model(framework))
    say(words, "@model", model->scalar);
  framework.spell(words, framework);
  Statements statements;
  write_rows(framework, words, statements);
  std::vector<std::string> scripts;
  check_unsaid(framework, words, scripts);
  std::ranges::move(framework.to_fill(), std::back_inserter(statements));
  if (framework.syntax.launches) statements.push_back({.name = {}, .text = launch.back()});
  Emitted out;
  out.left = settings_left(framework, tree, before, words, scripts);
  out.text = framework.syntax.write(heading(framework, s, scripts, out.left, launch), statements);
  return out;
}

}  // namespace stepcast::language
