// Monte Carlo photons: each thread follows one photon and writes 256 events to its own log, event e of photon i at events[e * photons + i].
// A monitor may read the log while it grows; head[i] says how many events of photon i are complete.
//
// slow: head is published after every event, behind a device-wide fence. The fence waits until the event is visible to all SMs and
//       throws the L1 cache away, 256 times a thread.
// fixed: head is published after every 64th event. The order that the monitor relies on is the same, with four fences a thread.

__device__ __forceinline__ unsigned scramble(unsigned x) {
    x ^= x >> 17;
    x *= 0xed5ad4bbu;
    x ^= x >> 11;
    x *= 0xac4c1b51u;
    return x ^ x >> 15;
}

struct Photon {
    unsigned seed;
    float energy;
    __device__ __forceinline__ unsigned scatter(const float* __restrict__ loss) {
        seed = scramble(seed + 0x9e3779b9u);
        energy *= loss[seed >> 24];
        if (energy < 0.01f) energy += 1.f;
        return (seed & 0xffffu) << 16 | (unsigned)(energy * 32768.f);
    }
};

template <int EVERY>
__device__ __forceinline__ void follow(const float* __restrict__ loss, volatile unsigned* events, volatile unsigned* head, unsigned photons, int length) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= photons) return;
    Photon p = {i * 7u, 1.f};
    volatile unsigned* out = events + i;
#pragma unroll 4
    for (int e = 1; e <= length; e++) {
        *out = p.scatter(loss);
        out += photons;
        if (e % EVERY == 0) {
            __threadfence();
            head[i] = e;
        }
    }
}

extern "C" __global__ void __launch_bounds__(128) photon_log_slow(const float* __restrict__ loss, unsigned* events, unsigned* head, unsigned photons, int length) {
    follow<1>(loss, events, head, photons, length);
}

extern "C" __global__ void __launch_bounds__(128) photon_log_fixed(const float* __restrict__ loss, unsigned* events, unsigned* head, unsigned photons, int length) {
    follow<64>(loss, events, head, photons, length);
}
