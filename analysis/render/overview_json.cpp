#include "analysis/render/overview_json.hpp"

#include <nlohmann/json.hpp>

namespace gpuspy::analysis {
namespace {

using Json = nlohmann::ordered_json;

const char* kind_name(OverviewCategory::Kind kind) {
    switch (kind) {
        case OverviewCategory::Kind::kOwner:
            return "owner";
        case OverviewCategory::Kind::kCopy:
            return "copy";
        case OverviewCategory::Kind::kWait:
            return "wait";
        case OverviewCategory::Kind::kLaunch:
            return "launch";
        case OverviewCategory::Kind::kOther:
            break;
    }
    return "other";
}

Json lane_json(const OverviewLane& lane) {
    Json json = {{"host", lane.host}};
    if (lane.host) {
        json["tid"] = lane.tid;
        json["thread"] = lane.thread_name;
    } else {
        json["device"] = lane.device;
        json["stream"] = lane.stream;
    }
    json["row"] = lane.row;
    json["count"] = lane.count;
    json["time_ns"] = lane.time_ns;
    Json blocks = Json::array();
    for (const OverviewBlock& block : lane.blocks) {
        blocks.push_back({block.begin_ns, block.length_ns, block.count, block.time_ns, block.name, block.category});
    }
    json["blocks"] = std::move(blocks);
    return json;
}

Json kernel_json(const std::string& mangled, NameForm names) {
    return {{"text", kernel_name(mangled, names)}, {"short", kernel_name(mangled, NameForm::kBase)}};
}

}  // namespace

std::string render_names_json(const std::vector<std::string>& mangled, NameForm names) {
    Json json = Json::array();
    for (const std::string& name : mangled) {
        json.push_back(kernel_json(name, names));
    }
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string render_overview_json(const Overview& all, NameForm names) {
    Json json = {{"wall_ns", all.wall_ns}, {"pixel_ns", all.pixel_ns}, {"unplaced", all.unplaced}};
    json["categories"] = Json::array();
    for (const OverviewCategory& category : all.categories) {
        json["categories"].push_back({{"kind", kind_name(category.kind)}, {"name", category.name}});
    }
    json["names"] = Json::array();
    for (const OverviewName& name : all.names) {
        json["names"].push_back(name.kernel ? kernel_json(name.text, names)
                                            : Json{{"text", name.text}, {"short", name.text}});
    }
    json["lanes"] = Json::array();
    for (const OverviewLane& lane : all.lanes) {
        json["lanes"].push_back(lane_json(lane));
    }
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gpuspy::analysis
