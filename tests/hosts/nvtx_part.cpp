// A shared object with its own copy of NVTX, as PyTorch, NCCL and cuDNN each have one. Built as two, by NVTX_PART.
#include <nvtx3/nvToolsExt.h>

#include "tests/hosts/nvtx_part.hpp"

#define NVTX_PART_NAME2(part, name) part##_##name
#define NVTX_PART_NAME1(part, name) NVTX_PART_NAME2(part, name)
#define NVTX_PART_NAME(name) NVTX_PART_NAME1(NVTX_PART, name)

int NVTX_PART_NAME(push)(const char* text) {
    return nvtxRangePushA(text);
}
int NVTX_PART_NAME(pop)() {
    return nvtxRangePop();
}
unsigned long long NVTX_PART_NAME(start)(const char* text) {
    return nvtxRangeStartA(text);
}
void NVTX_PART_NAME(end)(unsigned long long id) {
    nvtxRangeEnd(id);
}
int NVTX_PART_NAME(push_in)(const char* domain, const char* text) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = text;
    return nvtxDomainRangePushEx(nvtxDomainCreateA(domain), &attributes);
}
int NVTX_PART_NAME(pop_in)(const char* domain) {
    return nvtxDomainRangePop(nvtxDomainCreateA(domain));
}
