"""Tables of a gpuspy trace, for pyarrow, pandas, polars, DuckDB and whatever else reads Arrow's C streams.

    import gpuspy, pyarrow
    trace = gpuspy.open("trace.bin")
    kernels = pyarrow.table(trace.kernels())

Needs nothing but Python itself; docs/python.md says what the tables and columns are.
"""

import os
import warnings

from gpuspy import _library
from gpuspy._library import Error

__all__ = ["Error", "Table", "Trace", "open"]


class Table:
    """A table that is read when somebody asks for it, from the beginning each time: `pyarrow.table(table)`,
    `polars.DataFrame(table)`, `duckdb.sql("from table")`."""

    def __init__(self, make_capsule, name):
        self._make_capsule = make_capsule
        self.name = name

    def __repr__(self):
        return f"<gpuspy table {self.name}>"

    def __arrow_c_stream__(self, requested_schema=None):
        """A PyCapsule with an ArrowArrayStream. A requested schema is a wish, which is not fulfilled."""
        return self._make_capsule()

    def to_arrow(self):
        """A pyarrow.Table."""
        return _pyarrow().table(self)

    def to_pandas(self, **options):
        """A pandas.DataFrame; the options are those of pyarrow.Table.to_pandas."""
        return self.to_arrow().to_pandas(**options)


class Trace:
    """A trace that was read whole. Each kind of rows is a method that returns a Table; `tables()` names them."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self._handle, note = _library.open_trace(self.path)
        self.partial = note  #: What could not be read, as one line; None if all was.

    def __repr__(self):
        return f"<gpuspy trace {self.path}>"

    @staticmethod
    def tables():
        """The kinds of rows: {name: what a row is}."""
        return _library.row_tables()

    @staticmethod
    def views():
        """The views: {name: what it shows}."""
        return _library.views()

    def table(self, name):
        """The rows of this name, as the method of the same name returns them."""
        return self._checked(Table(lambda: self._handle.rows(name), name))

    def view(self, name, names="full", by_config=False):
        """A table of a view, as `gpuspy-report --view` prints it: "VIEW.TABLE", or "VIEW" if that has one table.

        names: kernels as "full", "base" or "mangled"; by_config: view kernels, a row for each grid and block."""
        return self._checked(Table(lambda: self._handle.view(name, names, by_config), name))

    def to_parquet(self, folder, **options):
        """Writes each kind of rows to `folder`/NAME.parquet, a batch at a time, and returns the paths. Needs pyarrow; the
        options are those of pyarrow.parquet.ParquetWriter."""
        pyarrow = _pyarrow()
        import pyarrow.parquet

        os.makedirs(folder, exist_ok=True)
        paths = []
        for name in self.tables():
            path = os.path.join(os.fspath(folder), f"{name}.parquet")
            unfinished = f"{path}.{os.getpid()}.tmp"
            try:
                with pyarrow.RecordBatchReader.from_stream(self.table(name)) as reader:
                    with pyarrow.parquet.ParquetWriter(unfinished, reader.schema, **options) as writer:
                        for batch in reader:
                            writer.write_batch(batch)
                os.replace(unfinished, path)
            except BaseException:
                if os.path.exists(unfinished):
                    os.unlink(unfinished)
                raise
            paths.append(path)
        return paths

    @staticmethod
    def _checked(table):
        """A name that is wrong is said where it was given, not where the table is read."""
        table.__arrow_c_stream__()
        return table


def open(path):  # pylint: disable=redefined-builtin
    """Reads the trace at `path`. Raises gpuspy.Error, with one line that says what is wrong; warns of a trace of which
    some could not be read."""
    trace = Trace(path)
    if trace.partial is not None:
        warnings.warn(trace.partial, stacklevel=2)
    return trace


def _pyarrow():
    try:
        import pyarrow
    except ImportError as error:
        raise Error("this needs pyarrow, which is not installed: pip install pyarrow") from error
    return pyarrow


def _add_methods():
    """trace.kernels() and the like, one for each kind of rows that the library knows."""
    for name, about in _library.row_tables().items():

        def method(self, name=name):
            return self.table(name)

        method.__name__ = name
        method.__qualname__ = f"Trace.{name}"
        method.__doc__ = f"{about[0].upper()}{about[1:]}."
        setattr(Trace, name, method)


_add_methods()
