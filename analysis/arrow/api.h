// libgpuspy_tables.so: a trace's tables as Arrow C streams, for other languages. The Python package gpuspy is made on it.
//
// A function that can fail returns what is wrong, as one line that gpuspy_tables_free() frees, or NULL. A trace may be used
// from several threads; a stream from one at a time.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct ArrowArrayStream;
struct gpuspy_tables_trace;

/// Reads the trace at `path` whole. `*note` becomes what could not be read of it, or NULL.
char* gpuspy_tables_open(const char* path, struct gpuspy_tables_trace** trace, char** note);
/// Streams that were made of it live on.
void gpuspy_tables_close(struct gpuspy_tables_trace* trace);
void gpuspy_tables_free(char* text);

/// Lines "NAME<TAB>what it is": the tables for gpuspy_tables_rows(), the views for gpuspy_tables_view().
char* gpuspy_tables_list_rows(void);
char* gpuspy_tables_list_views(void);

/// Fills `*stream`, which the caller releases.
char* gpuspy_tables_rows(struct gpuspy_tables_trace* trace, const char* table, struct ArrowArrayStream* stream);
/// `view`: "VIEW.TABLE", or "VIEW" where that has one table. `names`: "full", "base" or "mangled".
char* gpuspy_tables_view(struct gpuspy_tables_trace* trace, const char* view, const char* names, int by_config,
                         struct ArrowArrayStream* stream);

/// Memory for a stream that Python's garbage collector owns.
struct ArrowArrayStream* gpuspy_tables_new_stream(void);
/// Releases a stream that nobody moved away, and frees its memory.
void gpuspy_tables_delete_stream(struct ArrowArrayStream* stream);
/// A PyCapsule_Destructor for capsules that hold such a stream under the name "arrow_array_stream", given the process's
/// PyCapsule_GetPointer first: the library is linked with no Python, so that it works with each.
void gpuspy_tables_use_python(void* (*capsule_pointer)(void* capsule, const char* name));
void gpuspy_tables_end_capsule(void* capsule);

#ifdef __cplusplus
}
#endif
