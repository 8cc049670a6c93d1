// A library that calls from its constructor and from its destructor.
extern "C" int cublasSscal_v2(void*, int);

namespace {
[[gnu::constructor]] void begin() {
    cublasSscal_v2(nullptr, 1);
}
[[gnu::destructor]] void end() {
    cublasSscal_v2(nullptr, 1);
}
}  // namespace

extern "C" void places_early() {}
