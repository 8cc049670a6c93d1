#include "interpose/record/forward.hpp"

#include <string_view>

#include "interpose/lifecycle/generation.hpp"
#include "interpose/record/arguments.hpp"
#include "interpose/resolve/originals.hpp"

namespace gpuspy::hook {
namespace {

/// A row CALL of the table.
struct Row {
    HookId id;
    std::uint8_t stack_words;
    bool starts_recording;
    bool only_outermost;  ///< Inside another recorded call it is that library's own business.
    bool has_status;
    bool is_per_thread;  ///< Stream 0 is the thread's own.
    std::uint8_t unavailable;
    std::uint8_t pending;  ///< A status that is no failure: the call goes on by itself (ncclInProgress).
    Fields fields;
};

constexpr std::uint8_t kNcclInProgress = 7;

constexpr bool starts_recording(abi::ApiClass api_class) {
    // Nothing runs yet: a process that goes no further than this leaves no file.
    return api_class != abi::ApiClass::kContext && api_class != abi::ApiClass::kModule &&
           api_class != abi::ApiClass::kStream;
}

using abi::kApiBlocking;
using abi::kApiNoStatus;

constexpr Row kRows[] = {
#define HOOK(...)
#define CALL(name, api_class, attributes, words, fields)                                       \
    {HookId::name,                                                                             \
     words,                                                                                    \
     starts_recording(abi::ApiClass::api_class),                                               \
     abi::ApiClass::api_class == abi::ApiClass::kDescribe,                                     \
     ((attributes)&abi::kApiNoStatus) == 0,                                                    \
     std::string_view(#name).ends_with("_ptsz") || std::string_view(#name).ends_with("_ptds"), \
     GPUSPY_UNAVAILABLE,                                                                       \
     std::string_view(GPUSPY_LIBRARY) == "nccl" ? kNcclInProgress : std::uint8_t{0},           \
     parse_fields(fields)},
#include "interpose/table/all.def"
#undef CALL
#undef HOOK
};

/// The words of the call's arguments, at most kMaxArgumentWords.
class Arguments {
public:
    void add(std::uint64_t word) noexcept {
        if (count_ < abi::kMaxArgumentWords) words_[count_++] = word;
    }
    void add(const ForwardFrame& frame, const Field& field, bool succeeded) noexcept {
        const std::uint64_t word = frame.word(field.place);
        const void* pointer = reinterpret_cast<const void*>(word);
        const bool readable = succeeded && pointer != nullptr;
        switch (field.kind) {
            case FieldKind::kSigned32:
                add(static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(word))));
                break;
            case FieldKind::kUnsigned32:
                add(static_cast<std::uint32_t>(word));
                break;
            case FieldKind::kWord:
                add(word);
                break;
            case FieldKind::kPointed32:
                add(readable ? static_cast<std::uint64_t>(std::int64_t{read<std::int32_t>(pointer, 0)}) : 0);
                break;
            case FieldKind::kPointed64:
                add(readable ? read<std::uint64_t>(pointer, 0) : 0);
                break;
            case FieldKind::kArray32:
                add_array<std::int32_t>(readable ? pointer : nullptr, frame.word(field.count_place));
                break;
            case FieldKind::kArray64:
                add_array<std::int64_t>(readable ? pointer : nullptr, frame.word(field.count_place));
                break;
            case FieldKind::kBytes:
                add_bytes(readable ? pointer : nullptr, frame.word(field.count_place));
                break;
            case FieldKind::kTyped:
                add_typed(readable ? pointer : nullptr, frame.word(field.count_place),
                          static_cast<std::uint32_t>(frame.word(field.type_place)));
                break;
            case FieldKind::kSumOfProducts:
                add(succeeded ? sum_of_products(frame, field) : kNoSum);
                break;
            case FieldKind::kStream:
                break;
        }
    }
    [[nodiscard]] const std::uint64_t* words() const noexcept { return words_; }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

private:
    template <class T>
    static T read(const void* at, std::uint64_t index) noexcept {
        T value;
        __builtin_memcpy(&value, static_cast<const char*>(at) + index * sizeof value, sizeof value);
        return value;
    }
    template <class T>
    void add_array(const void* at, std::uint64_t count_word) noexcept {
        // The number of elements is an int in every function that has one.
        const std::int64_t said = static_cast<std::int32_t>(count_word);
        std::uint64_t count = at == nullptr || said < 0 ? 0 : static_cast<std::uint64_t>(said);
        if (count > kMaxArrayElements) count = kMaxArrayElements;
        if (count_ + 1 + count > abi::kMaxArgumentWords) count = 0;
        add(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            add(static_cast<std::uint64_t>(static_cast<std::int64_t>(read<T>(at, i))));
        }
    }
    void add_typed(const void* at, std::uint64_t count, std::uint32_t type) noexcept {
        const std::uint32_t bytes = element_bytes(type);
        if (at == nullptr || count > INT64_MAX) count = 0;
        if (count > kMaxTypedElements) count = kMaxTypedElements;
        if (count_ + 1 + count > abi::kMaxArgumentWords) count = 0;
        add(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            if (bytes == 1) {
                add(read<std::uint8_t>(at, i));
            } else if (bytes == 4) {
                add(static_cast<std::uint64_t>(std::int64_t{read<std::int32_t>(at, i)}));
            } else {
                add(read<std::uint64_t>(at, i * (bytes / 8)));
            }
        }
    }
    /// kNoSum where an array is missing, where there are more elements than are looked at, or where the sum does not fit.
    static std::uint64_t sum_of_products(const ForwardFrame& frame, const Field& field) noexcept {
        const std::uint64_t word = frame.word(field.count_place);
        const std::int64_t count = field.is_64 ? static_cast<std::int64_t>(word) : static_cast<std::int32_t>(word);
        if (count < 0 || static_cast<std::uint64_t>(count) > kMaxSummedElements) return kNoSum;
        const void* arrays[kMaxFactors];
        for (std::size_t factor = 0; factor < field.factors; ++factor) {
            arrays[factor] = reinterpret_cast<const void*>(frame.word(field.factor_places[factor]));
            if (arrays[factor] == nullptr) return kNoSum;
        }
        std::int64_t sum = 0;
        for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
            std::int64_t product = 1;
            for (std::size_t factor = 0; factor < field.factors; ++factor) {
                const std::int64_t element = field.is_64 ? read<std::int64_t>(arrays[factor], i)
                                                         : std::int64_t{read<std::int32_t>(arrays[factor], i)};
                if (element < 0 || __builtin_mul_overflow(product, element, &product)) return kNoSum;
            }
            if (__builtin_add_overflow(sum, product, &sum)) return kNoSum;
        }
        return static_cast<std::uint64_t>(sum);
    }
    void add_bytes(const void* at, std::uint64_t bytes) noexcept {
        if (at == nullptr) bytes = 0;
        if (bytes > kMaxBufferBytes) bytes = kMaxBufferBytes;
        std::uint64_t words[kMaxBufferBytes / 8] = {};
        if (bytes != 0) __builtin_memcpy(words, at, bytes);
        const std::uint64_t count = (bytes + 7) / 8;
        add(count);
        for (std::uint64_t i = 0; i < count; ++i) add(words[i]);
    }

    static constexpr std::uint64_t kNoSum = ~std::uint64_t{0};  // -1

    std::uint64_t words_[abi::kMaxArgumentWords];
    std::uint32_t count_ = 0;
};

bool is_inside_call() noexcept {
    const ThreadLocal& local = thread_local_state;
    return local.state != nullptr && local.generation == current_generation() && local.state->depth != 0;
}

constexpr std::uint64_t kPerThreadStream = 2;  // CU_STREAM_PER_THREAD (cuda.h)

constexpr long kPass = -1;
constexpr long kUnavailable = -2;

}  // namespace

extern "C" {

/// Before the original: its address goes to the frame. Returns the number of stack words to copy, kPass to become the original, or
/// kUnavailable when there is none: the status is in the results.
__attribute__((visibility("hidden"), used)) long gpuspy_forward_begin(ForwardFrame* frame, const void* caller,
                                                                      const void* frame_address) noexcept {
    const Row& row = kRows[frame->row_and_slot / 8];
    const std::size_t slot = frame->row_and_slot % 8;
    frame->original = slot == kSlotCount ? original_for_caller(row.id, caller)
                                         : slot_originals[index_of(row.id)][slot].load(std::memory_order_relaxed);
    if (frame->original == nullptr) {
        __builtin_memset(frame->results, 0, sizeof frame->results);
        __builtin_memset(frame->vector_results, 0, sizeof frame->vector_results);
        if (row.has_status) frame->results[0] = row.unavailable;
        return kUnavailable;
    }
    if (!row.starts_recording && current_generation() == 0) return kPass;
    if (row.only_outermost && is_inside_call()) return kPass;
    if (const Unless& unless = row.fields.unless; !unless.holds_none()) {
        const auto word = static_cast<std::uint32_t>(frame->word(unless.place));
        if (unless.leaves_out(word)) return kPass;
    }
    if (!begin_call(frame->call, row.id, caller, frame_address)) return kPass;
    return row.stack_words;
}

__attribute__((visibility("hidden"), used)) void gpuspy_forward_end(ForwardFrame* frame) noexcept {
    const Row& row = kRows[frame->row_and_slot / 8];
    CallParts parts;
    bool succeeded = true;
    if (row.has_status) {
        parts.status = static_cast<std::int32_t>(frame->results[0]);
        succeeded = parts.status == 0 || (row.pending != 0 && parts.status == row.pending);
        if (!succeeded) parts.flags |= abi::kCallStatus;
    }
    Arguments arguments;
    for (std::size_t i = 0; i < row.fields.count; ++i) {
        const Field& field = row.fields.at[i];
        if (field.kind == FieldKind::kStream) {
            parts.flags |= abi::kCallStream;
            parts.stream = frame->word(field.place);
            if (parts.stream == 0 && row.is_per_thread) parts.stream = kPerThreadStream;
        } else {
            arguments.add(*frame, field, succeeded);
        }
    }
    if (arguments.count() != 0) {
        parts.flags |= abi::kCallArguments;
        parts.arguments = arguments.words();
        parts.argument_count = arguments.count();
    }
    end_call(frame->call, parts);
}

}  // extern "C"

}  // namespace gpuspy::hook
