// Additions to memory that several threads share. Each thread has a word of its own, or all have one.
typedef unsigned int u32;
typedef unsigned long long u64;

// All threads of all blocks add to one word. For integers the compiler adds up the lanes of a warp first.
__global__ void one_integer(u32* to, u32 rounds) {
    u32 own = threadIdx.x & 31;
#pragma unroll 1
    for (u32 r = 0; r < rounds; r += 4) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" :: "l"(to), "r"(own) : "memory");
    }
}

// For numbers with a point it must not: every lane is an addition of its own.
__global__ void one_float(float* to, u32 rounds) {
#pragma unroll 1
    for (u32 r = 0; r < rounds; r += 4) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" :: "l"(to), "f"(1.0f) : "memory");
    }
}

// Every thread has a word of its own, in a range that fits the L2.
__global__ void spread_integer(u32* to, u32 rounds) {
    u32* own = to + (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u32 value = (threadIdx.x & 31) + 1;
#pragma unroll 1
    for (u32 r = 0; r < rounds; r += 4) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" :: "l"(own), "r"(value) : "memory");
    }
}

// Shared memory of a block, a word for each thread.
__global__ void shared_integer(u32* to, u32 rounds) {
    __shared__ u32 words[1024];
    words[threadIdx.x] = 0;
    __syncthreads();
    u32 address = (u32)__cvta_generic_to_shared(words + threadIdx.x);
    u32 value = (threadIdx.x & 31) + 1;
#pragma unroll 1
    for (u32 r = 0; r < rounds; r += 4) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            asm volatile("red.shared.add.u32 [%0], %1;" :: "r"(address), "r"(value) : "memory");
    }
    __syncthreads();
    to[(u64)blockIdx.x * blockDim.x + threadIdx.x] = words[threadIdx.x];
}
