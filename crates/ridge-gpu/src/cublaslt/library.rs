//! The functions of cuBLASLt behind safe ones: one of the files of this crate that need `unsafe`.
//!
//! Signatures, numbers and layouts follow the documentation of cuBLAS, "Using the cuBLASLt API"; they have been the same
//! since 11.8.
#![expect(
    unsafe_code,
    reason = "functions of a library of another language are unsafe to call"
)]

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::ptr;
use std::rc::Rc;

/// A result code; zero is success.
type Status = c_int;
/// A handle: a pointer that only the library looks behind.
type Handle = *mut c_void;

/// An algorithm: 64 bytes that only the library understands.
#[repr(C)]
#[derive(Clone, Copy)]
struct Algorithm {
    data: [u64; 8],
}

/// What the library's heuristic says about an algorithm.
#[repr(C)]
#[derive(Clone, Copy)]
struct Heuristic {
    algorithm: Algorithm,
    workspace: usize,
    status: Status,
    waves: f32,
    reserved: [c_int; 4],
}

const NOTHING: Heuristic = Heuristic {
    algorithm: Algorithm { data: [0; 8] },
    workspace: 0,
    status: 1,
    waves: 0.0,
    reserved: [0; 4],
};

/// Numbers of data types.
pub(super) mod data_type {
    use std::ffi::c_int;

    pub(crate) const F32: c_int = 0;
    pub(crate) const F64: c_int = 1;
    pub(crate) const F16: c_int = 2;
    pub(crate) const I8: c_int = 3;
    pub(crate) const I32: c_int = 10;
    pub(crate) const BF16: c_int = 14;
    pub(crate) const E4M3: c_int = 28;
}

/// Numbers of the types in which is computed.
pub(super) mod compute_type {
    use std::ffi::c_int;

    pub(crate) const F16: c_int = 64;
    pub(crate) const F32: c_int = 68;
    pub(crate) const F64: c_int = 70;
    pub(crate) const I32: c_int = 72;
    pub(crate) const TF32: c_int = 77;
}

/// Attributes of a product.
const TRANSPOSE_A: c_int = 3;
const TRANSPOSE_B: c_int = 4;
const FAST_ACCUMULATION: c_int = 25;
/// Attribute of a preference.
const MOST_WORKSPACE: c_int = 1;
/// Attribute of an algorithm.
const ALGORITHM_ID: c_int = 0;

macro_rules! functions {
    ($($field:ident: $symbol:literal ($($parameter:ty),*);)*) => {
        struct Functions {
            $($field: unsafe extern "C" fn($($parameter),*) -> Status,)*
        }

        impl Functions {
            /// Looks all functions up; the name of one that is missing.
            fn of(loaded: &libloading::Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($field: {
                        let name = concat!($symbol, "\0").as_bytes();
                        // SAFETY: the type is that of the function of this name, as the vendor documents it. The library
                        // is never unloaded.
                        let symbol = unsafe {
                            loaded.get::<unsafe extern "C" fn($($parameter),*) -> Status>(name)
                        };
                        *symbol.map_err(|_| $symbol)?
                    },)*
                })
            }
        }
    };
}

functions! {
    create: "cublasLtCreate" (*mut Handle);
    product_create: "cublasLtMatmulDescCreate" (*mut Handle, c_int, c_int);
    product_destroy: "cublasLtMatmulDescDestroy" (Handle);
    product_set: "cublasLtMatmulDescSetAttribute" (Handle, c_int, *const c_void, usize);
    layout_create: "cublasLtMatrixLayoutCreate" (*mut Handle, c_int, u64, u64, i64);
    layout_destroy: "cublasLtMatrixLayoutDestroy" (Handle);
    preference_create: "cublasLtMatmulPreferenceCreate" (*mut Handle);
    preference_destroy: "cublasLtMatmulPreferenceDestroy" (Handle);
    preference_set: "cublasLtMatmulPreferenceSetAttribute" (Handle, c_int, *const c_void, usize);
    heuristic: "cublasLtMatmulAlgoGetHeuristic" (
        Handle, Handle, Handle, Handle, Handle, Handle, Handle, c_int, *mut Heuristic, *mut c_int
    );
    algorithm_get: "cublasLtMatmulAlgoConfigGetAttribute" (
        *const Algorithm, c_int, *mut c_void, usize, *mut usize
    );
    multiply: "cublasLtMatmul" (
        Handle, Handle, *const c_void, u64, Handle, u64, Handle, *const c_void, u64, Handle, u64, Handle,
        *const Algorithm, u64, usize, *mut c_void
    );
}

/// The library, loaded, for the context that is current.
pub(crate) struct Library {
    functions: Functions,
    handle: Handle,
    /// Never unloaded: it has registered code with the driver.
    _loaded: &'static libloading::Library,
}

/// Success, or the library's number for what went wrong.
fn check(call: &str, status: Status) -> Result<(), String> {
    match status {
        0 => Ok(()),
        1 => Err(format!("{call}: not initialised")),
        3 => Err(format!("{call}: no memory")),
        7 => Err(format!("{call}: a value is not valid")),
        8 => Err(format!("{call}: not on this architecture")),
        13 => Err(format!("{call}: it did not run")),
        15 => Err(format!("{call}: not supported")),
        other => Err(format!("{call}: status {other}")),
    }
}

impl Library {
    /// Loads a library; `None` when it is not there.
    pub(super) fn load(path: &Path) -> Option<Result<Rc<Self>, String>> {
        // SAFETY: loading runs the library's initialisers. The user installed it as the vendor's library, or named it.
        let loaded = unsafe { libloading::Library::new(path) }.ok()?;
        let loaded: &'static libloading::Library = Box::leak(Box::new(loaded));
        let functions = match Functions::of(loaded) {
            Ok(functions) => functions,
            Err(missing) => {
                return Some(Err(format!(
                    "{} is too old: it has no {missing}",
                    path.display()
                )));
            }
        };
        let mut handle = ptr::null_mut();
        // SAFETY: the pointer is to one that outlives the call; a context is current, as the caller guarantees.
        let status = unsafe { (functions.create)(&raw mut handle) };
        Some(check("cublasLtCreate", status).map(|()| {
            Rc::new(Self {
                functions,
                handle,
                _loaded: loaded,
            })
        }))
    }
}

/// What is to be multiplied: column by column, as the library has it.
pub(super) struct Problem {
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) depth: u64,
    pub(super) input: c_int,
    pub(super) output: c_int,
    pub(super) compute: c_int,
    /// The type of the factors.
    pub(super) scale: c_int,
    /// 1 in that type.
    pub(super) one: [u8; 8],
    pub(super) is_transposed: [bool; 2],
    pub(super) has_fast_sums: bool,
}

/// A handle that the library has to forget again.
struct Owned {
    handle: Handle,
    destroy: unsafe extern "C" fn(Handle) -> Status,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the handle was made by the function that belongs to this one, and nobody else destroys it.
        // It can only fail for a handle that is none, and nobody is left to tell.
        let _ = unsafe { (self.destroy)(self.handle) };
    }
}

/// A product with the algorithms that may do it.
pub(crate) struct Plan {
    product: Owned,
    left: Owned,
    right: Owned,
    to: Owned,
    one: [u8; 8],
    algorithms: Vec<(Algorithm, usize)>,
    library: Rc<Library>,
}

impl Plan {
    /// Asks for the algorithms of a product, best first as the library sees it.
    pub(super) fn new(
        library: &Rc<Library>,
        problem: &Problem,
        workspace: usize,
        most: usize,
    ) -> Result<Self, String> {
        let functions = &library.functions;
        let mut handle = ptr::null_mut();
        // SAFETY: the pointer is to one that outlives the call; the library checks the numbers.
        let status =
            unsafe { (functions.product_create)(&raw mut handle, problem.compute, problem.scale) };
        check("cublasLtMatmulDescCreate", status)?;
        let product = Owned {
            handle,
            destroy: functions.product_destroy,
        };
        for (attribute, is_set) in [
            (TRANSPOSE_A, problem.is_transposed[0]),
            (TRANSPOSE_B, problem.is_transposed[1]),
        ] {
            let value = c_int::from(is_set);
            // SAFETY: the handle is of a product made above; the attribute is an integer of 32 bits that outlives the call.
            let status = unsafe {
                (functions.product_set)(
                    product.handle,
                    attribute,
                    (&raw const value).cast(),
                    size_of::<c_int>(),
                )
            };
            check("cublasLtMatmulDescSetAttribute", status)?;
        }
        if problem.has_fast_sums {
            let value = 1_i8;
            // SAFETY: as above; this attribute has 8 bits.
            let status = unsafe {
                (functions.product_set)(
                    product.handle,
                    FAST_ACCUMULATION,
                    (&raw const value).cast(),
                    size_of::<i8>(),
                )
            };
            check("cublasLtMatmulDescSetAttribute", status)?;
        }
        let layout = |kind: c_int, rows: u64, columns: u64| -> Result<Owned, String> {
            let mut handle = ptr::null_mut();
            let lead = i64::try_from(rows).map_err(|_| "too many rows".to_owned())?;
            // SAFETY: the pointer is to one that outlives the call; the library checks the numbers.
            let status =
                unsafe { (functions.layout_create)(&raw mut handle, kind, rows, columns, lead) };
            check("cublasLtMatrixLayoutCreate", status)?;
            Ok(Owned {
                handle,
                destroy: functions.layout_destroy,
            })
        };
        let turned = |is_transposed: bool, rows: u64, columns: u64| {
            if is_transposed {
                (columns, rows)
            } else {
                (rows, columns)
            }
        };
        let (rows, columns) = turned(problem.is_transposed[0], problem.rows, problem.depth);
        let left = layout(problem.input, rows, columns)?;
        let (rows, columns) = turned(problem.is_transposed[1], problem.depth, problem.columns);
        let right = layout(problem.input, rows, columns)?;
        let to = layout(problem.output, problem.rows, problem.columns)?;
        let mut handle = ptr::null_mut();
        // SAFETY: the pointer is to one that outlives the call.
        let status = unsafe { (functions.preference_create)(&raw mut handle) };
        check("cublasLtMatmulPreferenceCreate", status)?;
        let preference = Owned {
            handle,
            destroy: functions.preference_destroy,
        };
        // SAFETY: the handle is of a preference made above; the attribute is a size that outlives the call.
        let status = unsafe {
            (functions.preference_set)(
                preference.handle,
                MOST_WORKSPACE,
                (&raw const workspace).cast(),
                size_of::<usize>(),
            )
        };
        check("cublasLtMatmulPreferenceSetAttribute", status)?;
        let mut found = vec![NOTHING; most.clamp(1, 64)];
        let mut count = 0;
        // SAFETY: all handles were made above and live; the list has as many entries as are announced.
        let status = unsafe {
            (functions.heuristic)(
                library.handle,
                product.handle,
                left.handle,
                right.handle,
                to.handle,
                to.handle,
                preference.handle,
                c_int::try_from(found.len()).unwrap_or(1),
                found.as_mut_ptr(),
                &raw mut count,
            )
        };
        check("cublasLtMatmulAlgoGetHeuristic", status)?;
        found.truncate(usize::try_from(count).unwrap_or(0));
        let algorithms: Vec<(Algorithm, usize)> = found
            .iter()
            .filter(|found| found.status == 0 && found.workspace <= workspace)
            .map(|found| (found.algorithm, found.workspace))
            .collect();
        if algorithms.is_empty() {
            return Err("the library has no algorithm for this product here".to_owned());
        }
        Ok(Self {
            product,
            left,
            right,
            to,
            one: problem.one,
            algorithms,
            library: Rc::clone(library),
        })
    }

    /// How many algorithms there are.
    pub(crate) fn algorithms(&self) -> usize {
        self.algorithms.len()
    }

    /// The library's number for an algorithm.
    pub(crate) fn algorithm_id(&self, place: usize) -> Option<i32> {
        let (algorithm, _) = self.algorithms.get(place)?;
        let (mut id, mut written) = (0_i32, 0);
        // SAFETY: the algorithm came from the library; the attribute is an integer of 32 bits that outlives the call.
        let status = unsafe {
            (self.library.functions.algorithm_get)(
                ptr::from_ref(algorithm),
                ALGORITHM_ID,
                (&raw mut id).cast(),
                size_of::<i32>(),
                &raw mut written,
            )
        };
        (status == 0).then_some(id)
    }

    /// Queues the product in a stream.
    ///
    /// Addresses are those of buffers that are as large as the layouts say and live until the stream is done; the caller
    /// holds them.
    pub(crate) fn queue(
        &self,
        place: usize,
        [left, right, to, workspace]: [u64; 4],
        stream: *mut c_void,
    ) -> Result<(), String> {
        let Some((algorithm, bytes)) = self.algorithms.get(place) else {
            return Err("no such algorithm".to_owned());
        };
        let nothing = [0_u8; 8];
        // SAFETY: handles and algorithm are of this library and live; factors are of the type of the product and are read
        // during the call; addresses are those of the caller's buffers, see above.
        let status = unsafe {
            (self.library.functions.multiply)(
                self.library.handle,
                self.product.handle,
                self.one.as_ptr().cast(),
                left,
                self.left.handle,
                right,
                self.right.handle,
                nothing.as_ptr().cast(),
                to,
                self.to.handle,
                to,
                self.to.handle,
                ptr::from_ref(algorithm),
                workspace,
                *bytes,
                stream,
            )
        };
        check("cublasLtMatmul", status)
    }
}
