// Errors of the FP32 functions of one build against FP64 on the GPU: every bit pattern for functions of one argument, 2^30
// pseudo-random pairs for those of two.
//
// usage: functions BUILD FOLDER SECONDS     writes FOLDER/BUILD.json and FOLDER/BUILD.bin (samples for the offline comparison)
//
// The FP64 functions of CUDA have documented errors of 1 to 2 ULP of FP64, 2^-28 of an ULP of FP32, and no flag of the compiler
// that is varied here touches them. Conversions between FP32 and FP64 are done on bits, since -ftz=true flushes in `cvt`.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CHECK(call)                                                                                    \
    do {                                                                                               \
        cudaError_t status_ = (call);                                                                  \
        if (status_ != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));           \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

// What an input and its result belong to. A row of figures for each.
enum Range { USUAL, NORMAL, SUBNORMAL_INPUT, SUBNORMAL_RESULT, RANGES };
static const char *const RANGE_NAMES[RANGES] = {"usual", "other-normal", "subnormal-input", "subnormal-result"};

struct Figures {
    unsigned long long count;       // evaluated
    unsigned long long compared;    // finite on both sides, and not lost
    unsigned long long misrounded;  // not the correctly rounded result
    unsigned long long lost;        // zero, where the correctly rounded result is not
    unsigned long long special;     // NaN or infinity on one side only, or infinities of two signs
    unsigned long long worst;       // bits of the error as FP32, above the index of the input
    unsigned long long worst_absolute;
    double sum;                     // of errors in ULP
    double signed_sum;              // of (result - exact) * sign of exact in ULP: positive is away from zero
};

__host__ __device__ inline uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// The value of FP32 bits, without any instruction that flushes.
__device__ inline double exact(uint32_t bits) {
    uint32_t exponent = (bits >> 23) & 255, mantissa = bits & 0x7fffff;
    uint64_t sign = (uint64_t)(bits >> 31) << 63;
    if (exponent == 0) return __longlong_as_double(__double_as_longlong((double)mantissa * 0x1p-149) | sign);
    if (exponent == 255) return __longlong_as_double(sign | 0x7ff0000000000000ull | (uint64_t)mantissa << 29);
    return __longlong_as_double(sign | (uint64_t)(exponent + 896) << 52 | (uint64_t)mantissa << 29);
}
// One over the spacing of FP32 at a value: a power of two, so that a product with it is exact.
__device__ inline double per_ulp(double value) {
    int exponent = (int)((__double_as_longlong(value) >> 52) & 2047) - 1023;
    exponent = min(max(exponent, -126), 127);
    return __longlong_as_double((uint64_t)(23 - exponent + 1023) << 52);
}
__device__ inline bool is_nan(double x) { return x != x; }
__device__ inline bool subnormal(uint32_t bits) { return (bits & 0x7f800000) == 0 && (bits & 0x7fffff) != 0; }

// A function: name, result, exact result, usual working range of its arguments.
#define UNARY(NAME, FAST, EXACT, LOW, HIGH)                                                             \
    struct NAME {                                                                                       \
        static constexpr int arity = 1;                                                                 \
        static constexpr double low = LOW, high = HIGH, low_b = 0, high_b = 0;                          \
        static constexpr bool powers = false;                                                           \
        static const char *name() { return #NAME; }                                                     \
        static __device__ float value(float x, float) { return FAST; }                                  \
        static __device__ double reference(double x, double) { return EXACT; }                          \
    };
#define BINARY(NAME, FAST, EXACT, POWERS, LOW, HIGH, LOW_B, HIGH_B)                                     \
    struct NAME {                                                                                       \
        static constexpr int arity = 2;                                                                 \
        static constexpr double low = LOW, high = HIGH, low_b = LOW_B, high_b = HIGH_B;                 \
        static constexpr bool powers = POWERS;                                                          \
        static const char *name() { return #NAME; }                                                     \
        static __device__ float value(float x, float y) { return FAST; }                                \
        static __device__ double reference(double x, double y) { return EXACT; }                        \
    };
#define ASSEMBLY(NAME, TEXT, EXACT, LOW, HIGH)                                                          \
    struct NAME {                                                                                       \
        static constexpr int arity = 1;                                                                 \
        static constexpr double low = LOW, high = HIGH, low_b = 0, high_b = 0;                          \
        static constexpr bool powers = false;                                                           \
        static const char *name() { return #NAME; }                                                     \
        static __device__ float value(float x, float) {                                                 \
            float result;                                                                               \
            asm(TEXT " %0, %1;" : "=f"(result) : "f"(x));                                               \
            return result;                                                                              \
        }                                                                                               \
        static __device__ double reference(double x, double) { return EXACT; }                          \
    };

constexpr double PI = 3.14159265358979323846;
UNARY(reciprocal, 1.0f / x, 1.0 / x, 0.001, 1000)
UNARY(sqrt_, sqrtf(x), sqrt(x), 0, 1000)
UNARY(rsqrt_, rsqrtf(x), 1.0 / sqrt(x), 0.001, 1000)
UNARY(cbrt_, cbrtf(x), cbrt(x), -1000, 1000)
UNARY(exp_, expf(x), exp(x), -10, 10)
UNARY(exp2_, exp2f(x), exp2(x), -10, 10)
UNARY(exp10_, exp10f(x), exp10(x), -10, 10)
UNARY(expm1_, expm1f(x), expm1(x), -10, 10)
UNARY(log_, logf(x), log(x), 0.001, 1000)
UNARY(log2_, log2f(x), log2(x), 0.001, 1000)
UNARY(log10_, log10f(x), log10(x), 0.001, 1000)
UNARY(log1p_, log1pf(x), log1p(x), -0.5, 1000)
UNARY(sin_, sinf(x), sin(x), -PI, PI)
UNARY(cos_, cosf(x), cos(x), -PI, PI)
UNARY(tan_, tanf(x), tan(x), -1.5, 1.5)
UNARY(asin_, asinf(x), asin(x), -1, 1)
UNARY(acos_, acosf(x), acos(x), -1, 1)
UNARY(atan_, atanf(x), atan(x), -10, 10)
UNARY(sinh_, sinhf(x), sinh(x), -10, 10)
UNARY(cosh_, coshf(x), cosh(x), -10, 10)
UNARY(tanh_, tanhf(x), tanh(x), -10, 10)
UNARY(erf_, erff(x), erf(x), -3, 3)
UNARY(erfc_, erfcf(x), erfc(x), -3, 3)
UNARY(sigmoid, 1.0f / (1.0f + expf(-x)), 1.0 / (1.0 + exp(-x)), -10, 10)
UNARY(silu, x / (1.0f + expf(-x)), x / (1.0 + exp(-x)), -10, 10)
UNARY(gelu, 0.5f * x * (1.0f + erff(x * 0.70710678f)), 0.5 * x * erfc(-x * 0.70710678118654752440), -3, 3)
BINARY(add, x + y, x + y, false, -10, 10, -10, 10)
BINARY(multiply, x * y, x * y, false, -10, 10, -10, 10)
BINARY(divide, x / y, x / y, false, -10, 10, -10, 10)
BINARY(pow_, powf(x, y), pow(x, y), true, 0.001, 100, -5, 5)
BINARY(atan2_, atan2f(x, y), atan2(x, y), false, -10, 10, -10, 10)
BINARY(hypot_, hypotf(x, y), hypot(x, y), false, -10, 10, -10, 10)

// Intrinsics and single instructions: the same in every build, so measured in the default one only.
UNARY(intrinsic_expf, __expf(x), exp(x), -10, 10)
UNARY(intrinsic_exp10f, __exp10f(x), exp10(x), -10, 10)
UNARY(intrinsic_logf, __logf(x), log(x), 0.001, 1000)
UNARY(intrinsic_log2f, __log2f(x), log2(x), 0.001, 1000)
UNARY(intrinsic_log10f, __log10f(x), log10(x), 0.001, 1000)
UNARY(intrinsic_sinf, __sinf(x), sin(x), -PI, PI)
UNARY(intrinsic_cosf, __cosf(x), cos(x), -PI, PI)
UNARY(intrinsic_tanf, __tanf(x), tan(x), -1.5, 1.5)
UNARY(intrinsic_frcp_rn, __frcp_rn(x), 1.0 / x, 0.001, 1000)
UNARY(intrinsic_fsqrt_rn, __fsqrt_rn(x), sqrt(x), 0, 1000)
UNARY(intrinsic_frsqrt_rn, __frsqrt_rn(x), 1.0 / sqrt(x), 0.001, 1000)
UNARY(intrinsic_sigmoid, __frcp_rn(1.0f + __expf(-x)), 1.0 / (1.0 + exp(-x)), -10, 10)
BINARY(intrinsic_powf, __powf(x, y), pow(x, y), true, 0.001, 100, -5, 5)
BINARY(intrinsic_fdividef, __fdividef(x, y), x / y, false, -10, 10, -10, 10)
ASSEMBLY(ptx_rcp_approx, "rcp.approx.f32", 1.0 / x, 0.001, 1000)
ASSEMBLY(ptx_sqrt_approx, "sqrt.approx.f32", sqrt(x), 0, 1000)
ASSEMBLY(ptx_rsqrt_approx, "rsqrt.approx.f32", 1.0 / sqrt(x), 0.001, 1000)
ASSEMBLY(ptx_ex2_approx, "ex2.approx.f32", exp2(x), -10, 10)
ASSEMBLY(ptx_lg2_approx, "lg2.approx.f32", log2(x), 0.001, 1000)
ASSEMBLY(ptx_sin_approx, "sin.approx.f32", sin(x), -PI, PI)
ASSEMBLY(ptx_cos_approx, "cos.approx.f32", cos(x), -PI, PI)
ASSEMBLY(ptx_tanh_approx, "tanh.approx.f32", tanh(x), -10, 10)

// The arguments of an index. Pairs are random bits for half of the indices, so that every exponent of both operands occurs
// equally often, and uniform over the usual range for a half; powers with a result in range are a quarter.
template <class F> __host__ __device__ inline void arguments(uint32_t index, uint32_t &a, uint32_t &b) {
    if (F::arity == 1) {
        a = index;
        b = 0;
        return;
    }
    uint64_t random = mix(index);
    a = (uint32_t)random;
    b = (uint32_t)(random >> 32);
    if (index & 1) {
        // Written as fused, since host and device have to get the same arguments.
        float x = (float)fma(F::high - F::low, a * 0x1p-32, F::low);
        float y = (float)fma(F::high_b - F::low_b, b * 0x1p-32, F::low_b);
        memcpy(&a, &x, 4);
        memcpy(&b, &y, 4);
    } else if (F::powers && index & 2) {
        // y is chosen so that the exponent of the result is spread evenly over the format.
        a &= 0x7fffffff;
        float y = (float)((b * 0x1p-32 - 0.5) * 256 / ((int)(a >> 23) - 126.5));
        memcpy(&b, &y, 4);
    }
}

constexpr int THREADS = 256, CHUNK = 1 << 16, PROFILE = 512;

__device__ inline void take(Figures &into, const Figures &from) {
    into.count += from.count;
    into.compared += from.compared;
    into.misrounded += from.misrounded;
    into.lost += from.lost;
    into.special += from.special;
    into.worst = max(into.worst, from.worst);
    into.worst_absolute = max(into.worst_absolute, from.worst_absolute);
    into.sum += from.sum;
    into.signed_sum += from.signed_sum;
}

// Every `stride`-th of `chunks` chunks of CHUNK indices; a block works on one at a time. Within a chunk of a function of one
// argument sign and exponent are constant, so that `profile`, the worst error for each of them, takes one atomic operation for
// each chunk.
template <class F> __global__ void measure(uint32_t chunks, uint32_t stride, Figures *figures, unsigned long long *profile) {
    Figures mine[RANGES] = {};
    for (uint32_t turn = blockIdx.x; turn < chunks / stride; turn += gridDim.x) {
        uint32_t chunk = turn * stride + mix(turn) % stride;
        unsigned long long worst_of_chunk = 0;
        for (int i = threadIdx.x; i < CHUNK; i += THREADS) {
            uint32_t index = chunk * CHUNK + i, a, b;
            arguments<F>(index, a, b);
            uint32_t bits = __float_as_uint(F::value(__uint_as_float(a), __uint_as_float(b)));
            double x = exact(a), y = exact(b);
            double correct = F::reference(x, y), result = exact(bits);
            double size = fabs(correct);
            bool usual = x >= F::low && x <= F::high && (F::arity == 1 || (y >= F::low_b && y <= F::high_b));
            Range range = subnormal(a) || subnormal(b) ? SUBNORMAL_INPUT
                          : size < 0x1p-126 && size > 0 ? SUBNORMAL_RESULT
                          : usual                       ? USUAL
                                                        : NORMAL;
            // A result whose size is at least the largest finite number and half a spacing is rounded to infinity.
            bool overflows = size >= 0x1.ffffffp127;
            bool result_infinite = (bits & 0x7fffffff) == 0x7f800000;
            bool special = is_nan(correct) != is_nan(result) || overflows != result_infinite ||
                           (overflows && (correct < 0) != (result < 0));
            bool lost = !special && size > 0x1p-150 && result == 0;
            bool compared = !special && !lost && !is_nan(correct) && !overflows;
            double difference = compared ? result - correct : 0, error = difference * per_ulp(correct);
            // Bounded, since JSON has no infinity.
            float ulps = (float)fmin(fabs(error), 1e38), absolute = (float)fmin(fabs(difference), 1e38);
            unsigned long long packed = (unsigned long long)__float_as_uint(ulps) << 32 | index;
            unsigned long long packed_absolute = (unsigned long long)__float_as_uint(absolute) << 32 | index;
            #pragma unroll
            for (int r = 0; r < RANGES; r++) {
                if (r != range) continue;
                mine[r].count += 1;
                mine[r].compared += compared;
                mine[r].special += special;
                mine[r].lost += lost;
                // Above one half by more than the error of the FP64 function.
                mine[r].misrounded += compared && fabs(error) > 0.5 + 1e-7;
                mine[r].sum += fabs(error);
                mine[r].signed_sum += correct < 0 ? -error : error;
                if (compared) {
                    mine[r].worst = max(mine[r].worst, packed);
                    mine[r].worst_absolute = max(mine[r].worst_absolute, packed_absolute);
                }
            }
            if (compared) {
                if (F::arity == 1)
                    worst_of_chunk = max(worst_of_chunk, packed);
                else if (*(volatile unsigned long long *)&profile[b >> 23] < packed)
                    atomicMax(&profile[b >> 23], packed);
            }
        }
        if (F::arity == 1) {
            __shared__ unsigned long long worst;
            if (threadIdx.x == 0) worst = 0;
            __syncthreads();
            atomicMax(&worst, worst_of_chunk);
            __syncthreads();
            if (threadIdx.x == 0) atomicMax(&profile[chunk * (uint64_t)CHUNK >> 23], worst);
            __syncthreads();
        }
    }
    // One block after the other adds its threads: blocks are few, and the order of the sums is the same in every run.
    __shared__ Figures all[THREADS];
    #pragma unroll
    for (int r = 0; r < RANGES; r++) {
        all[threadIdx.x] = mine[r];
        __syncthreads();
        for (int half = THREADS / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) take(all[threadIdx.x], all[threadIdx.x + half]);
            __syncthreads();
        }
        if (threadIdx.x == 0) figures[blockIdx.x * RANGES + r] = all[0];
        __syncthreads();
    }
}

struct Sample { uint32_t a, b, result; };
template <class F> __global__ void evaluate(const uint32_t *indices, int count, Sample *samples) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Sample &sample = samples[i];
    arguments<F>(indices[i], sample.a, sample.b);
    sample.result = __float_as_uint(F::value(__uint_as_float(sample.a), __uint_as_float(sample.b)));
}

static FILE *json, *samples_file;
static bool first = true;
static long written = 0;
static int blocks;
static double spent_ms = 0, budget_ms = 0;

static float size_of(unsigned long long packed) {
    uint32_t bits = packed >> 32;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

template <class F> static void run() {
    Figures *figures;
    unsigned long long *profile;
    CHECK(cudaMalloc(&figures, blocks * RANGES * sizeof(Figures)));
    CHECK(cudaMalloc(&profile, PROFILE * sizeof(unsigned long long)));
    CHECK(cudaMemset(profile, 0, PROFILE * sizeof(unsigned long long)));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    // Past the time for all of them, the rest is sampled.
    uint32_t stride = spent_ms < budget_ms ? 1 : 16;
    measure<F><<<blocks, THREADS>>>(F::arity == 1 ? 65536 : 16384, stride, figures, profile);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    spent_ms += ms;
    fprintf(stderr, "%s %.0f ms, every %u\n", F::name(), ms, stride);
    std::vector<Figures> parts(blocks * RANGES);
    std::vector<unsigned long long> worst(PROFILE);
    CHECK(cudaMemcpy(parts.data(), figures, parts.size() * sizeof(Figures), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(worst.data(), profile, PROFILE * sizeof(unsigned long long), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(figures));
    CHECK(cudaFree(profile));

    // Samples: the worst of each exponent and of each range, and random ones.
    std::vector<uint32_t> indices;
    for (auto packed : worst)
        if (packed) indices.push_back((uint32_t)packed);
    Figures sums[RANGES] = {};
    for (int r = 0; r < RANGES; r++) {
        for (int block = 0; block < blocks; block++) {
            const Figures &part = parts[block * RANGES + r];
            sums[r].count += part.count;
            sums[r].compared += part.compared;
            sums[r].misrounded += part.misrounded;
            sums[r].lost += part.lost;
            sums[r].special += part.special;
            sums[r].worst = sums[r].worst > part.worst ? sums[r].worst : part.worst;
            sums[r].worst_absolute = sums[r].worst_absolute > part.worst_absolute ? sums[r].worst_absolute : part.worst_absolute;
            sums[r].sum += part.sum;
            sums[r].signed_sum += part.signed_sum;
        }
        if (sums[r].compared) {
            indices.push_back((uint32_t)sums[r].worst);
            indices.push_back((uint32_t)sums[r].worst_absolute);
        }
    }
    for (uint64_t i = 0; indices.size() < 1200; i++) indices.push_back((uint32_t)mix(0x5eed + i) >> (F::arity == 1 ? 0 : 2));
    int count = (int)indices.size();
    uint32_t *device_indices;
    Sample *device_samples;
    CHECK(cudaMalloc(&device_indices, count * sizeof(uint32_t)));
    CHECK(cudaMalloc(&device_samples, count * sizeof(Sample)));
    CHECK(cudaMemcpy(device_indices, indices.data(), count * sizeof(uint32_t), cudaMemcpyHostToDevice));
    evaluate<F><<<(count + 127) / 128, 128>>>(device_indices, count, device_samples);
    CHECK(cudaGetLastError());
    std::vector<Sample> samples(count);
    CHECK(cudaMemcpy(samples.data(), device_samples, count * sizeof(Sample), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device_indices));
    CHECK(cudaFree(device_samples));
    if (fwrite(samples.data(), sizeof(Sample), count, samples_file) != (size_t)count) exit(1);

    fprintf(json, "%s\n  {\"function\": \"%s\", \"arity\": %d, \"usual\": [%.17g, %.17g, %.17g, %.17g], \"ms\": %.3f, "
            "\"every\": %u, \"samples\": {\"first\": %ld, \"count\": %d}, \"ranges\": {", first ? "" : ",", F::name(), F::arity, F::low, F::high,
            F::low_b, F::high_b, ms, stride, written, count);
    first = false;
    written += count;
    for (int r = 0; r < RANGES; r++) {
        uint32_t a, b, c, d;
        arguments<F>((uint32_t)sums[r].worst, a, b);
        arguments<F>((uint32_t)sums[r].worst_absolute, c, d);
        double n = sums[r].compared ? (double)sums[r].compared : 1;
        fprintf(json, "%s\n    \"%s\": {\"count\": %llu, \"compared\": %llu, \"misrounded\": %llu, \"lost\": %llu, \"special\": %llu, "
                "\"max_ulp\": %.9g, \"at\": [%u, %u], \"max_absolute\": %.9g, \"absolute_at\": [%u, %u], \"mean_ulp\": %.9g, "
                "\"mean_signed_ulp\": %.9g}", r ? "," : "", RANGE_NAMES[r], sums[r].count, sums[r].compared, sums[r].misrounded,
                sums[r].lost, sums[r].special, size_of(sums[r].worst), a, b, size_of(sums[r].worst_absolute), c, d,
                sums[r].sum / n, sums[r].signed_sum / n);
    }
    // The worst error by sign and exponent of the (last) argument; -1 where nothing was compared.
    fprintf(json, "},\n    \"max_ulp_by_exponent\": [");
    for (int i = 0; i < PROFILE; i++) fprintf(json, "%s%.4g", i ? "," : "", worst[i] ? size_of(worst[i]) : -1.0);
    fprintf(json, "]}");
}

template <class... F> static void run_all() { (run<F>(), ...); }

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: functions BUILD FOLDER SECONDS\n");
        return 2;
    }
    budget_ms = 1000 * atof(argv[3]);
    std::string base = std::string(argv[2]) + "/" + argv[1];
    json = fopen((base + ".json").c_str(), "w");
    samples_file = fopen((base + ".bin").c_str(), "wb");
    if (!json || !samples_file) {
        perror(base.c_str());
        return 1;
    }
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    blocks = device.multiProcessorCount * 4;
    fprintf(json, "{\"build\": \"%s\", \"gpu\": \"%s\", \"functions\": [", argv[1], device.name);
    run_all<reciprocal, sqrt_, rsqrt_, cbrt_, exp_, exp2_, exp10_, expm1_, log_, log2_, log10_, log1p_, sin_, cos_, tan_, asin_,
            acos_, atan_, sinh_, cosh_, tanh_, erf_, erfc_, sigmoid, silu, gelu, add, multiply, divide, pow_, atan2_, hypot_>();
#ifdef INTRINSICS
    run_all<intrinsic_expf, intrinsic_exp10f, intrinsic_logf, intrinsic_log2f, intrinsic_log10f, intrinsic_sinf, intrinsic_cosf,
            intrinsic_tanf, intrinsic_frcp_rn, intrinsic_fsqrt_rn, intrinsic_frsqrt_rn, intrinsic_sigmoid, intrinsic_powf,
            intrinsic_fdividef, ptx_rcp_approx, ptx_sqrt_approx, ptx_rsqrt_approx, ptx_ex2_approx, ptx_lg2_approx, ptx_sin_approx,
            ptx_cos_approx, ptx_tanh_approx>();
#endif
    fprintf(json, "\n]}\n");
    return fclose(json) || fclose(samples_file);
}
