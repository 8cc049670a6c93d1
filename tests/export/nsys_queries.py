"""Questions to a SQLite file with Nsight Systems' schema, as the reports of `nsys stats` ask them."""

KERNELS = """
    select s.value, count(*), sum(k.end - k.start), min(k.end - k.start), max(k.end - k.start)
    from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.{name} group by k.{name}"""

# What Nsight Systems shows, and what it does not: driver calls that the runtime makes.
CALLS = """
    with calls as (
        select nameId, start, end, 0 as nested from CUPTI_ACTIVITY_KIND_RUNTIME
        union all select nameId, start, end, 1 from GPUSPY_NESTED_CALLS
        union all select nameId, start, end, 0 from CUDNN_EVENTS
        union all select nameId, start, end, 0 from CUBLAS_EVENTS
        union all select nameId, start, end, 0 from GPUSPY_LIBRARY_EVENTS)
    select s.value, count(*), sum(end - start), sum(nested) from calls join StringIds s on s.id = nameId group by nameId"""

COPIES = """
    select o.label, count(*), sum(m.end - m.start), sum(m.bytes)
    from CUPTI_ACTIVITY_KIND_MEMCPY m join ENUM_CUDA_MEMCPY_OPER o on o.id = m.copyKind group by o.label"""

SETS = "select 'memset', count(*), sum(end - start), sum(bytes) from CUPTI_ACTIVITY_KIND_MEMSET having count(*) > 0"

# A row for each kernel: the call that launched it, as cuda_kern_exec_sum joins them.
EXECUTIONS = """
    select count(*), count(rt.start), count(distinct rt.correlationId), sum(k.end - k.start),
           sum(case when k.start < rt.start then 1 else 0 end)
    from CUPTI_ACTIVITY_KIND_KERNEL k left join CUPTI_ACTIVITY_KIND_RUNTIME rt
        on rt.correlationId = k.correlationId and rt.globalTid & 0xffffffffff000000 = k.globalPid"""

SYNCS = """
    select t.label, count(*), sum(y.end - y.start) from CUPTI_ACTIVITY_KIND_SYNCHRONIZATION y
    join ENUM_CUPTI_SYNC_TYPE t on t.id = y.syncType
    join CUPTI_ACTIVITY_KIND_RUNTIME rt on rt.correlationId = y.correlationId and rt.start = y.start group by t.label"""

DUPLICATES = """
    select correlationId from CUPTI_ACTIVITY_KIND_RUNTIME group by correlationId having count(*) > 1"""
