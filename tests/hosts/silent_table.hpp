// Every call of the hook table that launches, copies, sets, waits, allocates, communicates, orders work or executes a library's, as
// SILENT(name): what must neither allocate nor lock nor make a system call once its thread has a ring. Calls that set something up (names,
// modules, graphs, contexts, communicators, descriptions, look-ups) are left out.
//
// Include after #define SILENT(name). The table itself is read, so that a new row is in here without a further line.
#define SILENT_kLaunch(name) SILENT(name)
#define SILENT_kGraphLaunch(name) SILENT(name)
#define SILENT_kCopy(name) SILENT(name)
#define SILENT_kSet(name) SILENT(name)
#define SILENT_kSync(name) SILENT(name)
#define SILENT_kMemory(name) SILENT(name)
#define SILENT_kLibrary(name) SILENT(name)
#define SILENT_kMulti(name) SILENT(name)
#define SILENT_kCollective(name) SILENT(name)
#define SILENT_kStream(name) SILENT(name)
#define SILENT_kOther(name)
#define SILENT_kGraph(name)
#define SILENT_kName(name)
#define SILENT_kContext(name)
#define SILENT_kCommunicator(name)
#define SILENT_kModule(name)
#define SILENT_kDescribe(name)
#define HOOK(name, api_class, ...) SILENT_##api_class(name)
#define CALL(name, api_class, ...) SILENT_##api_class(name)
#include "interpose/table/all.def"
#undef HOOK
#undef CALL
