#include "analysis/render/kernel_name.hpp"

#include <algorithm>

#include "analysis/render/display_text.hpp"

namespace gpuspy::analysis {
namespace {

bool opens(char c) {
    return c == '(' || c == '<' || c == '[' || c == '{';
}

bool closes(char c) {
    return c == ')' || c == '>' || c == ']' || c == '}';
}

/// Where the parameters of a demangled function begin: the first bracket at depth 0 that ends the name.
std::size_t parameters_at(std::string_view name) {
    constexpr std::string_view kAnonymous = "(anonymous namespace)";
    int depth = 0;
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (depth == 0 && name[at] == '(') {
            if (name.substr(at).starts_with(kAnonymous)) {
                at += kAnonymous.size() - 1;
                continue;
            }
            if (!name.substr(0, at).ends_with("operator")) {
                return at;
            }
        }
        depth += opens(name[at]) ? 1 : closes(name[at]) ? -1 : 0;
    }
    return name.size();
}

std::string base_name(std::string_view name) {
    name = name.substr(0, parameters_at(name));
    // The last name at depth 0: what is before it is a return type or namespaces; what is in brackets behind it are
    // template arguments.
    std::string base;
    int depth = 0;
    for (std::size_t at = 0; at < name.size(); ++at) {
        const char c = name[at];
        if (opens(c)) {
            ++depth;
        } else if (closes(c)) {
            depth -= depth > 0 ? 1 : 0;
        } else if (depth == 0) {
            if (c == ' ' || c == ':') {
                base.clear();
            } else {
                base += c;
            }
        }
    }
    return base;
}

}  // namespace

const std::vector<std::string>& name_forms() {
    static const std::vector<std::string> kNames = {"full", "base", "mangled"};  // In the order of the enumeration.
    return kNames;
}

std::optional<NameForm> find_name_form(std::string_view name) {
    const auto found = std::find(name_forms().begin(), name_forms().end(), name);
    return found == name_forms().end() ? std::nullopt
                                       : std::optional(static_cast<NameForm>(found - name_forms().begin()));
}

std::string fitted_name(const std::string& name, std::size_t width) {
    const std::string whole = cut_middle(name, width);
    const std::size_t parameters = parameters_at(name);
    if (whole == name || parameters + 2 >= name.size() || !name.ends_with(')')) {
        return whole;
    }
    // What tells kernels of one template apart are its arguments.
    return cut_middle(name.substr(0, parameters) + "(\u2026)", width);
}

std::string kernel_name(const std::string& mangled, NameForm form) {
    if (form == NameForm::kMangled) {
        return mangled;
    }
    const std::string full = demangled(mangled);
    if (form == NameForm::kFull) {
        return full;
    }
    // Names of other languages ("sm80_xmma_fprop", "triton_poi_fused_0") are bases already.
    const std::string base = full == mangled ? std::string() : base_name(full);
    return base.empty() ? full : base == "operator" ? "operator()" : base;
}

}  // namespace gpuspy::analysis
