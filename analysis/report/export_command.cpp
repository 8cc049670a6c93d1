#include "analysis/report/export_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/export/gzip_sink.hpp"
#include "analysis/export/placement.hpp"
#include "analysis/export/registry.hpp"
#include "analysis/render/display_text.hpp"
#include "analysis/report/descriptor_sink.hpp"
#include "analysis/report/output.hpp"
#include "analysis/report/replaced_file.hpp"
#include "analysis/report/trace_file.hpp"

namespace gpuspy::report {
namespace {

using analysis::ExitCode;
using analysis::ExportKind;

/// What went wrong with the writing, if anything did.
struct Fault {
    std::string message;
    int error = 0;  ///< errno, 0 where it was something else.
};
using MaybeFault = std::optional<Fault>;

struct ExportArguments {
    std::string kind, output, trace;
};

std::string kind_names() {
    std::vector<std::string> names;
    for (const ExportKind& kind : analysis::export_kinds()) {
        names.emplace_back(kind.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string kinds_described() {
    std::string text = "Kinds:";
    for (const ExportKind& kind : analysis::export_kinds()) {
        text += fmt::format("\n  {:<12} {}", kind.name, kind.about);
    }
    return text;
}

MaybeFault cannot_write(const std::string& what, int error) {
    return Fault{fmt::format("{}: cannot be written: {}", what, std::strerror(error)), error};
}

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Whether `path` is no name of a place on a disk, but of something that is open or takes bytes in their order.
bool is_stream(const std::string& path) {
    struct stat found {};
    return path == "/dev/stdout" || path.rfind("/dev/fd/", 0) == 0 || path.rfind("/proc/", 0) == 0 ||
           (::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode));
}

/// Bytes in their order, to a place that has a name for the person.
MaybeFault write_stream(analysis::StreamExport write, const analysis::Model& model, int descriptor, bool compressed,
                        const std::string& name) {
    DescriptorSink plain(descriptor);
    if (compressed) {
        analysis::GzipSink gzip(plain);
        write(model, gzip);
        gzip.finish();
    } else {
        write(model, plain);
    }
    return plain.error() == 0 ? std::nullopt : cannot_write(name, plain.error());
}

MaybeFault copy_all(int from, int to, const std::string& name) {
    std::string piece(1 << 20, '\0');
    DescriptorSink sink(to);
    for (ssize_t got = 0; (got = ::read(from, piece.data(), piece.size())) != 0;) {
        if (got < 0 && errno != EINTR) {
            return cannot_write(name, errno);
        }
        if (got > 0 && !sink.write({piece.data(), static_cast<std::size_t>(got)})) {
            return cannot_write(name, sink.error());
        }
    }
    return std::nullopt;
}

/// For kinds that need a file: one in the folder for temporary files, then copied.
MaybeFault write_by_file(analysis::FileExport write, const analysis::Model& model, int descriptor,
                         const std::string& name) {
    const char* folder = std::getenv("TMPDIR");
    const ReplacedFile file(std::string(folder == nullptr || *folder == '\0' ? "/tmp" : folder) + "/gpuspy-export");
    if (file.error() != 0) {
        return cannot_write("a temporary file (TMPDIR names its folder)", file.error());
    }
    if (const auto why = write(model, file.temporary_path())) {
        return Fault{fmt::format("{}: cannot be written: {}", name, *why)};
    }
    return copy_all(file.descriptor(), descriptor, name);
}

MaybeFault to_descriptor(const ExportKind& kind, const analysis::Model& model, int descriptor, bool compressed,
                         const std::string& name) {
    if (const auto* write = std::get_if<analysis::StreamExport>(&kind.write)) {
        return write_stream(*write, model, descriptor, compressed, name);
    }
    return write_by_file(std::get<analysis::FileExport>(kind.write), model, descriptor, name);
}

MaybeFault to_standard_output(const ExportKind& kind, const analysis::Model& model) {
    // A reader that went away (`| head`) is nothing wrong.
    std::signal(SIGPIPE, SIG_IGN);
    MaybeFault fault = to_descriptor(kind, model, STDOUT_FILENO, false, "standard output");
    return fault && fault->error == EPIPE ? std::nullopt : fault;
}

MaybeFault to_stream(const ExportKind& kind, const analysis::Model& model, const std::string& path) {
    std::signal(SIGPIPE, SIG_IGN);
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return cannot_write(path, errno);
    }
    MaybeFault fault = to_descriptor(kind, model, descriptor, ends_with(path, ".gz"), path);
    if (::close(descriptor) != 0 && !fault) {
        fault = cannot_write(path, errno);
    }
    return fault;
}

MaybeFault to_file(const ExportKind& kind, const analysis::Model& model, const std::string& path) {
    ReplacedFile file(path);
    if (file.error() != 0) {
        return cannot_write(path, file.error());
    }
    MaybeFault fault;
    if (const auto* write = std::get_if<analysis::StreamExport>(&kind.write)) {
        fault = write_stream(*write, model, file.descriptor(), ends_with(path, ".gz"), path);
    } else if (const auto why = std::get<analysis::FileExport>(kind.write)(model, file.temporary_path())) {
        fault = Fault{fmt::format("{}: cannot be written: {}", path, *why)};
    }
    if (fault) {
        return fault;
    }
    const int error = file.commit();
    return error == 0 ? std::nullopt : cannot_write(path, error);
}

int run_export(const ExportArguments& arguments) {
    const ExportKind* kind = analysis::find_export_kind(arguments.kind);
    if (kind == nullptr) {
        return fail(fmt::format("there is no kind of export \"{}\"; there are: {}", analysis::printable(arguments.kind),
                                kind_names()),
                    ExitCode::kUsage);
    }
    if (arguments.output.empty()) {
        return fail("-o needs the name of a file, or - for standard output", ExitCode::kUsage);
    }
    const bool standard_output = arguments.output == "-" || arguments.output == "/dev/stdout";
    if (standard_output && ::isatty(STDOUT_FILENO) != 0) {
        return fail("standard output is a terminal, which an export is not for; give -o a file", ExitCode::kUsage);
    }
    if (!standard_output && same_file(arguments.output, arguments.trace)) {
        return fail(arguments.output + ": is the trace itself; give -o another file", ExitCode::kUsage);
    }
    if (!std::holds_alternative<analysis::StreamExport>(kind->write) && ends_with(arguments.output, ".gz")) {
        return fail(fmt::format("{} is not written compressed; give -o a name without .gz", kind->name),
                    ExitCode::kUsage);
    }
    int status = 0;
    const auto model = load(arguments.trace, WithTimeline::kYes, status);
    if (model == nullptr) {
        return status;
    }
    const MaybeFault fault = standard_output               ? to_standard_output(*kind, *model)
                             : is_stream(arguments.output) ? to_stream(*kind, *model, arguments.output)
                                                           : to_file(*kind, *model, arguments.output);
    if (fault) {
        return fail(fault->message, ExitCode::kNotWritten);
    }
    for (const std::string& remark : analysis::remarks(analysis::place_activities(*model->timeline))) {
        spdlog::warn("{}: {}", arguments.trace, remark);
    }
    return model->index.reading.partial() ? partly_readable(arguments.trace, model->index.reading)
                                          : static_cast<int>(ExitCode::kDone);
}

}  // namespace

Subcommand add_export_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("export", "Writes the trace as a file that other tools open");
    const auto arguments = std::make_shared<ExportArguments>();
    command->add_option("--to", arguments->kind, "What to write: " + kind_names())->required()->type_name("KIND");
    command
        ->add_option(
            "-o,--output", arguments->output,
            "File to write, which appears when it is complete; - for standard output; compressed if it ends in .gz")
        ->required()
        ->type_name("FILE");
    command->add_option("trace", arguments->trace, "Trace to read, usually trace.bin")->required();
    command->footer(kinds_described());
    return {command, [arguments] { return run_export(*arguments); }};
}

}  // namespace gpuspy::report
