// Shading of ray hits: every hit names a vertex, eight attributes of which are needed.
//
// slow: attributes in eight arrays. The vertices of neighbouring hits have nothing to do with each other, so each attribute of each hit costs
//       a sector of 32 bytes for four.
// fixed: the eight attributes of a vertex side by side: one sector, all of it used.

struct Vertex { float nx, ny, nz, red, green, blue, rough, glow; };

__device__ __forceinline__ float shade(const Vertex& v, float lx, float ly, float lz) {
    float d = fmaxf(v.nx * lx + v.ny * ly + v.nz * lz, 0.f);
    float base = 0.2126f * v.red + 0.7152f * v.green + 0.0722f * v.blue;
    float s = d * d;
    s = s * s;
    return base * d + (1.f - v.rough) * s + v.glow;
}

extern "C" __global__ void __launch_bounds__(192) vertex_fetch_slow(const int* __restrict__ hit, const float* __restrict__ nx, const float* __restrict__ ny,
                                                                    const float* __restrict__ nz, const float* __restrict__ red, const float* __restrict__ green,
                                                                    const float* __restrict__ blue, const float* __restrict__ rough,
                                                                    const float* __restrict__ glow, float* __restrict__ out, int hits, float lx, float ly, float lz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= hits) return;
    int v = hit[i];
    Vertex a = {nx[v], ny[v], nz[v], red[v], green[v], blue[v], rough[v], glow[v]};
    out[i] = shade(a, lx, ly, lz);
}

extern "C" __global__ void __launch_bounds__(192) vertex_fetch_fixed(const int* __restrict__ hit, const float4* __restrict__ vertices, float* __restrict__ out, int hits,
                                                                     float lx, float ly, float lz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= hits) return;
    int v = hit[i];
    float4 p = vertices[2 * v], q = vertices[2 * v + 1];
    Vertex a = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
    out[i] = shade(a, lx, ly, lz);
}
