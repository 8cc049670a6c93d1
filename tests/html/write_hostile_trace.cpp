// write_hostile_trace FILE: a trace in which every name that a report shows tries to be markup or script.
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/unit/analysis/scripts.hpp"

int main(int argc, char** argv) {
    using namespace gpuspy;
    using namespace gpuspy::test;
    if (argc != 2) {
        std::fputs("usage: write_hostile_trace FILE\n", stderr);
        return 2;
    }
    const std::string image = "<img src=x onerror=\"window.attacked='image'\">";
    const std::string script = "</script><script>window.attacked='script'</script>";
    const std::string comment = "<!--<script> & \u2028 &lt;b&gt; ";
    TraceBuilder trace = begun_trace();
    trace.header.argv = {"python", image, script, comment};
    trace.thread(0, 100, script);
    trace.device(0, image);
    trace.info("driver_version", script);
    trace.object(kStart, 0x7000, 0x8000, "/opt/" + image);
    trace.notice(kStart + 1'000, script + image);
    std::uint64_t at = 0;
    for (const std::string& name : {image, script, comment, "'\"><svg onload=window.attacked='svg'>" + comment}) {
        ++at;
        trace.name(kStart, 0xf0 + at, name);
        trace.call({.api = {name, "driver", abi::ApiLevel::kDriver, abi::ApiClass::kLaunch},
                    .begin = kStart + 1'000 * at,
                    .end = kStart + 1'000 * at + 300,
                    .correlation = at,
                    .caller = 0x7100,
                    .function = 0xf0 + at});
        trace.activity({.name = name,
                        .start = on_device(kStart + 1'000 * at + 400),
                        .duration = 300 + 10 * at,
                        .correlation = at});
    }
    trace.end(kStart + 900'000);
    const std::string bytes = trace.bytes();
    std::ofstream file(argv[1], std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    return file ? 0 : 1;
}
