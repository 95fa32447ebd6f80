__global__ void kÿ(float*þ a){a[threadIdx.x*9]=0.1*a[0];}//ÿ ridge-lint: allow(ÿ)
