"""Which functions of which headers are hooked, as what, and which of their arguments are kept: the part to review.

A function is hooked when a pattern of its library matches its whole name, by the first pattern that does. Hooks with logic of their own
(launches, copies, graphs ...) are written by hand in interpose/table/{driver,runtime}.def and win over these.
"""

import dataclasses
import re

TOOLKIT = "toolkit"  # the folder of CUDA 13's headers: cuda.h ... and cudnn.h


@dataclasses.dataclass(frozen=True)
class Library:
    name: str
    headers: tuple
    folders: tuple  # header sets (folders.py), newest first: the newest that declares a function names its arguments
    patterns: tuple  # (pattern, class, attributes)
    kept: str = ""  # pattern of the names of the arguments to keep
    defines: tuple = ()
    language: str = "c"  # the headers are read in: "c++" where they declare functions for it alone
    also: tuple = ()  # (pattern of functions, pattern of the names of arguments that they keep besides)
    without: tuple = ()  # (pattern of functions, pattern of the names that they do not keep)
    shorter: tuple = ()  # (pattern of functions, pattern of names, replacement), as SHORTER
    old: tuple = ()  # names of versions that no header here declares: (name, stack words, class)

    def match(self, name):
        """(class, attributes), or None when the function is not hooked."""
        for pattern, api_class, attributes in self.patterns:
            if re.fullmatch(pattern, name):
                return (api_class, attributes) if api_class else None
        return None


CUDA = (TOOLKIT, "cuda12.9", "cuda12.0", "cuda11.7")
EVERY_VERSION = "__CUDA_API_VERSION_INTERNAL"
EXECUTES = "kLibrary"
DESCRIBES = "kDescribe"
LEFT_OUT = None

# Arrays behind a pointer: the argument that says how many elements there are.
ARRAYS = {
    "dimA": "nbDims",
    "strideA": "nbDims",
    "filterDimA": "nbDims",
    "padA": "arrayLength",
    "filterStrideA": "arrayLength",
    "dilationA": "arrayLength",
    "windowDimA": "nbDims",
    "paddingA": "nbDims",
    "n": "rank",
    "xDesc": "seqLength",  # of handles
    "dxDesc": "seqLength",
}
# Addresses of memory, as its allocation and its release name them.
POINTERS = ("devPtr", "ptr", "pHost", "p")
# Buffers whose first bytes are kept: the argument that says how many there are.
# Arrays whose elements' type another argument says: {array: (number of elements, type)}. Of the number the first name that there is:
# where the function writes back how many it filled, all that were asked for are the caller's descriptors.
TYPED = {"arrayOfElements": (("requestedElementCount", "elementCount"), "attributeType")}
# Calls that are not recorded, by the value of an argument: what is set anew for each execution says nothing of the work
# (CUDNN_ATTR_VARIANT_PACK_*).
UNLESS = {
    ("cudnnBackendSetAttribute", "attributeName"): (1000, 1012),
}
# Calls that are recorded with this value of an argument alone: the engine configurations that heuristics chose
# (CUDNN_ATTR_ENGINEHEUR_RESULTS).
ONLY = {
    ("cudnnBackendGetAttribute", "attributeName"): 202,
}
BYTES = {"buf": "sizeInBytes"}
# Sums of products over arrays of the program's memory: (pattern of functions, ((name, arrays, number of elements), ...)).
GROUPS = (
    ("mnk", ("m_array", "n_array", "k_array", "group_size"), "group_count"),
    ("mk", ("m_array", "k_array", "group_size"), "group_count"),
    ("kn", ("k_array", "n_array", "group_size"), "group_count"),
    ("mn", ("m_array", "n_array", "group_size"), "group_count"),
)
SUMS = (
    (r"cublas\w*[gG]emmGroupedBatched\w*", GROUPS),
    (r"cudnnSetRNNDataDescriptor", (("steps", ("seqLengthArray",), "batchSize"),)),
)

# Names that are kept shorter: those of one function have room for abi::ApiEntry::fields. (pattern, replacement)
SHORTER = (
    (r"windowHeight", "window_h"),
    (r"windowWidth", "window_w"),
    (r"verticalPadding", "pad_h"),
    (r"verticalStride", "stride_h"),
    (r"horizontalPadding", "pad_w"),
    (r"horizontalStride", "stride_w"),
    (r"dataType([A-Z]+)", r"type\1"),
)

BLAS1 = r"(I[sdcz]am(ax|in)|[SDCZ]c?(asum|axpy|copy|dot[uc]?|nrm2|rot|rotg|rotm|rotmg|scal|swap)|Dz(asum|nrm2)|Sc(asum|nrm2)|C[s](rot|scal)|Zd(rot|scal))"
BLAS23 = (
    r"(HS[HS]|TS[TS])gemv\w*|[SDCZH]([gthsc][a-z]{1,3}(mv|r|r2|ru|rc|sv|mm|mm3m|mm3mEx|mmEx|sm|rk|r2k|rkx|rkEx|rk3mEx)|gemm\w*|gemv\w*|geam|dgmm|"
    r"getr[fsi]\w*|matinv\w*|geqrf\w*|gels\w*|t[pr]ttp?|trttp|tpttr|trsm\w*)"
)

LIBRARIES = (
    Library(
        "driver_calls",
        ("cuda.h",),
        CUDA,
        (
            # Asked for often, or not at all while a program computes: not worth a record.
            (r"cu(Mem|Array|MipmappedArray)\w*(Get|Export|Import|Set|Advise|RangeGet|Retain|Host(GetFlags|GetDevice))\w*", LEFT_OUT, ""),
            (r"cuMem(cpy|set)\w*", LEFT_OUT, ""),
            (r"cuMemFree(Host|_v2)?|cuMemAlloc(_v2)?|cuMemAllocPitch(_v2)?|cuMemHostUnregister", "kMemory", "kApiBlocking"),
            (r"cuMem(Alloc|Free|HostAlloc|HostRegister|Create|Release|Map|Unmap|AddressReserve|AddressFree|PoolCreate|PoolDestroy|PoolTrimTo)\w*", "kMemory", "0"),
            (r"cuMem(Prefetch|Discard|BatchDecompress)\w*|cuIpc(Open|Close)MemHandle\w*", "kMemory", "0"),
            (r"cu(Array|Array3D|MipmappedArray)(Create|Destroy)\w*", "kMemory", "0"),
            (r"cu(Stream|Event)(Create|Destroy)\w*|cuGreenCtxStreamCreate", "kStream", "0"),
            (r"cu(Green)?Ctx(RecordEvent|WaitEvent)|cuEventRecord\w*|cuStream(WaitEvent|AddCallback|WaitValue|WriteValue|BatchMemOp)\w*|cuLaunchHostFunc\w*", "kStream", "0"),
            (r"cu(Signal|Wait)ExternalSemaphoresAsync\w*", "kStream", "0"),
            (r"cu(Module|Library)Load\w*|cuLink(Create|Complete|AddData|AddFile)\w*", "kModule", "0"),
            (r"cuGraph(ExecKernel|ExecMemcpy|ExecMemset|ExecChildGraph|ExecHost|Kernel|Memcpy|Memset|Host|Exec)NodeSetParams\w*", "kGraph", "0"),
            (r"cuGraph(Upload|Create|AddHostNode|AddEmptyNode|AddEvent\w+Node|AddMem\w+Node|AddBatchMemOpNode|AddExternalSemaphores\w+Node|AddDependencies)\w*", "kGraph", "0"),
            (r"cuCtx(Create|Destroy)\w*|cuDevicePrimaryCtx(Retain|Release|Reset)\w*|cuGreenCtx(Create|Destroy)|cuCtxDetach", "kContext", "0"),
        ),
        kept=r"[hp]*(dptr|Stream|stream|Event|event)|bytesize|WidthInBytes|Height|size|ptr|p|pp|handle|module|library",
        defines=(EVERY_VERSION,),
    ),
    Library(
        "runtime_calls",
        ("cuda_runtime_api.h",),
        CUDA,
        (
            (r"cudaMem(cpy|set)\w*", LEFT_OUT, ""),
            (r"cudaMemPool(Create|Destroy|TrimTo)", "kMemory", "0"),
            (r"cudaMem(Prefetch|Discard)\w*|cudaIpc(Open|Close)MemHandle", "kMemory", "0"),
            (r"cudaFree(Host|Array|MipmappedArray)?|cudaMalloc|cudaMallocPitch|cudaMalloc3D|cudaHostUnregister", "kMemory", "kApiBlocking"),
            (r"cuda(Malloc|Free)\w*|cudaHost(Alloc|Register)", "kMemory", "0"),
            (r"cuda(Stream|Event)(Create|Destroy)\w*", "kStream", "0"),
            (r"cudaEventRecord\w*|cudaStream(WaitEvent|AddCallback)\w*|cudaLaunchHostFunc\w*", "kStream", "0"),
            (r"cuda(Signal|Wait)ExternalSemaphoresAsync\w*", "kStream", "0"),
            (r"cudaLaunchCooperativeKernelMultiDevice", "kMulti", "0"),  # up to CUDA 12; the driver's call inside is the launch
            (r"cudaStreamBeginCaptureToGraph\w*", "kGraph", "0"),
            (r"cudaLibraryLoad\w*", "kModule", "0"),
            (r"cudaGraph(Exec)?(Kernel|Memcpy|Memset|Host|ChildGraph)?NodeSetParams\w*", "kGraph", "0"),
            (r"cudaGraph(Upload|Create|Add\w+|Clone)\w*", "kGraph", "0"),
            (r"cudaDeviceReset|cudaInitDevice", "kContext", "0"),
        ),
        kept=r"devPtr|ptr|pHost|p|p?[sS]tream|event|size|width|height|count|library",
        defines=(EVERY_VERSION,),
        old=(("cudaThreadExit", 0, "kContext"),),  # up to CUDA 12
    ),
    Library(
        "cudnn",
        ("cudnn.h",),
        (TOOLKIT, "cudnn9.0", "cudnn8.9", "cudnn8.5"),
        (
            (r"cudnnBackend[SG]etAttribute", DESCRIBES, "0"),
            (r"cudnnSetRNN(Descriptor(_v[568])?|DataDescriptor|ProjectionLayers|MatrixMathType)", DESCRIBES, "0"),
            (r"cudnn(Get|Create|Destroy|Query|Derive|BuildRNN|RNN[GS]etClip)\w*", LEFT_OUT, ""),
            (r"cudnn\w+VersionCheck|cudnnDropoutGet\w*", LEFT_OUT, ""),
            (r"cudnn\w*(Forward|Backward)\w*", EXECUTES, "0"),
            (r"cudnn(OpTensor|ReduceTensor|AddTensor|ScaleTensor|SetTensor|TransformTensor(Ex)?|TransformFilter|Im2Col)", EXECUTES, "0"),
            (r"cudnn(CTCLoss\w*|FusedOpsExecute|BackendExecute|BackendPopulateCudaGraph|BackendUpdateCudaGraph|ReorderFilterAndBias)", EXECUTES, "0"),
            (r"cudnn(Set|Restore)DropoutDescriptor", EXECUTES, "0"),
            (r"cudnnSet(Tensor4d|TensorNd|Filter4d|FilterNd|Convolution2d|ConvolutionNd|Pooling2d|PoolingNd)Descriptor(Ex)?", DESCRIBES, "0"),
            (r"cudnnSetConvolution(GroupCount|MathType)", DESCRIBES, "0"),
        ),
        kept=r"(x|y|w|dx|dy|dw|tensor|filter|conv|pooling)Desc|algo|group_?[cC]ount|mathType|data_?[tT]ype|format|computeType|mode|"
        r"[nchwk]|(pad|stride|dilation|window|vertical|horizontal)\w*|[uv]|nbDims|arrayLength|dimA|filterDimA|strideA|padA|"
        r"filterStrideA|dilationA|executionPlan|descriptor|attributeName|attributeType|arrayOfElements",
        also=(
            (r"cudnnBackendSetAttribute", r"elementCount"),
            (r"cudnn(Set)?RNN\w+", r"rnnDesc|seqLength"),
            (r"cudnnSetRNN(Descriptor\w*|ProjectionLayers|MatrixMathType)", r"cellMode|dirMode|direction|inputMode|inputSize|hiddenSize|"
             r"projSize|recProjSize|outProjSize|numLayers|mathPrec|mType"),
            (r"cudnnSetRNNDataDescriptor", r"rnnDataDesc|maxSeqLength|batchSize|vectorSize"),
        ),
        without=((r"cudnnSetRNNDescriptor_v8", r"algo|mathPrec"),),
        shorter=(
            (r"cudnnBackendSetAttribute", r"elementCount", "count"),
            (r"cudnn\w*RNN\w*", r"rnnDesc", "rnn"),
            (r"cudnnSetRNN\w*", r"cellMode", "cell"),
            (r"cudnnSetRNN\w*", r"dirMode|direction", "dir"),
            (r"cudnnSetRNN\w*", r"inputMode", "skip"),
            (r"cudnnSetRNN\w*", r"(input|hidden|proj)Size", r"\1"),
            (r"cudnnSetRNN\w*", r"recProjSize", "proj"),
            (r"cudnnSetRNN\w*", r"numLayers", "layers"),
            (r"cudnnSetRNN\w*", r"mType", "mathType"),
        ),
        # Executing calls that cuDNN 5 to 7 had beside those of today's names (cuDNN release notes).
        old=tuple((f"cudnn{name}", 8, EXECUTES) for name in (
            "ActivationForward_v3", "ActivationForward_v4", "ActivationBackward_v3", "ActivationBackward_v4",
            "AddTensor_v3", "ConvolutionBackwardFilter_v3", "ConvolutionBackwardData_v3",
        )),
    ),
    Library(
        "cublas",
        ("cublas_v2.h",),
        CUDA,
        (
            (r"cublasCreate_v2|cublasSetMathMode", DESCRIBES, "0"),
            (r"cublas(Set|Get)(Vector|Matrix)(Async)?(_64)?", EXECUTES, "0"),
            (rf"cublas({BLAS1}|{BLAS23})(_v2)?(_64)?", EXECUTES, "0"),
            (r"cublas(Gemm\w*|AxpyEx|DotEx|DotcEx|Nrm2Ex|ScalEx|RotEx|RotgEx|RotmEx|RotmgEx|AsumEx|IamaxEx|IaminEx|CopyEx|SwapEx|Uint8gemmBias)(_64)?", EXECUTES, "0"),
        ),
        kept=r"trans[ab]?|side|uplo|[mnk]|[ABC]type|[abc]Type|computeType|batch(Count|Size)|group_count|groupCount|n",
        # Calls that obey their handle's math mode: 32-bit floats may become TF32.
        also=(
            (r"cublas[SC](gemm|symm|hemm|syrk|syr2k|herk|her2k|trmm)\w*|cublasGemm\w*|cublasCreate_v2|cublasSetMathMode", r"handle"),
            (r"cublasSetMathMode", r"mode"),
        ),
        without=((r"cublasGemmGroupedBatchedEx\w*", r"[BC]type|group_count"),),
        shorter=(
            (r"cublas\w+", r"handle", "h"),
            (r"cublasGemm\w*BatchedEx\w*", r"trans([ab])", r"t\1"),
        ),
        language="c++",  # cublasHgemm and its like
    ),
    # The first interface of cuBLAS (up to CUDA 5, still exported): no handle, and no status returned.
    Library(
        "cublas_first",
        ("cublas.h",),
        CUDA,
        (
            (r"cublas\w+(_v2|_64|Ex|Batched|3m|geam|dgmm)\w*", LEFT_OUT, ""),
            (r"cublas(Create|Destroy|Shutdown|Xerbla|Alloc|Free|Set\w+|Get\w+)", LEFT_OUT, ""),
            (rf"cublas({BLAS1}|[SDCZ][a-z0-9]{{3,6}})", EXECUTES, "kApiNoStatus"),
        ),
        kept=r"trans[ab]|[mnk]",
    ),
    Library(
        "cublaslt",
        ("cublasLt.h",),
        CUDA,
        (
            (r"cublasLt(Matmul|MatrixTransform)", EXECUTES, "0"),
            (r"cublasLtMat(mulDesc|rixLayout)(Init_internal|SetAttribute|Create)", DESCRIBES, "0"),
        ),
        kept=r"computeDesc|matmulDesc|matLayout|type|rows|cols|ld|scaleType|computeType|attr|buf|[ABCD]desc",
    ),
    Library(
        "cublasxt",
        ("cublasXt.h",),
        CUDA,
        ((r"cublasXt[SDCZ][a-z0-9]+", EXECUTES, "0"),),
        kept=r"trans[ab]|side|uplo|[mnk]",
    ),
    Library(
        "nccl",
        ("nccl.h",),
        ("nccl2.32", TOOLKIT, "nccl2.13"),
        (
            (r"p?nccl(AllReduce|Broadcast|Bcast|Reduce|AllGather|ReduceScatter|AlltoAll|Gather|Scatter|Send|Recv|PutSignal|Signal|WaitSignal)(Config)?", "kCollective", "0"),
            (r"p?ncclGroup(Start|End)", "kCollective", "0"),
            (r"p?ncclComm(InitRank\w*|InitAll|Split|Shrink|Grow|Destroy|Abort|Finalize|Revoke|Suspend|Resume)", "kCommunicator", "0"),
            (r"p?ncclMem(Alloc|Free)", "kMemory", "0"),
        ),
        kept=r"count|sendcount|recvcount|datatype|op|root|peer|comm|nranks|nRanks|rank|myrank|ndev|color|key|newcomm|ptr|size",
    ),
    Library(
        "cufft",
        ("cufft.h", "cufftXt.h"),
        CUDA,
        ((r"cufft(Exec\w+|XtExec\w*|XtMemcpy)", EXECUTES, "0"), (r"cufft(MakePlan|Plan|XtMakePlan)\w+", DESCRIBES, "0")),
        kept=r"plan|n[xyz]?|type|batch|rank|direction",
    ),
    Library(
        "curand",
        ("curand.h",),
        CUDA,
        ((r"curandGenerate\w*", EXECUTES, "0"),),
        kept=r"n|num",
    ),
    Library(
        "cusolver",
        ("cusolverDn.h", "cusolverSp.h", "cusolverRf.h", "cusolverMg.h"),
        CUDA,
        (
            (r"cusolver\w*(bufferSize\w*|BufferSize\w*|_bufferInfo\w*|bufferInfo\w*|Get(?!r[fs]$)\w+|IRSParams\w+|Set(?!up)\w+|Create\w*|Destroy\w*|create\w*|destroy\w*|Logger\w*|Info\w*)", LEFT_OUT, ""),
            (r"cusolver(Dn|Sp|Rf|Mg)\w+", EXECUTES, "0"),
        ),
        kept=r"[mnk]|nrhs|batch(Size|Count)|dataType[A-Z]*|computeType|job[a-z]*|uplo|nnz",
    ),
    Library(
        "cusparse",
        ("cusparse.h",),
        CUDA,
        (
            (r"cusparseCreateIdentityPermutation", EXECUTES, "0"),  # a kernel, whatever its name
            (r"cusparseX\w+_zeroPivot", "kSync", "kApiBlocking"),
            (r"cusparse\w*([bB]ufferSize\w*|Get\w*|Set\w*|Create\w*|Destroy\w*|create\w*|destroy\w*|Logger\w*|CopyMatDescr)", LEFT_OUT, ""),
            (r"cusparse[SDCZX]\w+|cusparse(Axpby|Gather|Scatter|Rot|Sp\w+|SDDMM\w*|Csr2\w+|SparseToDense|DenseToSparse\w*|Constrained\w+)", EXECUTES, "0"),
        ),
        kept=r"[mnk]|nnz[a-z]?|op[AB]|computeType|mb|nb|nnzb",
    ),
    Library(
        "cusparselt",
        ("stdint.h", "stdalign.h", "cusparseLt.h"),
        ("cusparselt",),
        ((r"cusparseLt(Matmul|MatmulSearch|SpMMA(Prune|PruneCheck|Compress)\w*)", EXECUTES, "0"),),
    ),
    Library(
        "cutensor",
        ("cutensor.h",),
        ("cutensor2", "cutensor1"),
        (
            (r"cutensor(Contract|ContractTrinary|BlockSparseContract|ElementwiseBinaryExecute|ElementwiseTrinaryExecute|Permute|Reduce)", EXECUTES, "0"),
            (r"cutensor(Contraction|Reduction|Permutation|ElementwiseBinary|ElementwiseTrinary)", EXECUTES, "0"),
        ),
        kept=r"plan",
    ),
)
