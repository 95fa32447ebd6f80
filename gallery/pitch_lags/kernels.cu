// Pitch detection: for each frame of a recording, the sum of squared differences between the frame and itself some samples later, for
// many lags.
//
// slow: all threads of a block take one lag at a time and add up by a tree in shared memory, with a barrier after each of its ten levels.
// fixed: each warp takes lags of its own and adds up with shuffles; one barrier a frame remains.

#define FRAME 1024

__device__ __forceinline__ void load_frame(float* frame, const float* __restrict__ sound, int hop, int lags) {
    const float* from = sound + (size_t)blockIdx.x * hop;
#pragma unroll 1
    for (int t = threadIdx.x; t < FRAME + lags; t += FRAME) frame[t] = from[t];
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(FRAME) pitch_lags_slow(const float* __restrict__ sound, float* __restrict__ out, int hop, int lags) {
    __shared__ float frame[2 * FRAME], part[FRAME];
    load_frame(frame, sound, hop, lags);
    int t = threadIdx.x;
    float own = frame[t];
    for (int lag = 0; lag < lags; lag++) {
        float d = own - frame[t + lag + 1];
        part[t] = d * d;
        __syncthreads();
        for (int half = FRAME / 2; half; half >>= 1) {
            if (t < half) part[t] += part[t + half];
            __syncthreads();
        }
        if (t == 0) out[blockIdx.x * lags + lag] = part[0];
    }
}

extern "C" __global__ void __launch_bounds__(FRAME) pitch_lags_fixed(const float* __restrict__ sound, float* __restrict__ out, int hop, int lags) {
    __shared__ float frame[2 * FRAME];
    load_frame(frame, sound, hop, lags);
    int lane = threadIdx.x % 32;
    for (int lag = threadIdx.x / 32; lag < lags; lag += FRAME / 32) {
        float sum = 0;
#pragma unroll 8
        for (int t = lane; t < FRAME; t += 32) {
            float d = frame[t] - frame[t + lag + 1];
            sum += d * d;
        }
#pragma unroll
        for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
        if (lane == 0) out[blockIdx.x * lags + lag] = sum;
    }
}
