// What orders, splits, contraction and atomic operations do to FP32 sums, against FP64 on the GPU.
//
// usage: sums BUILD FOLDER     writes FOLDER/sums-BUILD.json
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
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

__host__ __device__ inline uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}
__device__ inline float uniform(uint32_t bits) { return bits * 0x1p-32f; }
// Nearly normal: the sum of the four bytes of three words is enough for sums of thousands of them.
__device__ inline float normal(uint64_t random) {
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += (int)(random >> (8 * i) & 255);
    // Eight uniform bytes: mean 1020, variance 8 * (256^2 - 1) / 12. The low bits make the mantissa full.
    return (float)((sum - 1020 + ((random >> 8 & 0xffffff) * 0x1p-24 - 0.5)) * (1 / 209.02));
}
enum Inputs { NORMAL, UNIFORM, INPUTS };
static const char *const INPUT_NAMES[INPUTS] = {"normal", "uniform-0-1"};
__device__ inline void operands(Inputs inputs, uint64_t index, float &a, float &b) {
    uint64_t x = mix(2 * index), y = mix(2 * index + 1);
    a = inputs == NORMAL ? normal(x) : uniform((uint32_t)x);
    b = inputs == NORMAL ? normal(y) : uniform((uint32_t)y);
}

// --- contraction of a * b + c -------------------------------------------------------------------------------------------------

enum { INDEPENDENT, CANCELLING, DIFFERENCE_OF_SQUARES, MULTIPLY_ADDS };
static const char *const MULTIPLY_ADD_NAMES[MULTIPLY_ADDS] = {"independent", "c-near-minus-ab", "a*a-b*b"};
struct MultiplyAdd { double worst_ulp, sum_ulp; unsigned long long count, lost, inexact; };
__global__ void multiply_add(int kind, MultiplyAdd *results) {
    double worst = 0, sum = 0;
    unsigned long long lost = 0, inexact = 0, count = 0;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < 1u << 26; i += gridDim.x * blockDim.x) {
        float a, b, c, unused;
        operands(NORMAL, i, a, b);
        operands(NORMAL, i + (1ull << 40), c, unused);
        double correct;
        float result;
        if (kind == DIFFERENCE_OF_SQUARES) {
            b = a + a * uniform((uint32_t)mix(i)) * 0x1p-12f;
            correct = (double)a * a - (double)b * b;
            result = a * a - b * b;
        } else {
            if (kind == CANCELLING) c = -__fmul_rn(a, b);
            correct = (double)a * b + c;
            result = a * b + c;
        }
        count++;
        if (result == 0 && correct != 0) { lost++; continue; }
        if (correct == 0) { if (result != 0) inexact++; continue; }
        int exponent;
        frexp(correct, &exponent);
        double ulps = fabs(result - correct) / ldexp(1.0, max(exponent - 24, -149));
        worst = fmax(worst, ulps);
        sum += ulps;
        inexact += ulps > 0.5 + 1e-7;
    }
    results[blockIdx.x * blockDim.x + threadIdx.x] = {worst, sum, count, lost, inexact};
}

// --- orders of a dot product --------------------------------------------------------------------------------------------------

enum Method { SERIAL, SPLIT_4, SPLIT_32, SPLIT_256, PAIRWISE, KAHAN, SPLIT_4_HALF, SPLIT_32_HALF, METHODS };
static const char *const METHOD_NAMES[METHODS] = {"serial", "split-4", "split-32", "split-256", "pairwise", "kahan",
                                                  "split-4-fp16-partials", "split-32-fp16-partials"};
struct Dot { double correct, size; float results[METHODS]; };
// One row for each thread. Rows are independent of the number of threads, so is the result.
__global__ void dots(Inputs inputs, int length, int rows, Dot *out) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double correct = 0, size = 0;
    float serial = 0, kahan = 0, lost = 0;
    float part[3] = {}, total[3] = {};
    __half half_total[2] = {__float2half(0.0f), __float2half(0.0f)};
    const int splits[3] = {4, 32, 256};
    float stack[20];
    int depth = 0;
    for (int k = 0; k < length; k++) {
        float a, b;
        operands(inputs, (uint64_t)row << 20 | k, a, b);
        correct += (double)a * b;
        size += fabs((double)a * b);
        serial += a * b;
        float term = a * b - lost, next = kahan + term;
        lost = (next - kahan) - term;
        kahan = next;
        float pair = a * b;
        for (int bits = k; bits & 1; bits >>= 1) pair = stack[--depth] + pair;
        stack[depth++] = pair;
        #pragma unroll
        for (int s = 0; s < 3; s++) {
            part[s] += a * b;
            if ((k + 1) % (length / splits[s]) == 0) {
                total[s] += part[s];
                if (s < 2) half_total[s] = __hadd(half_total[s], __float2half_rn(part[s]));
                part[s] = 0;
            }
        }
    }
    float pairwise = 0;
    while (depth) pairwise += stack[--depth];
    out[row] = {correct, size, {serial, total[0], total[1], total[2], pairwise, kahan, __half2float(half_total[0]),
                                __half2float(half_total[1])}};
}

// --- atomic operations --------------------------------------------------------------------------------------------------------

__global__ void fill(float *values, uint32_t count) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) values[i] = normal(mix(i));
}
// Value i goes to bin i % bins.
__global__ void add_each(const float *values, uint32_t count, uint32_t bins, bool backwards, float *sums) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        uint32_t from = backwards ? count - 1 - i : i;
        atomicAdd(&sums[from % bins], values[from]);
    }
}
__global__ void add_block(const float *values, uint32_t count, float *sum) {
    __shared__ float shared[256];
    float mine = 0;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) mine += values[i];
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(sum, shared[0]);
}
__global__ void block_sums(const float *values, uint32_t count, float *sums) {
    __shared__ float shared[256];
    float mine = 0;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) mine += values[i];
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = shared[0];
}
__global__ void subnormal_atomics(float tiny, float *global, float *out) {
    __shared__ float shared;
    shared = 0;
    atomicAdd(&shared, tiny);
    atomicAdd(&shared, tiny);
    atomicAdd(&global[0], tiny);
    atomicAdd(&global[0], tiny);
    __threadfence();
    out[0] = *(volatile float *)&global[0];
    out[1] = *(volatile float *)&shared;
}

static double ulp_of(double value) {
    int exponent;
    frexp(value, &exponent);
    return ldexp(1.0, std::max(exponent - 24, -149));
}
// Values of several runs of one computation: how far apart, over its bins.
static void repeats(FILE *json, const char *name, const std::vector<std::vector<float>> &runs, const std::vector<double> &correct,
                    const std::vector<double> &size, const char *separator) {
    size_t bins = correct.size(), varying = 0;
    double worst_spread = 0, sum_spread = 0, worst_error = 0, worst_scaled = 0, spread_scaled = 0;
    std::set<std::vector<uint32_t>> distinct;
    for (auto &run : runs) {
        std::vector<uint32_t> bits(bins);
        memcpy(bits.data(), run.data(), bins * 4);
        distinct.insert(bits);
    }
    for (size_t bin = 0; bin < bins; bin++) {
        double low = INFINITY, high = -INFINITY;
        for (auto &run : runs) {
            low = std::min(low, (double)run[bin]);
            high = std::max(high, (double)run[bin]);
            double error = fabs(run[bin] - correct[bin]);
            worst_error = std::max(worst_error, error / ulp_of(correct[bin]));
            worst_scaled = std::max(worst_scaled, error / (0x1p-24 * size[bin]));
        }
        varying += low != high;
        worst_spread = std::max(worst_spread, (high - low) / ulp_of(correct[bin]));
        spread_scaled = std::max(spread_scaled, (high - low) / (0x1p-24 * size[bin]));
        sum_spread += (high - low) / ulp_of(correct[bin]);
    }
    fprintf(json, "%s\n    \"%s\": {\"runs\": %zu, \"elements\": %zu, \"distinct\": %zu, \"varying\": %zu, \"max_spread_ulp\": %.6g, "
            "\"mean_spread_ulp\": %.6g, \"max_spread_per_u_s\": %.6g, \"max_error_ulp\": %.6g, \"max_error_per_u_s\": %.6g}", separator,
            name, runs.size(), bins, distinct.size(), varying, worst_spread, sum_spread / bins, spread_scaled, worst_error, worst_scaled);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: sums BUILD FOLDER\n");
        return 2;
    }
    std::string path = std::string(argv[2]) + "/sums-" + argv[1] + ".json";
    FILE *json = fopen(path.c_str(), "w");
    if (!json) {
        perror(path.c_str());
        return 1;
    }
    fprintf(json, "{\"build\": \"%s\",\n  \"multiply_add\": {", argv[1]);
    {
        const int blocks = 256, threads = 256;
        MultiplyAdd *device;
        CHECK(cudaMalloc(&device, blocks * threads * sizeof(MultiplyAdd)));
        std::vector<MultiplyAdd> parts(blocks * threads);
        for (int kind = 0; kind < MULTIPLY_ADDS; kind++) {
            multiply_add<<<blocks, threads>>>(kind, device);
            CHECK(cudaGetLastError());
            CHECK(cudaMemcpy(parts.data(), device, parts.size() * sizeof(MultiplyAdd), cudaMemcpyDeviceToHost));
            MultiplyAdd all = {};
            for (auto &part : parts) {
                all.worst_ulp = std::max(all.worst_ulp, part.worst_ulp);
                all.sum_ulp += part.sum_ulp;
                all.count += part.count;
                all.lost += part.lost;
                all.inexact += part.inexact;
            }
            fprintf(json, "%s\n    \"%s\": {\"count\": %llu, \"misrounded\": %llu, \"lost\": %llu, \"max_ulp\": %.6g, \"mean_ulp\": %.6g}",
                    kind ? "," : "", MULTIPLY_ADD_NAMES[kind], all.count, all.inexact, all.lost, all.worst_ulp, all.sum_ulp / all.count);
        }
        CHECK(cudaFree(device));
    }
    fprintf(json, "},\n  \"dot\": [");
    {
        const int rows = 1 << 14;
        Dot *device;
        CHECK(cudaMalloc(&device, rows * sizeof(Dot)));
        std::vector<Dot> out(rows);
        bool first = true;
        for (int inputs = 0; inputs < INPUTS; inputs++)
            for (int length : {256, 1024, 4096, 16384, 65536}) {
                dots<<<rows / 64, 64>>>((Inputs)inputs, length, rows, device);
                CHECK(cudaGetLastError());
                CHECK(cudaMemcpy(out.data(), device, rows * sizeof(Dot), cudaMemcpyDeviceToHost));
                fprintf(json, "%s\n    {\"inputs\": \"%s\", \"length\": %d, \"rows\": %d, \"methods\": {", first ? "" : ",",
                        INPUT_NAMES[inputs], length, rows);
                first = false;
                for (int method = 0; method < METHODS; method++) {
                    double worst = 0, squares = 0, worst_ulp = 0, biased = 0;
                    std::vector<double> relative;
                    for (auto &dot : out) {
                        double error = dot.results[method] - dot.correct, scaled = error / (0x1p-24 * dot.size);
                        worst = std::max(worst, fabs(scaled));
                        squares += scaled * scaled;
                        biased += dot.correct < 0 ? -scaled : scaled;
                        worst_ulp = std::max(worst_ulp, fabs(error) / ulp_of(dot.correct));
                        relative.push_back(fabs(error) / ulp_of(dot.correct));
                    }
                    std::nth_element(relative.begin(), relative.begin() + rows / 2, relative.end());
                    fprintf(json, "%s\n      \"%s\": {\"max_per_u_s\": %.6g, \"rms_per_u_s\": %.6g, \"mean_signed_per_u_s\": %.6g, "
                            "\"max_ulp\": %.6g, \"median_ulp\": %.6g}", method ? "," : "", METHOD_NAMES[method], worst,
                            sqrt(squares / rows), biased / rows, worst_ulp, relative[rows / 2]);
                }
                fprintf(json, "}}");
            }
        CHECK(cudaFree(device));
    }
    fprintf(json, "],\n  \"atomic\": {");
    {
        const uint32_t count = 1 << 22;
        const int times = 16, blocks = 528;
        float *values, *sums;
        CHECK(cudaMalloc(&values, count * sizeof(float)));
        CHECK(cudaMalloc(&sums, 4096 * sizeof(float)));
        fill<<<528, 256>>>(values, count);
        CHECK(cudaGetLastError());
        std::vector<float> host(count);
        CHECK(cudaMemcpy(host.data(), values, count * sizeof(float), cudaMemcpyDeviceToHost));
        for (uint32_t bins : {1u, 4096u}) {
            std::vector<double> correct(bins, 0), size(bins, 0);
            for (uint32_t i = 0; i < count; i++) {
                correct[i % bins] += host[i];
                size[i % bins] += fabs(host[i]);
            }
            for (bool backwards : {false, true}) {
                std::vector<std::vector<float>> runs;
                for (int run = 0; run < times; run++) {
                    CHECK(cudaMemset(sums, 0, bins * sizeof(float)));
                    add_each<<<blocks, 256>>>(values, count, bins, backwards, sums);
                    CHECK(cudaGetLastError());
                    runs.emplace_back(bins);
                    CHECK(cudaMemcpy(runs.back().data(), sums, bins * sizeof(float), cudaMemcpyDeviceToHost));
                }
                std::string name = std::to_string(count / bins) + "-to-one" + (backwards ? "-backwards" : "");
                repeats(json, name.c_str(), runs, correct, size, bins == 1 && !backwards ? "" : ",");
            }
            if (bins > 1) continue;
            std::vector<std::vector<float>> with_atomics, two_passes;
            for (int run = 0; run < times; run++) {
                CHECK(cudaMemset(sums, 0, sizeof(float)));
                add_block<<<blocks, 256>>>(values, count, sums);
                CHECK(cudaGetLastError());
                with_atomics.emplace_back(1);
                CHECK(cudaMemcpy(with_atomics.back().data(), sums, sizeof(float), cudaMemcpyDeviceToHost));
                block_sums<<<blocks, 256>>>(values, count, sums + 1);
                CHECK(cudaGetLastError());
                block_sums<<<1, 256>>>(sums + 1, blocks, sums);
                CHECK(cudaGetLastError());
                two_passes.emplace_back(1);
                CHECK(cudaMemcpy(two_passes.back().data(), sums, sizeof(float), cudaMemcpyDeviceToHost));
            }
            repeats(json, "tree-in-block-then-atomic", with_atomics, correct, size, ",");
            repeats(json, "two-passes-without-atomics", two_passes, correct, size, ",");
        }
        float tiny = 0x1p-140f, results[2];
        CHECK(cudaMemset(sums, 0, sizeof(float)));
        subnormal_atomics<<<1, 1>>>(tiny, sums, sums + 1);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(results, sums + 1, sizeof results, cudaMemcpyDeviceToHost));
        fprintf(json, "},\n  \"subnormal_atomic_add\": {\"global\": \"%s\", \"shared\": \"%s\"}\n}\n",
                results[0] == 2 * tiny ? "kept" : results[0] == 0 ? "flushed" : "other",
                results[1] == 2 * tiny ? "kept" : results[1] == 0 ? "flushed" : "other");
    }
    return fclose(json);
}
