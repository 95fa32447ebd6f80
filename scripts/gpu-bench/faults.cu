// Kernels that go wrong, each in its own way, for scripts/gpu-bench.sh.

extern "C" __global__ void fine(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}
extern "C" __global__ void out_of_bounds(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // 64 GiB behind the buffer, where nothing is mapped.
    out[i + (1ull << 34)] = in[i];
}
extern "C" __global__ void hang(const float* in, float* out, int n) {
    volatile float* flag = out;
    while (flag[0] != 12345.0f) { }
}
extern "C" __global__ void trap(const float* in, float* out, int n) { asm volatile("trap;"); }
extern "C" __global__ void wrong(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i % 1000 == 999 ? in[i] + 1.0f : in[i];
}
extern "C" __global__ void nothing(const float* in, float* out, int n) { }
