// C = A * B for square matrices of floats: each thread computes one element, or a block of WIDTH x WIDTH elements.

#ifndef WIDTH
#define WIDTH 4
#endif

extern "C" __global__ void gemm_tile(const float* A, const float* B, float* C, int n) {
    __shared__ float a[16][16], b[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 16) {
        a[y][x] = A[(size_t)row * n + k + x];
        b[y][x] = B[(size_t)(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    C[(size_t)row * n + column] = sum;
}

extern "C" __global__ void gemm_blocked(const float* A, const float* B, float* C, int n) {
    const int size = 16 * WIDTH;
    __shared__ float a[16][size], b[16][size];
    int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
    int column = blockIdx.x * size, row = blockIdx.y * size;
    float sum[WIDTH][WIDTH] = {};
    for (int k = 0; k < n; k += 16) {
        for (int i = thread; i < 16 * size; i += 256) {
            a[i % 16][i / 16] = A[(size_t)(row + i / 16) * n + k + i % 16];
            b[i / size][i % size] = B[(size_t)(k + i / size) * n + column + i % size];
        }
        __syncthreads();
        for (int i = 0; i < 16; i++) {
            float left[WIDTH], right[WIDTH];
            for (int j = 0; j < WIDTH; j++) left[j] = a[i][y + 16 * j];
            for (int j = 0; j < WIDTH; j++) right[j] = b[i][x + 16 * j];
            for (int j = 0; j < WIDTH; j++)
                for (int l = 0; l < WIDTH; l++) sum[j][l] += left[j] * right[l];
        }
        __syncthreads();
    }
    for (int j = 0; j < WIDTH; j++)
        for (int l = 0; l < WIDTH; l++) C[(size_t)(row + y + 16 * j) * n + column + x + 16 * l] = sum[j][l];
}
