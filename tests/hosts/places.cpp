// Calls from the places where a program is not quite there, or not any more:
//
// places destructors N   N threads, one after another, that call while they run, from a thread_local's destructor, and from a pthread key's
//                        in each of its rounds: 2 + 1 + 4 calls each
// places exits           main, handlers of atexit that were registered before and after the first call, a static object's destructor; with
//                        libplaces_early.so also that library's constructor and destructor, which run before and after ours
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" int cublasSaxpy_v2(void*, int);
extern "C" int cublasSscal_v2(void*, int);

namespace {

pthread_key_t key;

struct CallsAtEnd {
    bool is_used = false;
    ~CallsAtEnd() { cublasSaxpy_v2(nullptr, 1); }
};
thread_local CallsAtEnd of_thread;
CallsAtEnd of_program;

/// Asks to be called again, as often as the C library does.
void call_again(void* value) {
    cublasSaxpy_v2(nullptr, 1);
    pthread_setspecific(key, value);
}

void* run(void*) {
    of_thread.is_used = true;
    cublasSaxpy_v2(nullptr, 1);
    pthread_setspecific(key, &key);
    cublasSaxpy_v2(nullptr, 1);
    return nullptr;
}

int destructors(int count) {
    for (int i = 0; i < count; ++i) {
        pthread_t thread;
        if (pthread_create(&thread, nullptr, run, nullptr) != 0) return 3;
        pthread_join(thread, nullptr);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "";
    if (std::strcmp(how, "destructors") == 0 && argc > 2) {
        // After gpuspy's own key, whose destructor then runs first in each round.
        cublasSscal_v2(nullptr, 1);
        pthread_key_create(&key, call_again);
        if (const int status = destructors(std::atoi(argv[2])); status != 0) return status;
    } else if (std::strcmp(how, "exits") == 0) {
        std::atexit([] { cublasSaxpy_v2(nullptr, 1); });
        cublasSscal_v2(nullptr, 1);
        std::atexit([] { cublasSscal_v2(nullptr, 1); });
    } else {
        return 2;
    }
    std::printf("called\n");
    std::fflush(stdout);
    return 0;
}
