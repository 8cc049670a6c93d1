// The vendor's headers, included nowhere else: the macro must be seen by the first inclusion.
#pragma once

// Asks the headers to declare every exported version of a function under its exact symbol, old forms included.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cuda_runtime_api.h>
// Not cupti.h: it declares structs of its own under the names of the driver's old forms.
#include <cupti_activity.h>
#include <cupti_activity_deprecated.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_result.h>
#include <cupti_version.h>
