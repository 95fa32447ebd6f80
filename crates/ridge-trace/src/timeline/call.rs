//! Calls of the host.

use super::{Correlation, NameId, ThreadId};

/// Which interface a call belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    /// The runtime: `cuda…`.
    Runtime,
    /// The driver: `cu…`.
    Driver,
}

/// A call of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// When it began.
    pub start_ns: i64,
    /// When it returned.
    pub end_ns: i64,
    /// Joins it with its work.
    pub correlation: Option<Correlation>,
    /// The function, without the suffix of its version.
    pub name: NameId,
    /// Which thread called.
    pub thread: ThreadId,
    /// Which interface it belongs to.
    pub api: Api,
}

impl Call {
    /// How long it took.
    #[must_use]
    pub fn duration_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// What a function does, as far as it matters for time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallClass {
    /// It launches a kernel.
    Launch,
    /// It launches a graph.
    GraphLaunch,
    /// It waits for the device, a stream or an event.
    Synchronise,
    /// It copies, and waits until that is done.
    Copy,
    /// It queues a copy; with pageable memory it waits all the same.
    CopyAsync,
    /// It sets memory.
    Memset,
    /// It gets or returns memory, and may wait for the device.
    Allocate,
    /// Something else.
    Other,
}

impl CallClass {
    /// Finds the class of a function by its name, with or without the suffix of its version.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let name = name.strip_suffix("_ptsz").unwrap_or(name);
        let name = name.strip_suffix("_ptds").unwrap_or(name);
        let name = without_version(name);
        let Some(function) = name
            .strip_prefix("cuda")
            .or_else(|| name.strip_prefix("cu"))
        else {
            return Self::of_other(name);
        };
        match function {
            "GraphLaunch" => Self::GraphLaunch,
            "DeviceSynchronize" | "StreamSynchronize" | "EventSynchronize" | "CtxSynchronize"
            | "ThreadSynchronize" => Self::Synchronise,
            _ if function.starts_with("Launch") && !function.starts_with("LaunchHostFunc") => {
                Self::Launch
            }
            _ if function.starts_with("Memcpy") => {
                if function.contains("Async") {
                    Self::CopyAsync
                } else {
                    Self::Copy
                }
            }
            _ if function.starts_with("Memset") => Self::Memset,
            _ if ["Malloc", "Free", "MemAlloc", "MemFree", "HostAlloc", "HostRegister", "HostUnregister", "MemHostAlloc", "MemHostRegister"]
                .iter()
                .any(|start| function.starts_with(start))
                // From a pool, in the order of the stream.
                && !function.contains("Async") =>
            {
                Self::Allocate
            }
            _ => Self::Other,
        }
    }

    /// The functions of AMD's runtime that do the same.
    fn of_other(name: &str) -> Self {
        match name {
            "hipGraphLaunch" => Self::GraphLaunch,
            "hipDeviceSynchronize" | "hipStreamSynchronize" | "hipEventSynchronize" => {
                Self::Synchronise
            }
            _ if name.starts_with("hip") && name.contains("LaunchKernel") => Self::Launch,
            _ if name.starts_with("hipMemcpy") && name.contains("Async") => Self::CopyAsync,
            _ if name.starts_with("hipMemcpy") => Self::Copy,
            _ if name.starts_with("hipMemset") => Self::Memset,
            _ => Self::Other,
        }
    }
}

/// A name without the version that CUPTI appends: `cudaLaunchKernel_v7000` is `cudaLaunchKernel`.
pub(crate) fn without_version(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((function, version))
            if !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()) =>
        {
            function
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_a_class() {
        for (name, class) in [
            ("cudaLaunchKernel_v7000", CallClass::Launch),
            ("cudaLaunchKernelExC", CallClass::Launch),
            ("cuLaunchKernelEx", CallClass::Launch),
            ("cudaLaunchHostFunc", CallClass::Other),
            ("cudaGraphLaunch_ptsz", CallClass::GraphLaunch),
            ("cudaMemcpy", CallClass::Copy),
            ("cuMemcpyHtoD_v2", CallClass::Copy),
            ("cudaMemcpyAsync_v3020", CallClass::CopyAsync),
            ("cudaMemcpyPeerAsync", CallClass::CopyAsync),
            ("cudaStreamSynchronize", CallClass::Synchronise),
            ("cudaStreamWaitEvent", CallClass::Other),
            ("cudaMalloc", CallClass::Allocate),
            ("cudaMallocAsync", CallClass::Other),
            ("cuMemAlloc_v2", CallClass::Allocate),
            ("hipExtModuleLaunchKernel", CallClass::Launch),
            ("custom", CallClass::Other),
        ] {
            assert_eq!(CallClass::of(name), class, "{name}");
        }
    }
}
