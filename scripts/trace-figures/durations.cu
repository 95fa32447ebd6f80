// Times of kernels of many lengths by events, to compare with those of a recording. The number of blocks tells the length.
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <vector>
__global__ void spin(long long cycles) { long long start = clock64(); while (clock64() - start < cycles) {} }
int main(int argc, char **argv) {
    const char *out = argc > 1 ? argv[1] : "/dev/stdout";
    FILE *file = fopen(out, "w");
    cudaStream_t stream; cudaStreamCreate(&stream);
    cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
    long long cycles[] = {0, 2000, 4000, 6000, 10000, 20000, 40000, 100000, 200000, 400000, 1000000, 2000000, 4000000};
    for (int round = 0; round < 2; round++) // the first one warms up
    for (int i = 0; i < 13; i++) {
        std::vector<float> times;
        for (int k = 0; k < 41; k++) {
            spin<<<100, 32, 0, stream>>>(100000); // hides the launches behind it
            cudaEventRecord(a, stream);
            spin<<<i + 1, 32, 0, stream>>>(cycles[i]);
            cudaEventRecord(b, stream);
            cudaStreamSynchronize(stream);
            float ms; cudaEventElapsedTime(&ms, a, b); times.push_back(ms);
        }
        std::sort(times.begin(), times.end());
        if (round) fprintf(file, "%d %lld %.4f\n", i + 1, cycles[i], times[20] * 1000);
    }
    fclose(file);
    return 0;
}
