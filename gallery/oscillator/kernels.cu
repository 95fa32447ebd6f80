// Integrates independent damped oscillators over many time steps.
//
// slow: the constants are double literals. Each of them turns the statement into double precision: the operands are converted
//       up and the result down again, at every step.
// fixed: float literals. Everything stays on the single-precision pipes.

extern "C" __global__ void __launch_bounds__(256) oscillator_slow(float2* __restrict__ state, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = state[i].x, v = state[i].y;
    for (int k = 0; k < steps; k++) {
        v = v - 0.02 * (x + 0.1 * v);
        x = x + 0.02 * v;
    }
    state[i] = make_float2(x, v);
}

extern "C" __global__ void __launch_bounds__(256) oscillator_fixed(float2* __restrict__ state, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = state[i].x, v = state[i].y;
    for (int k = 0; k < steps; k++) {
        v = v - 0.02f * (x + 0.1f * v);
        x = x + 0.02f * v;
    }
    state[i] = make_float2(x, v);
}
