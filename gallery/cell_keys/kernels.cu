// Cell key and energy of charged particles, the first step of binning them.
//
// slow: an array of structures of 96 bytes with everything that any kernel ever needs; this one needs 36 bytes, spread over all three sectors
//       of the structure.
// fixed: an array for each member: a warp reads whole lines of what it needs and nothing else.

struct Particle {
    float3 position;
    int kind;
    float4 colour;
    float3 velocity;
    int parent;
    float4 orientation;
    float3 spin;
    float mass;
    float charge;
    int flags;
    float2 history;
};

__device__ __forceinline__ int key(float3 p, float cells) {
    int x = (int)(p.x * cells), y = (int)(p.y * cells), z = (int)(p.z * cells);
    return (z * 1024 + y) * 1024 + x;
}

__device__ __forceinline__ float energy(float3 p, float3 v, float mass, float charge, int kind, float field) {
    float kinetic = 0.5f * mass * (v.x * v.x + v.y * v.y + v.z * v.z);
    return kinetic + charge * field * p.z * ((kind & 64) ? 0.5f : 1.f);
}

extern "C" __global__ void __launch_bounds__(320) cell_keys_slow(const Particle* __restrict__ particles, int* __restrict__ keys, float* __restrict__ energies, int n,
                                                                 float cells, float field) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Particle& q = particles[i];
    keys[i] = key(q.position, cells);
    energies[i] = energy(q.position, q.velocity, q.mass, q.charge, q.kind, field);
}

extern "C" __global__ void __launch_bounds__(320) cell_keys_fixed(const float* __restrict__ px, const float* __restrict__ py, const float* __restrict__ pz,
                                                                  const float* __restrict__ vx, const float* __restrict__ vy, const float* __restrict__ vz,
                                                                  const float* __restrict__ mass, const float* __restrict__ charge, const int* __restrict__ kind,
                                                                  int* __restrict__ keys, float* __restrict__ energies, int n, float cells, float field) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 p = make_float3(px[i], py[i], pz[i]), v = make_float3(vx[i], vy[i], vz[i]);
    keys[i] = key(p, cells);
    energies[i] = energy(p, v, mass[i], charge[i], kind[i], field);
}
