// Kernels that look right and fast without doing their work, each in a documented way, for scripts/gpu-bench.sh. The work is
// out[i] = 2 * in[i] + 1, and each has to be found out.

__device__ unsigned long long calls;
__device__ unsigned long long last_end;
__device__ float first_answer[1 << 20];

__device__ static float work(float x) { return 2.0f * x + 1.0f; }
__device__ static unsigned long long now() {
    unsigned long long time;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
}

extern "C" __global__ void honest(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = work(in[i]);
}

// Writes nothing after its first calls.
extern "C" __global__ void counting(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long before = *(volatile unsigned long long*)&calls;
    if (i == 0) atomicAdd(&calls, 1);
    if (before < 50 && i < n) out[i] = work(in[i]);
}

// Writes nothing where its output looks as if it was written.
extern "C" __global__ void stale(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool is_poison = __float_as_uint(out[i < n ? i & ~255 : 0]) == 0xffffffffu;
    // All threads of a block look at its first element before any of them writes it.
    __syncthreads();
    if (is_poison && i < n) out[i] = work(in[i]);
}

// Keeps its first answer, and gives it again.
extern "C" __global__ void cached(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (first_answer[i] == 0.0f) first_answer[i] = work(in[i]);
    out[i] = first_answer[i];
}

// Looks for an answer in the memory before and behind its output, which it does not compute itself.
extern "C" __global__ void peeks(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float first = work(in[0]), last = work(in[n - 1]);
    // Within the 2 MiB that the driver maps at once.
    const char* page = (const char*)((unsigned long long)out & ~0x1fffffull);
    for (const char* at = page; at + 4ll * n <= page + 0x200000; at += 512) {
        const float* found = (const float*)at;
        if (found != out && found[0] == first && found[n - 1] == last) {
            out[i] = found[i];
            return;
        }
    }
    out[i] = 0.0f;
}

// Leaves the last block out.
extern "C" __global__ void tail(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 256) out[i] = work(in[i]);
}

// Does nothing when launched rapidly. The last block to come tells the time at which the launch ended.
extern "C" __global__ void rapid(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long before = *(volatile unsigned long long*)&last_end;
    if (now() - before > 4000 && i < n) out[i] = work(in[i]);
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *(volatile unsigned long long*)&last_end = now();
}

// Changes its input to what makes no difference to this launch, but to the next one.
extern "C" __global__ void spoils(float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = work(in[i]);
    if (i == n - 1) in[i] = 0.0f;
}

// Computes with the 8 bits of a mantissa that bfloat16 has.
extern "C" __global__ void narrow(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = work(__uint_as_float(__float_as_uint(in[i]) & 0xffff0000u));
}

// Knows the first elements of the tested seed, and does not compute at all where it sees them.
__device__ float known[1 << 20];
__device__ unsigned is_known;
extern "C" __global__ void constant(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    // Filled at its first call, in place of a table that is made beforehand.
    bool has_table = *(volatile unsigned*)&is_known != 0;
    if (!has_table) known[i] = work(in[i]);
    out[i] = known[i];
    if (i == n - 1 && !has_table) *(volatile unsigned*)&is_known = 1;
}
