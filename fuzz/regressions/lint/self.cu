__global__ void k(int*a,int n){int i=i+j,j=i*j;a[i*a[j*a[i]]]=i;}
