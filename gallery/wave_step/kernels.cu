// One time step of the acoustic wave equation in 3D, eighth order in space: a star of 25 points. The volume carries its own border
// of four points on all sides.
//
// slow: one thread a point, 25 loads. The eight neighbours above and below come out of L2 again for each plane, the others out of L1;
//       every point is fetched 25 times through the load/store unit.
// fixed: a block marches along z. The nine values of a column stay in registers and move by one a step; the current plane with its
//        border is in shared memory. A point leaves L2 once (and once more for the borders).

__host__ __device__ constexpr float weight(int r) { return r == 0 ? -8.5416667f : r == 1 ? 1.6f : r == 2 ? -0.2f : r == 3 ? 0.025396826f : -0.0017857143f; }

constexpr int BX = 32, BY = 16, R = 4;

__device__ __forceinline__ float step(float laplace, float u, float old, float courant) { return 2.f * u - old + courant * laplace; }

extern "C" __global__ void __launch_bounds__(BX * BY) wave_step_slow(const float* __restrict__ u, const float* __restrict__ old, float* __restrict__ out,
                                                                     int size, int pitch, float courant) {
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y, z = blockIdx.z;
    int plane = pitch * pitch;
    const float* p = u + (size_t)(z + R) * plane + (y + R) * pitch + x + R;
    float s = weight(0) * p[0];
#pragma unroll
    for (int r = 1; r <= R; r++) s += weight(r) * (p[r] + p[-r] + p[r * pitch] + p[-r * pitch] + p[r * plane] + p[-r * plane]);
    size_t i = ((size_t)z * size + y) * size + x;
    out[i] = step(s, p[0], old[i], courant);
}

extern "C" __global__ void __launch_bounds__(BX * BY) wave_step_fixed(const float* __restrict__ u, const float* __restrict__ old, float* __restrict__ out,
                                                                      int size, int pitch, float courant, int depth) {
    __shared__ float tile[2][BY + 2 * R][BX + 2 * R];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * BX + tx, y = blockIdx.y * BY + ty, z0 = blockIdx.z * depth;
    int plane = pitch * pitch;
    const float* p = u + (size_t)z0 * plane + (y + R) * pitch + x + R;
    float column[2 * R + 1];
#pragma unroll
    for (int k = 0; k < 2 * R; k++) column[k + 1] = p[(size_t)k * plane];
    size_t i = ((size_t)z0 * size + y) * size + x;
    const float* q = p + R * plane;
    for (int z = 0; z < depth; z++, i += (size_t)size * size, q += plane) {
        float(*t)[BX + 2 * R] = tile[z & 1];
        float before = old[i];
#pragma unroll
        for (int k = 0; k < 2 * R; k++) column[k] = column[k + 1];
        column[2 * R] = q[R * plane];
        t[ty + R][tx + R] = column[R];
        if (ty < R) {
            t[ty][tx + R] = q[-R * pitch];
            t[ty + BY + R][tx + R] = q[BY * pitch];
        }
        if (tx < R) {
            t[ty + R][tx] = q[-R];
            t[ty + R][tx + BX + R] = q[BX];
        }
        __syncthreads();
        float s = weight(0) * column[R];
#pragma unroll
        for (int r = 1; r <= R; r++)
            s += weight(r) * (t[ty + R][tx + R + r] + t[ty + R][tx + R - r] + t[ty + R + r][tx + R] + t[ty + R - r][tx + R] + column[R + r] + column[R - r]);
        out[i] = step(s, column[R], before, courant);
    }
}
