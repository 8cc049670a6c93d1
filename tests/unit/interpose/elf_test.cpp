#include "interpose/resolve/elf.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern "C" int gpuspy_elf_test_function() {
    return 7;
}

namespace {

namespace elf = gpuspy::hook::elf;

elf::Object object_of(const void* address) {
    elf::Object object;
    REQUIRE(elf::find_object(address, &object));
    return object;
}

elf::Object this_program() {
    return object_of(reinterpret_cast<const void*>(&gpuspy_elf_test_function));
}

}  // namespace

TEST_CASE("an address lies in the object that holds it, and in no other") {
    const elf::Object program = this_program();
    const elf::Object libc = object_of(dlsym(RTLD_DEFAULT, "strtoull"));
    CHECK(std::string(elf::soname(libc)) == "libc.so.6");
    CHECK_FALSE(program.covers(dlsym(RTLD_DEFAULT, "strtoull")));
    int local = 0;
    elf::Object none;
    CHECK_FALSE(elf::find_object(&local, &none));  // the stack belongs to no object
}

TEST_CASE("a symbol is found where it is defined, as the loader finds it") {
    const elf::Object libc = object_of(dlsym(RTLD_DEFAULT, "strtoull"));
    void* handle = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);
    REQUIRE(handle != nullptr);
    // Several with more than one version (the default one counts), one indirect function (memcpy).
    for (const char* name : {"strtoull", "open", "memcpy", "pthread_create", "qsort", "dlerror"}) {
        CAPTURE(name);
        CHECK(elf::find_symbol(libc, name) == dlsym(handle, name));
    }
    dlclose(handle);
    CHECK(elf::find_symbol(libc, "gpuspy_elf_test_function") == nullptr);
    CHECK(elf::find_symbol(libc, "no such symbol") == nullptr);
    CHECK(elf::find_symbol(libc, "") == nullptr);
    CHECK(elf::find_symbol(this_program(), "gpuspy_elf_test_function") ==
          reinterpret_cast<void*>(&gpuspy_elf_test_function));
}

TEST_CASE("a reference has the version that it was linked with") {
    const char* version = elf::needed_version(this_program(), "__libc_start_main");
    REQUIRE(version != nullptr);
    CHECK(std::strncmp(version, "GLIBC_2.", 8) == 0);
    CHECK(elf::needed_version(this_program(), "gpuspy_elf_test_function") == nullptr);
    CHECK(elf::needed_version(this_program(), "no such symbol") == nullptr);
}

TEST_CASE("an object that defines nothing has references all the same") {
    void* handle = dlopen(GPUSPY_NO_EXPORTS, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle != nullptr);
    link_map* map = nullptr;
    REQUIRE(dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0);
    const elf::Object object = object_of(map->l_ld);
    const char* version = elf::needed_version(object, "getppid");
    REQUIRE(version != nullptr);
    CHECK(std::strncmp(version, "GLIBC_2.", 8) == 0);
    CHECK(elf::needed_version(object, "no such symbol") == nullptr);
    CHECK(elf::refers_to(object, [](const char* name) noexcept { return std::strcmp(name, "getppid") == 0; }));
    CHECK_FALSE(elf::refers_to(object, [](const char*) noexcept { return false; }));
    dlclose(handle);
}

TEST_CASE("objects that were linked to lie above where they lie") {
    for (const char* path : {GPUSPY_HIGH_ONE, GPUSPY_HIGH_TWO}) {
        CAPTURE(path);
        void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);  // one has the place, the other does not
        REQUIRE(handle != nullptr);
        void* function = dlsym(handle, "gpuspy_high_function");
        const elf::Object object = object_of(function);
        CHECK(elf::find_symbol(object, "gpuspy_high_function") == function);
        CHECK(elf::find_symbol(object, "no such symbol") == nullptr);
    }
}

TEST_CASE("what the loader made read-only is whole pages") {
    const elf::Object program = this_program();
    CHECK(program.relro_begin % 4096 == 0);
    CHECK(program.relro_end % 4096 == 0);
}

TEST_CASE("the needed libraries come in their order, and a visit can end") {
    const auto collect = [](void* context, const char* soname) noexcept {
        static_cast<std::vector<std::string>*>(context)->push_back(soname);
        return false;
    };
    std::vector<std::string> needed;
    CHECK_FALSE(elf::for_each_needed(this_program(), collect, &needed));
    REQUIRE_FALSE(needed.empty());
    CHECK(std::find(needed.begin(), needed.end(), "libc.so.6") != needed.end());

    const auto stop = [](void* context, const char*) noexcept {
        ++*static_cast<int*>(context);
        return true;
    };
    int visits = 0;
    CHECK(elf::for_each_needed(this_program(), stop, &visits));
    CHECK(visits == 1);
}

TEST_CASE("every loaded object is visited once") {
    const auto count = [](void* context, const elf::Object& object) noexcept {
        static_cast<std::vector<ElfW(Addr)>*>(context)->push_back(object.base);
        return false;
    };
    std::vector<ElfW(Addr)> bases;
    CHECK_FALSE(elf::for_each_object(count, &bases));
    const std::size_t before = bases.size();
    CHECK(before >= 3);  // the program, libc, the loader
    std::sort(bases.begin(), bases.end());
    CHECK(std::unique(bases.begin(), bases.end()) == bases.end());
}

TEST_CASE("the loader's own list has the same objects, found without the C library") {
    const auto collect = [](void* context, const elf::Object& object) noexcept {
        static_cast<std::vector<const void*>*>(context)->push_back(object.dynamic);
        return false;
    };
    std::vector<const void*> by_headers;
    std::vector<const void*> by_list;
    CHECK_FALSE(elf::for_each_object(collect, &by_headers));
    CHECK_FALSE(elf::for_each_linked(collect, &by_list));
    std::sort(by_headers.begin(), by_headers.end());
    std::sort(by_list.begin(), by_list.end());
    CHECK(by_list.size() >= 3);
    // The list may leave out the kernel's own object (vdso).
    CHECK(std::includes(by_headers.begin(), by_headers.end(), by_list.begin(), by_list.end()));
}

TEST_CASE("a place that holds another object's function is found by its name") {
    struct Found {
        void* value;
        int count;
    };
    const auto visit = [](void* context, const elf::Binding& binding) noexcept {
        if (std::strcmp(binding.name, "dladdr") != 0) return;
        auto* found = static_cast<Found*>(context);
        found->value = *binding.place;
        ++found->count;
    };
    Found found{nullptr, 0};
    Dl_info info;
    REQUIRE(dladdr(reinterpret_cast<const void*>(&gpuspy_elf_test_function), &info) != 0);  // bound by now
    elf::for_each_binding(this_program(), visit, &found);
    CHECK(found.count == 1);
    CHECK(found.value == dlsym(RTLD_DEFAULT, "dladdr"));
    CHECK(elf::refers_to(this_program(), [](const char* name) noexcept { return std::strcmp(name, "dlsym") == 0; }));
    CHECK_FALSE(elf::refers_to(this_program(), [](const char*) noexcept { return false; }));
}

TEST_CASE("an exported address has a name, and a name a version or none") {
    const elf::Object libc = object_of(dlsym(RTLD_DEFAULT, "strtoull"));
    // By its handle: a sanitizer's runtime has one of its own.
    void* handle = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);
    REQUIRE(handle != nullptr);
    const char* qsort_address = reinterpret_cast<const char*>(dlsym(handle, "qsort"));
    CHECK(elf::exported_name(libc, qsort_address) == std::string("qsort"));
    CHECK(elf::exported_name(libc, qsort_address + 1) == nullptr);
    dlclose(handle);
    CHECK_FALSE(elf::is_unversioned(libc, "qsort"));
    CHECK(elf::is_unversioned(this_program(), "gpuspy_elf_test_function"));
    CHECK_FALSE(elf::is_unversioned(this_program(), "no such symbol"));
}

TEST_CASE("loading is counted") {
    const elf::LoadCounts before = elf::load_counts();
    CHECK(before.adds >= 3);
    void* handle = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    const elf::LoadCounts after = elf::load_counts();
    CHECK(after.adds >= before.adds);
    CHECK(after.subs == before.subs);
    if (handle != nullptr) dlclose(handle);
}
