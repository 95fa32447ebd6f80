// Does not compile, on purpose.
extern "C" __global__ void fine(const float* in, float* out, int n) {
    out[0] = no_such_name;
}
