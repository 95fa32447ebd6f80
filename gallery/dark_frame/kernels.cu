// Raw correction of a stack of sensor frames: subtract the dark frame (16 bits), clamp at zero, multiply by the gain of the pixel
// (8 bits, 1/64 steps), saturate at 14 bits.
//
// slow: one pixel a thread: two loads of two bytes, one of one byte and a store of two bytes. All of it is coalesced, but an SM full of
//       warps has a mere 10 KB of reads in flight.
// fixed: eight pixels a thread: loads of 16, 16 and 8 bytes and a store of 16.

__device__ __forceinline__ unsigned correct(unsigned raw, unsigned dark, unsigned gain) {
    unsigned v = raw - min(raw, dark);
    return min(v * gain >> 6, 16383u);
}

extern "C" __global__ void __launch_bounds__(512) dark_frame_slow(const unsigned short* __restrict__ raw, const unsigned short* __restrict__ dark,
                                                                  const unsigned char* __restrict__ gain, unsigned short* __restrict__ out, int width) {
    int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= width) return;
    int i = y * width + x;
    out[i] = (unsigned short)correct(raw[i], dark[i], gain[i]);
}

__device__ __forceinline__ unsigned correct_pair(unsigned raw, unsigned dark, unsigned gains, int k) {
    unsigned lo = correct(raw & 0xffff, dark & 0xffff, gains >> 8 * k & 0xff);
    unsigned hi = correct(raw >> 16, dark >> 16, gains >> (8 * k + 8) & 0xff);
    return lo | hi << 16;
}

extern "C" __global__ void __launch_bounds__(512) dark_frame_fixed(const uint4* __restrict__ raw, const uint4* __restrict__ dark,
                                                                   const uint2* __restrict__ gain, uint4* __restrict__ out, int width) {
    int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= width) return;
    int i = y * width + x;
    uint4 r = raw[i], d = dark[i];
    uint2 g = gain[i];
    out[i] = make_uint4(correct_pair(r.x, d.x, g.x, 0), correct_pair(r.y, d.y, g.x, 2), correct_pair(r.z, d.z, g.y, 0), correct_pair(r.w, d.w, g.y, 2));
}
