// Local action of a scalar field on a periodic lattice of four dimensions.
//
// slow: one linear index a thread; coordinates by division and remainder, and a remainder for each of the eight neighbours. The extents
//       are arguments, so each division is a sequence of twenty instructions.
// fixed: block and thread indices are the coordinates, and wrapping around is a comparison.

__device__ __forceinline__ float action(float phi, float neighbours, float mass, float lambda) {
    float square = phi * phi;
    return square * (mass + lambda * square) - phi * neighbours;
}

extern "C" __global__ void __launch_bounds__(384) lattice_action_slow(const float* __restrict__ phi, float* __restrict__ out, unsigned lx, unsigned ly, unsigned lz, unsigned lt,
                                                                      float mass, float lambda) {
    unsigned i = blockIdx.x * 384 + threadIdx.x;
    unsigned x = i % lx, y = i / lx % ly, z = i / (lx * ly) % lz, t = i / (lx * ly * lz);
    auto site = [&](unsigned x, unsigned y, unsigned z, unsigned t) { return phi[((t * lz + z) * ly + y) * lx + x]; };
    float s = site((x + 1) % lx, y, z, t) + site((x + lx - 1) % lx, y, z, t);
    s += site(x, (y + 1) % ly, z, t) + site(x, (y + ly - 1) % ly, z, t);
    s += site(x, y, (z + 1) % lz, t) + site(x, y, (z + lz - 1) % lz, t);
    s += site(x, y, z, (t + 1) % lt) + site(x, y, z, (t + lt - 1) % lt);
    out[i] = action(phi[i], s, mass, lambda);
}

__device__ __forceinline__ unsigned next(unsigned x, unsigned l) { return x + 1 == l ? 0 : x + 1; }
__device__ __forceinline__ unsigned previous(unsigned x, unsigned l) { return x == 0 ? l - 1 : x - 1; }

extern "C" __global__ void __launch_bounds__(384) lattice_action_fixed(const float* __restrict__ phi, float* __restrict__ out, unsigned lx, unsigned ly, unsigned lz, unsigned lt,
                                                                       float mass, float lambda) {
    unsigned x = threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y, z = blockIdx.y, t = blockIdx.z;
    auto site = [&](unsigned x, unsigned y, unsigned z, unsigned t) { return phi[((t * lz + z) * ly + y) * lx + x]; };
    float s = site(next(x, lx), y, z, t) + site(previous(x, lx), y, z, t);
    s += site(x, next(y, ly), z, t) + site(x, previous(y, ly), z, t);
    s += site(x, y, next(z, lz), t) + site(x, y, previous(z, lz), t);
    s += site(x, y, z, next(t, lt)) + site(x, y, z, previous(t, lt));
    out[((t * lz + z) * ly + y) * lx + x] = action(site(x, y, z, t), s, mass, lambda);
}
