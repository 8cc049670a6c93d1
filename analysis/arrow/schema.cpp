#include "analysis/arrow/schema.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gpuspy::analysis {
namespace {

/// What a schema points to. Children lie in their parent; a consumer may move them out of it, which clears their release.
struct SchemaMemory {
    std::string name, metadata;
    std::vector<ArrowSchema> children;
    std::vector<ArrowSchema*> child_pointers;
};

void release(ArrowSchema* schema) {
    const std::unique_ptr<SchemaMemory> memory(static_cast<SchemaMemory*>(schema->private_data));
    for (ArrowSchema& child : memory->children) {
        if (child.release != nullptr) {
            child.release(&child);
        }
    }
    schema->release = nullptr;
}

const char* format_of(ArrowType type) {
    switch (type) {
        case ArrowType::kInt64:
            return "l";
        case ArrowType::kUint64:
            return "L";
        case ArrowType::kFloat64:
            return "g";
        case ArrowType::kBool:
            return "b";
        case ArrowType::kUtf8:
            return "u";
    }
    return "n";
}

/// Numbers of 32 bits in the machine's order: how many pairs; then of each the key's length, key, value's length, value.
std::string encoded_metadata(const std::string& key, const std::string& value) {
    std::string bytes;
    const auto number = [&bytes](std::size_t size) {
        const auto whole = static_cast<std::int32_t>(size);
        bytes.append(reinterpret_cast<const char*>(&whole), sizeof(whole));
    };
    number(1);
    for (const std::string* text : {&key, &value}) {
        number(text->size());
        bytes += *text;
    }
    return bytes;
}

void fill(ArrowSchema& out, const char* format, std::int64_t flags, std::unique_ptr<SchemaMemory> memory) {
    out = {};
    out.format = format;
    out.name = memory->name.c_str();
    out.metadata = memory->metadata.empty() ? nullptr : memory->metadata.c_str();
    out.flags = flags;
    out.n_children = static_cast<std::int64_t>(memory->children.size());
    out.children = memory->children.empty() ? nullptr : memory->child_pointers.data();
    out.release = release;
    out.private_data = memory.release();
}

}  // namespace

void make_schema(const ColumnTable& table, ArrowSchema& out) {
    ArrowSchema root{};
    auto memory = std::make_unique<SchemaMemory>();
    memory->children.resize(table.columns.size());
    memory->child_pointers.resize(table.columns.size());
    std::vector<std::unique_ptr<SchemaMemory>> columns;
    for (const ArrowColumn& column : table.columns) {
        auto& child = columns.emplace_back(std::make_unique<SchemaMemory>());
        child->name = column.name;
        child->metadata = column.unit.empty() ? std::string() : encoded_metadata("unit", column.unit);
    }
    // From here on nothing throws.
    for (std::size_t column = 0; column < columns.size(); ++column) {
        fill(memory->children[column], format_of(table.columns[column].type), ARROW_FLAG_NULLABLE,
             std::move(columns[column]));
        memory->child_pointers[column] = &memory->children[column];
    }
    fill(root, "+s", 0, std::move(memory));
    out = root;
}

}  // namespace gpuspy::analysis
