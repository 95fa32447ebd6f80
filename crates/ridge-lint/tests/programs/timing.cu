#include <chrono>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#define CUDA_CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); exit(1); } } while (0)
using Clock = std::chrono::high_resolution_clock;

__global__ void axpy(float a, const float* __restrict__ x, float* __restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

// typical: chrono without sync, macro around everything else
double time_axpy_bad(float* x, float* y, int n) {
    axpy<<<(n + 255) / 256, 256>>>(2.0f, x, y, n);
    CUDA_CHECK(cudaDeviceSynchronize());
    auto t0 = Clock::now();
    for (int i = 0; i < 100; ++i) axpy<<<(n + 255) / 256, 256>>>(2.0f, x, y, n);
    CUDA_CHECK(cudaGetLastError());
    auto t1 = Clock::now(); // expect: timing-without-sync
    return std::chrono::duration<double, std::milli>(t1 - t0).count();
}
double time_axpy_good(float* x, float* y, int n) {
    axpy<<<(n + 255) / 256, 256>>>(2.0f, x, y, n);
    CUDA_CHECK(cudaDeviceSynchronize());
    auto t0 = Clock::now();
    for (int i = 0; i < 100; ++i) axpy<<<(n + 255) / 256, 256>>>(2.0f, x, y, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    auto t1 = Clock::now();
    return std::chrono::duration<double, std::milli>(t1 - t0).count();
}
// elapsed computed from now() directly
void inline_now(float* x, float* y, int n) {
    auto begin = std::chrono::steady_clock::now();
    axpy<<<n / 256, 256>>>(2.0f, x, y, n); // expect: one-shot-timing
    std::chrono::duration<float> d = std::chrono::steady_clock::now() - begin; // expect: timing-without-sync
    printf("%f\n", d.count());
}
// gettimeofday
void old(float* x, float* y, int n) {
    struct timeval a, b;
    axpy<<<n / 256, 256>>>(2.0f, x, y, n); // expect: unchecked-launch
    cudaDeviceSynchronize(); // expect: unchecked-call
    gettimeofday(&a, NULL);
    axpy<<<n / 256, 256>>>(2.0f, x, y, n);
    gettimeofday(&b, NULL); // expect: timing-without-sync
}
void old_good(float* x, float* y, int n) {
    struct timeval a, b;
    axpy<<<n / 256, 256>>>(2.0f, x, y, n); // expect: unchecked-launch
    cudaDeviceSynchronize(); // expect: unchecked-call
    gettimeofday(&a, NULL);
    axpy<<<n / 256, 256>>>(2.0f, x, y, n);
    cudaDeviceSynchronize();
    gettimeofday(&b, NULL);
}
// events with macro, no synchronisation before elapsed
float events_bad(float* x, float* y, int n) {
    cudaEvent_t start, stop; float ms = 0;
    CUDA_CHECK(cudaEventCreate(&start)); CUDA_CHECK(cudaEventCreate(&stop));
    axpy<<<n / 256, 256>>>(2.0f, x, y, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(start, 0));
    axpy<<<n / 256, 256>>>(2.0f, x, y, n);
    CUDA_CHECK(cudaEventRecord(stop, 0));
    CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop)); // expect: timing-without-sync
    return ms;
}
float events_good(float* x, float* y, int n) {
    cudaEvent_t start, stop; float ms = 0;
    CUDA_CHECK(cudaEventCreate(&start)); CUDA_CHECK(cudaEventCreate(&stop));
    axpy<<<n / 256, 256>>>(2.0f, x, y, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(start, 0));
    axpy<<<n / 256, 256>>>(2.0f, x, y, n);
    CUDA_CHECK(cudaEventRecord(stop, 0));
    CUDA_CHECK(cudaEventSynchronize(stop));
    CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
    return ms;
}
// sync in the loop, while and for
void loop_sync(float* x, float* y, int n, int reps) {
    axpy<<<n / 256, 256>>>(2.0f, x, y, n);
    CUDA_CHECK(cudaDeviceSynchronize());
    auto t0 = Clock::now();
    int k = 0;
    while (k < reps) {
        axpy<<<n / 256, 256>>>(2.0f, x, y, n);
        CUDA_CHECK(cudaDeviceSynchronize()); // expect: sync-in-timed-loop
        k++;
    }
    auto t1 = Clock::now();
    use(t1 - t0);
}
void loop_alloc(const std::vector<float>& h, float* y, int n, int reps, cudaEvent_t e0, cudaEvent_t e1) {
    float ms;
    cudaEventRecord(e0);
    for (int r = 0; r < reps; r++) {
        float* d;
        CUDA_CHECK(cudaMalloc((void**)&d, n * sizeof(float))); // expect: sync-in-timed-loop
        CUDA_CHECK(cudaMemcpy(d, h.data(), n * sizeof(float), cudaMemcpyHostToDevice)); // expect: sync-in-timed-loop
        axpy<<<n / 256, 256>>>(2.0f, d, y, n); // expect: no-warm-up
        CUDA_CHECK(cudaFree(d)); // expect: sync-in-timed-loop
    }
    cudaEventRecord(e1); cudaEventSynchronize(e1); // expect: unchecked-call
    cudaEventElapsedTime(&ms, e0, e1);
    printf("avg %f ms\n", ms / reps); // expect: mean-only
}
// per-iteration timing with sync inside the timed part, correct
void loop_good(float* x, float* y, int n, int reps) {
    std::vector<double> times;
    for (int k = 0; k < 10; k++) axpy<<<n / 256, 256>>>(2.0f, x, y, n);
    CUDA_CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < reps; k++) {
        auto t0 = Clock::now();
        axpy<<<n / 256, 256>>>(2.0f, x, y, n);
        CUDA_CHECK(cudaDeviceSynchronize());
        auto t1 = Clock::now();
        times.push_back(std::chrono::duration<double>(t1 - t0).count());
    }
    std::sort(times.begin(), times.end());
}
// mean with chrono
void mean_chrono(float* x, float* y, int n) {
    const int NREP = 50;
    axpy<<<n / 256, 256>>>(2.0f, x, y, n);
    cudaDeviceSynchronize(); // expect: unchecked-call
    auto t0 = Clock::now();
    for (int k = 0; k < NREP; k++) axpy<<<n / 256, 256>>>(2.0f, x, y, n);
    cudaDeviceSynchronize();
    auto t1 = Clock::now();
    double ms = std::chrono::duration<double, std::milli>(t1 - t0).count() / NREP; // expect: mean-only
    printf("%f\n", ms);
}
void mean_chrono2(float* x, float* y, int n, int iters) {
    axpy<<<n / 256, 256>>>(2.0f, x, y, n); // expect: unchecked-launch
    cudaDeviceSynchronize(); // expect: unchecked-call
    double t0 = omp_get_wtime();
    for (int k = 0; k < iters; k++) axpy<<<n / 256, 256>>>(2.0f, x, y, n);
    cudaDeviceSynchronize();
    double t = (omp_get_wtime() - t0) / iters; // expect: mean-only
    printf("%f\n", t);
}
void mean_events_expr(float* x, float* y, int n, int iters, cudaEvent_t a, cudaEvent_t b) {
    float ms;
    axpy<<<n / 256, 256>>>(2.0f, x, y, n); // expect: unchecked-launch
    cudaEventRecord(a);
    for (int k = 0; k < iters; k++) axpy<<<n / 256, 256>>>(2.0f, x, y, n);
    cudaEventRecord(b); cudaEventSynchronize(b); // expect: unchecked-call
    cudaEventElapsedTime(&ms, a, b);
    double gb = 3.0 * n * 4 / (ms / iters) / 1e6; // expect: mean-only
    float avg = ms / (float)iters;
}
void mean_compound(float* x, float* y, int n, cudaEvent_t a, cudaEvent_t b) {
    float ms;
    axpy<<<n / 256, 256>>>(2.0f, x, y, n); // expect: unchecked-launch
    cudaEventRecord(a);
    for (int k = 0; k < 100; k++) axpy<<<n / 256, 256>>>(2.0f, x, y, n);
    cudaEventRecord(b); cudaEventSynchronize(b); // expect: unchecked-call
    cudaEventElapsedTime(&ms, a, b);
    ms /= 100; // expect: mean-only
    printf("%f", ms);
}
// What is timed comes as a lambda.
template <class F> float bench(F f, int iters) {
    cudaEvent_t a, b; float ms;
    cudaEventCreate(&a); cudaEventCreate(&b); // expect: unchecked-call
    f();
    cudaEventRecord(a);
    for (int i = 0; i < iters; i++) f();
    cudaEventRecord(b); cudaEventSynchronize(b);
    cudaEventElapsedTime(&ms, a, b);
    return ms;
}
int main() {
    int n = 1 << 20; float *x, *y;
    CUDA_CHECK(cudaMalloc(&x, n * sizeof(float))); CUDA_CHECK(cudaMalloc(&y, n * sizeof(float)));
    float t = bench([&] { axpy<<<n / 256, 256>>>(2.0f, x, y, n); }, 10); 
    CUDA_CHECK(cudaGetLastError());
    return 0;
}

// Launched by a function of the runtime.
void by_function_bad(void** args, cudaStream_t stream) {
    CUDA_CHECK(cudaLaunchKernel((const void*)axpy, 64, 256, args, 0, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    auto t0 = Clock::now();
    CUDA_CHECK(cudaLaunchKernel((const void*)axpy, 64, 256, args, 0, stream));
    auto t1 = Clock::now(); // expect: timing-without-sync
    use(t1 - t0);
}
void by_function_good(void** args, cudaStream_t stream) {
    CUDA_CHECK(cudaLaunchKernel((const void*)axpy, 64, 256, args, 0, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    auto t0 = Clock::now();
    CUDA_CHECK(cudaLaunchKernel((const void*)axpy, 64, 256, args, 0, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    auto t1 = Clock::now();
    use(t1 - t0);
}
void by_function_once(void** args, cudaEvent_t start, cudaEvent_t stop) {
    float ms;
    cudaEventRecord(start);
    cudaLaunchCooperativeKernel((void*)axpy, 64, 256, args); // expect: one-shot-timing, unchecked-call
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&ms, start, stop);
}
