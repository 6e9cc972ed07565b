#include "io/sim/sim_directory.h"

#include <cerrno>
#include <iterator>

namespace weir::io::sim {
namespace {

std::string_view first_name(std::string_view& path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  const size_t end = path.find('/');
  const std::string_view name = path.substr(0, end);
  path.remove_prefix(name.size());
  return name;
}

}  // namespace

SimTree::SimTree() : root_(std::make_shared<SimNode>()) { root_->is_directory = true; }

SimNodePtr SimTree::find(std::string_view path) const {
  SimNodePtr node = root_;
  while (true) {
    const std::string_view name = first_name(path);
    if (name.empty()) return node;
    if (!node->is_directory) return nullptr;
    const auto entry = node->visible.find(name);
    if (entry == node->visible.end()) return nullptr;
    node = entry->second;
  }
}

SimNodePtr SimTree::parent(std::string_view path, std::string_view& name) const {
  while (path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (name.empty()) return nullptr;
  auto directory = find(slash == std::string_view::npos ? "" : path.substr(0, slash));
  return directory && directory->is_directory ? directory : nullptr;
}

void SimTree::record(std::vector<Entry> entries) {
  pending_.emplace(next_change_++, Change{std::move(entries), 0});
}

int SimTree::create(std::string_view path, bool is_directory, int64_t now_ms) {
  std::string_view name;
  const SimNodePtr directory = parent(path, name);
  if (!directory) return -ENOENT;
  if (directory->visible.contains(name)) return -EEXIST;
  auto node = std::make_shared<SimNode>();
  node->is_directory = is_directory;
  node->id = next_node_++;
  node->modified_ms = now_ms;
  directory->visible.emplace(name, node);
  record({{directory, std::string(name), node}});
  return 0;
}

int SimTree::rename(std::string_view from, std::string_view to) {
  std::string_view from_name;
  std::string_view to_name;
  const SimNodePtr from_directory = parent(from, from_name);
  const SimNodePtr to_directory = parent(to, to_name);
  if (!from_directory || !to_directory) return -ENOENT;
  const auto entry = from_directory->visible.find(from_name);
  if (entry == from_directory->visible.end()) return -ENOENT;
  const SimNodePtr node = entry->second;
  const auto replaced = to_directory->visible.find(to_name);
  if (replaced != to_directory->visible.end()) {
    if (replaced->second == node) return 0;
    if (replaced->second->is_directory && !replaced->second->visible.empty()) return -ENOTEMPTY;
    if (replaced->second->is_directory != node->is_directory) {
      return node->is_directory ? -ENOTDIR : -EISDIR;
    }
  }
  from_directory->visible.erase(entry);
  to_directory->visible.insert_or_assign(std::string(to_name), node);
  record({{to_directory, std::string(to_name), node},
          {from_directory, std::string(from_name), nullptr}});
  return 0;
}

int SimTree::remove(std::string_view path) {
  std::string_view name;
  const SimNodePtr directory = parent(path, name);
  if (!directory) return -ENOENT;
  const auto entry = directory->visible.find(name);
  if (entry == directory->visible.end()) return -ENOENT;
  if (entry->second->is_directory && !entry->second->visible.empty()) return -ENOTEMPTY;
  directory->visible.erase(entry);
  record({{directory, std::string(name), nullptr}});
  return 0;
}

uint64_t SimTree::occupied(const SimNode& node) {
  if (!node.is_directory) return node.file.occupied();
  uint64_t sum = 0;
  for (const auto& [name, child] : node.visible) sum += occupied(*child);
  return sum;
}

void SimTree::complete(uint64_t change, uint64_t sequence) {
  const auto found = pending_.find(change);
  if (found != pending_.end()) found->second.completed_at = sequence;
}

void SimTree::settle(const Change& change) {
  for (const Entry& entry : change.entries) {
    if (entry.node) entry.directory->durable.insert_or_assign(entry.name, entry.node);
    else entry.directory->durable.erase(entry.name);
  }
}

int SimTree::sync(std::string_view path, uint64_t sequence) {
  const SimNodePtr directory = find(path);
  if (!directory) return -ENOENT;
  if (!directory->is_directory) return -ENOTDIR;
  for (auto it = pending_.begin(); it != pending_.end();) {
    const Change& change = it->second;
    const bool covered = change.completed_at != 0 && change.completed_at <= sequence &&
                         change.entries.front().directory == directory;
    if (covered) settle(change);
    it = covered ? pending_.erase(it) : std::next(it);
  }
  return 0;
}

void SimTree::sync_all(uint64_t sequence) {
  while (!pending_.empty()) {
    const Change& change = pending_.begin()->second;
    if (change.completed_at == 0 || change.completed_at > sequence) return;
    settle(change);
    pending_.erase(pending_.begin());
  }
}

void SimTree::forget_unsynced(SimNode& node, const PowerCut& cut, base::RandomStream& random) {
  if (!node.is_directory) {
    node.file.power_cut(cut, random);
    return;
  }
  node.visible = node.durable;
  for (auto& [name, child] : node.durable) forget_unsynced(*child, cut, random);
}

void SimTree::power_cut(const PowerCut& cut, Persistence persistence, base::RandomStream& random) {
  NameSet dropped;  // a change rests on the earlier ones to the same name
  for (const auto& [id, change] : pending_) {
    bool kept = random.chance(cut.keep);
    for (const Entry& entry : change.entries) {
      kept = kept && !dropped.contains({entry.directory.get(), entry.name});
    }
    if (!kept && persistence == Persistence::ext4_ordered) break;
    if (kept) {
      settle(change);
      continue;
    }
    for (const Entry& entry : change.entries) {
      dropped.emplace(entry.directory.get(), entry.name);
    }
  }
  pending_.clear();
  forget_unsynced(*root_, cut, random);
}

}  // namespace weir::io::sim
