// Mass flux over the speed of sound for every cell of a finite-volume mesh; a cell is a record of 18 floats (72 bytes).
//
// slow: an array of records. Five of the eighteen floats are needed, but neighbouring lanes read 72 bytes apart: each load
//       instruction touches 32 sectors, and the five fields are spread so that no sector of the record is left out.
// fixed: one array a field. The five arrays that are needed are read, 128 bytes an instruction.

struct Cell {
    float volume, density, pressure, temperature, tracer, vx, vy, vz, ax, ay, az, viscosity, conductivity, sound, alpha, beta, gamma, id;
};

__device__ __forceinline__ float mach_flux(float rho, float vx, float vy, float vz, float c) {
    float speed = sqrtf(vx * vx + vy * vy + vz * vz);
    return __fdividef(rho * speed, c);
}

extern "C" __global__ void __launch_bounds__(192) cell_mach_slow(const Cell* __restrict__ cells, float* __restrict__ out, int n) {
    int i = blockIdx.x * 192 + threadIdx.x;
    if (i >= n) return;
    const Cell& c = cells[i];
    out[i] = mach_flux(c.density, c.vx, c.vy, c.vz, c.sound);
}

extern "C" __global__ void __launch_bounds__(192) cell_mach_fixed(const float* __restrict__ density, const float* __restrict__ vx, const float* __restrict__ vy,
                                                                  const float* __restrict__ vz, const float* __restrict__ sound, float* __restrict__ out, int n) {
    int i = blockIdx.x * 192 + threadIdx.x;
    if (i >= n) return;
    out[i] = mach_flux(density[i], vx[i], vy[i], vz[i], sound[i]);
}
