// Farthest point sampling: of the 2048 points of a cloud 128 are chosen, always the one farthest from all chosen so far. One
// block a cloud; each thread keeps eight points and their distances in registers.
//
// slow: every thread puts its farthest point into shared memory, and thread 0 goes through the 256 candidates. Everybody else waits
//       at the barrier for it.
// fixed: a warp finds its farthest point with a warp-wide maximum, and after one barrier every warp does the same with the eight
//        results: nobody works alone.

constexpr int threads = 256, each = 8, points = threads * each, samples = 128;

struct Mine {
    float x[each], y[each], z[each], d[each];

    __device__ __forceinline__ void load(const float* __restrict__ cloud, float (*place)[points]) {
#pragma unroll
        for (int k = 0; k < each; k++) {
            int i = k * threads + threadIdx.x;
            place[0][i] = x[k] = cloud[i];
            place[1][i] = y[k] = cloud[points + i];
            place[2][i] = z[k] = cloud[2 * points + i];
            d[k] = 1e30f;
        }
    }
    // The distances after point (px, py, pz) was chosen, the largest of them and its point.
    __device__ __forceinline__ void choose(float px, float py, float pz, float& best, int& index) {
        best = -1.f;
        index = 0;
#pragma unroll
        for (int k = 0; k < each; k++) {
            float dx = x[k] - px, dy = y[k] - py, dz = z[k] - pz;
            d[k] = fminf(d[k], dx * dx + dy * dy + dz * dz);
            if (d[k] > best) best = d[k], index = k * threads + threadIdx.x;
        }
    }
};

extern "C" __global__ void __launch_bounds__(threads) far_points_slow(const float* __restrict__ clouds, int* __restrict__ chosen) {
    __shared__ float place[3][points], candidate[threads];
    __shared__ int owner[threads], next;
    Mine mine;
    mine.load(clouds + (size_t)blockIdx.x * 3 * points, place);
    int last = 0;
    for (int s = 0; s < samples; s++) {
        __syncthreads();
        if (threadIdx.x == 0) chosen[blockIdx.x * samples + s] = last;
        float best;
        int index;
        mine.choose(place[0][last], place[1][last], place[2][last], best, index);
        candidate[threadIdx.x] = best;
        owner[threadIdx.x] = index;
        __syncthreads();
        if (threadIdx.x == 0) {
            best = candidate[0];
            int winner = 0;
            for (int t = 1; t < threads; t++)
                if (candidate[t] > best) best = candidate[t], winner = t;
            next = owner[winner];
        }
        __syncthreads();
        last = next;
    }
}

extern "C" __global__ void __launch_bounds__(threads) far_points_fixed(const float* __restrict__ clouds, int* __restrict__ chosen) {
    __shared__ float place[3][points];
    __shared__ unsigned candidate[2][threads / 32];
    __shared__ int owner[2][threads / 32];
    Mine mine;
    mine.load(clouds + (size_t)blockIdx.x * 3 * points, place);
    int last = 0, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    __syncthreads();
    for (int s = 0; s < samples; s++) {
        if (threadIdx.x == 0) chosen[blockIdx.x * samples + s] = last;
        float best;
        int index, half = s & 1; // two sets of results, so that one barrier is enough
        mine.choose(place[0][last], place[1][last], place[2][last], best, index);
        unsigned value = __float_as_uint(best), top = __reduce_max_sync(~0u, value);
        if (lane == __ffs(__ballot_sync(~0u, value == top)) - 1) candidate[half][warp] = top, owner[half][warp] = index;
        __syncthreads();
        value = candidate[half][lane % (threads / 32)];
        top = __reduce_max_sync(~0u, value);
        last = owner[half][__ffs(__ballot_sync(~0u, value == top)) - 1];
    }
}
