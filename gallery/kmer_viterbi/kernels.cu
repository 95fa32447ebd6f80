// Alignment of reads with a left-to-right model of 32 states (Viterbi): at each step a state is kept, or entered from one or two states
// before, and emits the score that a table holds for the current 11-mer of the read. One warp a read, one lane a state; a byte for each
// state and step is kept for the way back.
//
// slow: step by step: the code of the 11-mer, then its row of the table, then the comparison, then the store. The store may overlap with
//       what is read as far as the compiler knows, so a warp has one access in flight.
// fixed: the codes and rows of eight steps are loaded together, then the eight steps follow.

struct Costs {
    float stay, advance, skip;
};

__device__ __forceinline__ unsigned char advance(float& score, float emission, int lane, Costs c) {
    float one = __shfl_up_sync(~0u, score, 1), two = __shfl_up_sync(~0u, score, 2);
    float best = score + c.stay;
    unsigned char from = 0;
    if (lane >= 1 && one + c.advance > best) best = one + c.advance, from = 1;
    if (lane >= 2 && two + c.skip > best) best = two + c.skip, from = 2;
    score = best + emission;
    return from;
}

extern "C" __global__ void __launch_bounds__(128) kmer_viterbi_slow(const unsigned* codes, const float* table, unsigned char* back, float* scores, int steps,
                                                                    float stay, float step, float skip) {
    int read = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    Costs c = {stay, step, skip};
    const unsigned* code = codes + (size_t)read * steps;
    unsigned char* to = back + (size_t)read * steps * 32 + lane;
    float score = lane ? -100.f : 0.f;
    for (int t = 0; t < steps; t++) {
        to[0] = advance(score, table[(size_t)code[t] * 32 + lane], lane, c);
        to += 32;
    }
    scores[read * 32 + lane] = score;
}

extern "C" __global__ void __launch_bounds__(128) kmer_viterbi_fixed(const unsigned* codes, const float* table, unsigned char* back, float* scores, int steps,
                                                                     float stay, float step, float skip) {
    int read = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    Costs c = {stay, step, skip};
    const uint4* code = reinterpret_cast<const uint4*>(codes + (size_t)read * steps);
    unsigned char* to = back + (size_t)read * steps * 32 + lane;
    float score = lane ? -100.f : 0.f;
    for (int t = 0; t < steps; t += 8) {
        uint4 p = code[0], q = code[1];
        unsigned k[8] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
        float emission[8];
#pragma unroll
        for (int j = 0; j < 8; j++) emission[j] = table[(size_t)k[j] * 32 + lane];
#pragma unroll
        for (int j = 0; j < 8; j++) to[j * 32] = advance(score, emission[j], lane, c);
        code += 2;
        to += 256;
    }
    scores[read * 32 + lane] = score;
}
