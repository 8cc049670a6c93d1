// Which shared object an address lay in at a time.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/reader/records.hpp"

namespace gpuspy::analysis {

struct SharedObject {
    std::uint64_t ticks, begin, end;
    std::string path, version;
    /// File name without its folder.
    [[nodiscard]] std::string basename() const;
};

class ObjectIndex {
public:
    void add(const ObjectRecord& record) {
        objects_.push_back(
            {record.ticks, record.begin, record.end, std::string(record.path), std::string(record.version)});
    }
    void finish();

    /// The object mapped last, at `ticks`, over `address`; if none was recorded by then, the first one recorded later
    /// (mappings are read a little after the call). nullptr if the address was never in any.
    [[nodiscard]] const SharedObject* find(std::uint64_t address, std::uint64_t ticks) const;
    /// find() says the same at any time. Of an address that was asked for.
    [[nodiscard]] bool always_the_same(std::uint64_t address) const { return holders_[address].size() < 2; }
    [[nodiscard]] const std::vector<SharedObject>& objects() const { return objects_; }

private:
    std::vector<SharedObject> objects_;
    // Addresses that were asked for -> the objects that ever held them, by time. Return addresses are few.
    mutable std::unordered_map<std::uint64_t, std::vector<const SharedObject*>> holders_;
};

}  // namespace gpuspy::analysis
