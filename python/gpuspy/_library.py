"""libgpuspy_tables.so (analysis/arrow/api.h), which lies beside this file, by ctypes: one build for every Python 3."""

import ctypes
import os
import weakref

_TEXT = ctypes.c_void_p  # Not c_char_p, which ctypes would copy and lose.
_CAPSULE_NAME = b"arrow_array_stream"  # PyCapsule_New keeps the pointer, so the bytes must stay.


class Error(Exception):
    """What is wrong, as one line."""


def _load():
    path = os.environ.get("GPUSPY_TABLES_LIBRARY") or os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                                   "libgpuspy_tables.so")
    library = ctypes.CDLL(path)
    for name, result, arguments in (
            ("open", _TEXT, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(_TEXT)]),
            ("close", None, [ctypes.c_void_p]),
            ("free", None, [_TEXT]),
            ("list_rows", _TEXT, []),
            ("list_views", _TEXT, []),
            ("rows", _TEXT, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]),
            ("view", _TEXT, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]),
            ("new_stream", ctypes.c_void_p, []),
            ("delete_stream", None, [ctypes.c_void_p]),
            ("use_python", None, [ctypes.c_void_p])):
        function = getattr(library, f"gpuspy_tables_{name}")
        function.restype = result
        function.argtypes = arguments
    library.gpuspy_tables_use_python(ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer, ctypes.c_void_p))
    return library


_library = _load()
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
# In C, since a capsule may end when Python does.
_end_capsule = ctypes.cast(_library.gpuspy_tables_end_capsule, ctypes.c_void_p)


def _taken(text):
    """The library's text as Python's, and the library's memory freed; None for NULL."""
    if not text:
        return None
    try:
        return ctypes.string_at(text).decode("utf-8", "replace")
    finally:
        _library.gpuspy_tables_free(text)


def _check(text):
    message = _taken(text)
    if message is not None:
        raise Error(message)


def _listed(text):
    return dict(line.split("\t", 1) for line in (_taken(text) or "").splitlines())


def row_tables():
    return _listed(_library.gpuspy_tables_list_rows())


def views():
    return _listed(_library.gpuspy_tables_list_views())


class Handle:
    """An open trace."""

    def __init__(self, pointer):
        self._pointer = pointer
        # Streams live on without it.
        weakref.finalize(self, _library.gpuspy_tables_close, pointer)

    def rows(self, table):
        return self._capsule(_library.gpuspy_tables_rows, table.encode())

    def view(self, name, names, by_config):
        return self._capsule(_library.gpuspy_tables_view, name.encode(), names.encode(), int(by_config))

    def _capsule(self, fill, *arguments):
        stream = _library.gpuspy_tables_new_stream()
        if not stream:
            raise MemoryError()
        try:
            _check(fill(self._pointer, *arguments, stream))
            return _new_capsule(stream, _CAPSULE_NAME, _end_capsule)
        except BaseException:
            _library.gpuspy_tables_delete_stream(stream)
            raise


def open_trace(path):
    """(Handle, what could not be read of it or None)."""
    if b"\0" in os.fsencode(path):
        raise Error("a path has a zero byte in it")
    pointer, note = ctypes.c_void_p(), _TEXT()
    _check(_library.gpuspy_tables_open(os.fsencode(path), ctypes.byref(pointer), ctypes.byref(note)))
    return Handle(pointer.value), _taken(note.value)
