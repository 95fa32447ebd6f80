//! The functions of NVRTC behind safe ones: one of the files of this crate that need `unsafe`.
//!
//! Signatures follow the documentation of NVRTC, "Data types and functions". They have been the same since
//! `nvrtcGetCUBIN` came with 11.1.
#![expect(
    unsafe_code,
    reason = "functions of a library of another language are unsafe to call"
)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;

/// A result code; zero is success.
type Status = c_int;
/// A program's handle: a pointer that only the library looks behind.
type Handle = *mut c_void;

type GetVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status;
type GetErrorString = unsafe extern "C" fn(Status) -> *const c_char;
type CreateProgram = unsafe extern "C" fn(
    *mut Handle,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> Status;
type DestroyProgram = unsafe extern "C" fn(*mut Handle) -> Status;
type CompileProgram = unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> Status;
type GetSize = unsafe extern "C" fn(Handle, *mut usize) -> Status;
type AddName = unsafe extern "C" fn(Handle, *const c_char) -> Status;
type GetName = unsafe extern "C" fn(Handle, *const c_char, *mut *const c_char) -> Status;
type GetBytes = unsafe extern "C" fn(Handle, *mut c_char) -> Status;

/// No cubin or log comes near: what is larger is a sign of a broken library.
const MAX_BYTES: usize = 1 << 30;

/// The library, loaded, with the functions that are used. They stay valid as long as it is.
#[derive(Debug)]
pub(super) struct Library {
    version: GetVersion,
    error_string: GetErrorString,
    create: CreateProgram,
    destroy: DestroyProgram,
    compile: CompileProgram,
    cubin_size: GetSize,
    cubin: GetBytes,
    ptx_size: GetSize,
    ptx: GetBytes,
    add_name: AddName,
    lowered_name: GetName,
    log_size: GetSize,
    log: GetBytes,
    /// What the library itself looks for by name alone, see `load_builtins`.
    builtins: Option<libloading::Library>,
    /// Unloads the library when it goes, after everything else.
    _loaded: libloading::Library,
}

/// The functions of a library, each looked up by its name.
macro_rules! function {
    ($loaded:ident, $name:literal, $type:ty) => {{
        // SAFETY: the type is that of the function of this name, as the vendor documents it. It is called only while the
        // library is loaded, since `Library` owns both.
        let symbol = unsafe { $loaded.get::<$type>(concat!($name, "\0").as_bytes()) };
        match symbol {
            Ok(symbol) => *symbol,
            Err(_) => return Some(Err($name)),
        }
    }};
}

impl Library {
    /// Loads a library; `None` when it is not there, and the name of the function that it lacks when it is too old.
    pub(super) fn load(path: &Path) -> Option<Result<Self, &'static str>> {
        // SAFETY: loading runs the library's initialisers. The user installed it as the vendor's compiler, or named it.
        let loaded = unsafe { libloading::Library::new(path) }.ok()?;
        Some(Ok(Self {
            version: function!(loaded, "nvrtcVersion", GetVersion),
            error_string: function!(loaded, "nvrtcGetErrorString", GetErrorString),
            create: function!(loaded, "nvrtcCreateProgram", CreateProgram),
            destroy: function!(loaded, "nvrtcDestroyProgram", DestroyProgram),
            compile: function!(loaded, "nvrtcCompileProgram", CompileProgram),
            cubin_size: function!(loaded, "nvrtcGetCUBINSize", GetSize),
            cubin: function!(loaded, "nvrtcGetCUBIN", GetBytes),
            ptx_size: function!(loaded, "nvrtcGetPTXSize", GetSize),
            ptx: function!(loaded, "nvrtcGetPTX", GetBytes),
            add_name: function!(loaded, "nvrtcAddNameExpression", AddName),
            lowered_name: function!(loaded, "nvrtcGetLoweredName", GetName),
            log_size: function!(loaded, "nvrtcGetProgramLogSize", GetSize),
            log: function!(loaded, "nvrtcGetProgramLog", GetBytes),
            builtins: None,
            _loaded: loaded,
        }))
    }

    /// Loads the library with the built-in functions, where it lies beside this one. NVRTC asks the system's loader for it
    /// by its name, which does not look in the folders of Python packages; but it gives what is loaded already.
    pub(super) fn load_builtins(&mut self, path: &Path, (major, minor): (u32, u32)) {
        let name = format!("libnvrtc-builtins.so.{major}.{minor}");
        // A bare name leads to no folder: then the loader knows this library, and the other one too.
        let beside = path.parent().map(|folder| folder.join(name));
        self.builtins = beside.filter(|path| path.is_absolute()).and_then(|path| {
            // SAFETY: as for the library itself, beside which it lies.
            unsafe { libloading::Library::new(path) }.ok()
        });
    }

    /// Success, or the library's word for what went wrong.
    fn check(&self, status: Status) -> Result<(), String> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: the function takes any number.
        let text = unsafe { (self.error_string)(status) };
        if text.is_null() {
            return Err(format!("error {status}"));
        }
        // SAFETY: the library returns a text that ends in zero and lives as long as it does.
        let text = unsafe { CStr::from_ptr(text) };
        Err(text.to_string_lossy().into_owned())
    }

    /// Major and minor version.
    pub(super) fn version(&self) -> Result<(u32, u32), String> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to integers that outlive the call.
        let status = unsafe { (self.version)(&raw mut major, &raw mut minor) };
        self.check(status)?;
        let number = |number: c_int| u32::try_from(number).unwrap_or(0);
        Ok((number(major), number(minor)))
    }
}

/// A program, which the library knows by its handle until it is dropped.
pub(super) struct Program<'l> {
    library: &'l Library,
    handle: Handle,
}

impl<'l> Program<'l> {
    pub(super) fn new(
        library: &'l Library,
        text: &CStr,
        name: &CStr,
        headers: &[(CString, CString)],
    ) -> Result<Self, String> {
        let names: Vec<*const c_char> = headers.iter().map(|(name, _)| name.as_ptr()).collect();
        let texts: Vec<*const c_char> = headers.iter().map(|(_, text)| text.as_ptr()).collect();
        let count = c_int::try_from(headers.len()).map_err(|_| "too many headers".to_owned())?;
        let mut handle = ptr::null_mut();
        // SAFETY: all texts end in zero and outlive the call, which copies them; both lists have `count` of them.
        let status = unsafe {
            (library.create)(
                &raw mut handle,
                text.as_ptr(),
                name.as_ptr(),
                count,
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        library.check(status)?;
        Ok(Self { library, handle })
    }

    /// Asks for the mangled name of a kernel; before the program is compiled.
    pub(super) fn add_name(&self, expression: &CStr) -> Result<(), String> {
        // SAFETY: the handle is of a program that `new` made; the text ends in zero and outlives the call.
        let status = unsafe { (self.library.add_name)(self.handle, expression.as_ptr()) };
        self.library.check(status)
    }

    /// The mangled name of a kernel that was asked for.
    pub(super) fn lowered_name(&self, expression: &CStr) -> Result<String, String> {
        let mut name = ptr::null();
        // SAFETY: as above; the pointer is to one that outlives the call.
        let status =
            unsafe { (self.library.lowered_name)(self.handle, expression.as_ptr(), &raw mut name) };
        self.library.check(status)?;
        if name.is_null() {
            return Err("no name".to_owned());
        }
        // SAFETY: the name ends in zero and lives as long as the program.
        let name = unsafe { CStr::from_ptr(name) };
        Ok(name.to_string_lossy().into_owned())
    }

    pub(super) fn compile(&self, options: &[CString]) -> Result<(), String> {
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).map_err(|_| "too many options".to_owned())?;
        // SAFETY: the handle is of a program that `new` made; the list has `count` texts that outlive the call.
        let status = unsafe { (self.library.compile)(self.handle, count, pointers.as_ptr()) };
        self.library.check(status)
    }

    /// The cubin, or for a virtual architecture the PTX; there is one only after the program was compiled.
    pub(super) fn image(&self) -> Result<Vec<u8>, String> {
        match self.bytes(self.library.cubin_size, self.library.cubin) {
            Ok(cubin) if !cubin.is_empty() => Ok(cubin),
            _ => self.bytes(self.library.ptx_size, self.library.ptx),
        }
    }

    /// What the compiler printed.
    pub(super) fn log(&self) -> Result<String, String> {
        let mut bytes = self.bytes(self.library.log_size, self.library.log)?;
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn bytes(&self, size: GetSize, get: GetBytes) -> Result<Vec<u8>, String> {
        let mut length = 0;
        // SAFETY: the handle is of a program that `new` made, and the pointer to a number that outlives the call.
        let status = unsafe { size(self.handle, &raw mut length) };
        self.library.check(status)?;
        if length > MAX_BYTES {
            return Err(format!("the library announces {length} bytes"));
        }
        let mut bytes = vec![0_u8; length];
        // SAFETY: the buffer has as many bytes as the library has just announced for the same program.
        let status = unsafe { get(self.handle, bytes.as_mut_ptr().cast()) };
        self.library.check(status)?;
        Ok(bytes)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is of a program that `new` made and that nobody else destroys.
        // It can only fail for a handle that is none, and nobody is left to tell.
        let _ = unsafe { (self.library.destroy)(&raw mut self.handle) };
    }
}
