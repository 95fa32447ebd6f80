// Smoothed particle hydrodynamics in the plane: density and its gradient at every particle, with the Wendland kernel. A block of 64
// threads has the 64 particles of a cell and goes through the particles of the nine cells around it.
//
// slow: the literals of the kernel function have no f. Float values are converted to double for each pair, and back for the sums.
// fixed: the same with float literals.

constexpr int cell = 64;

template <class Real> struct Number; // the literals as they stand in the source
template <> struct Number<double> {
    static constexpr double one = 1.0, half = 0.5, two = 2.0, five = -5.0, zero = 0.0, norm = 0.5570423;
};
template <> struct Number<float> {
    static constexpr float one = 1.0f, half = 0.5f, two = 2.0f, five = -5.0f, zero = 0.0f, norm = 0.5570423f;
};

struct Sums {
    float density, x, y;
};

template <class Real> __device__ __forceinline__ void pair(Sums& s, float dx, float dy, float mass, float inverse_h) {
    using N = Number<Real>;
    float d2 = dx * dx + dy * dy + 1e-6f;
    float root = rsqrtf(d2);
    float q = d2 * root * inverse_h;
    auto t = N::one - N::half * q;
    t = t > N::zero ? t : N::zero;
    auto cube = t * t * t;
    s.density += mass * N::norm * cube * t * (N::two * q + N::one);
    auto slope = mass * N::norm * (N::five * cube) * inverse_h * inverse_h;
    s.x += slope * dx;
    s.y += slope * dy;
}

template <class Real> __device__ __forceinline__ void sph(const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ mass, float* __restrict__ out, float inverse_h) {
    __shared__ float3 other[cell];
    int pitch = gridDim.x + 2; // a border of one cell
    int home = ((blockIdx.y + 1) * pitch + blockIdx.x + 1) * cell + threadIdx.x;
    float mx = x[home], my = y[home];
    Sums s = {};
    for (int c = 0; c < 9; c++) {
        int cx = c % 3 - 1, cy = c / 3 - 1;
        int i = home + (cy * pitch + cx) * cell;
        __syncthreads();
        other[threadIdx.x] = make_float3(x[i] + cx, y[i] + cy, mass[i]);
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < cell; j++) pair<Real>(s, other[j].x - mx, other[j].y - my, other[j].z, inverse_h);
    }
    size_t n = (size_t)gridDim.x * gridDim.y * cell, me = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * cell + threadIdx.x;
    out[me] = s.density;
    out[n + me] = s.x;
    out[2 * n + me] = s.y;
}

extern "C" __global__ void __launch_bounds__(cell) sph_cells_slow(const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ mass, float* __restrict__ out, float inverse_h) {
    sph<double>(x, y, mass, out, inverse_h);
}

extern "C" __global__ void __launch_bounds__(cell) sph_cells_fixed(const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ mass, float* __restrict__ out, float inverse_h) {
    sph<float>(x, y, mass, out, inverse_h);
}
