# A step of many kinds of kernels, for turns.py.
import sys,torch,torch.nn.functional as F
torch.manual_seed(0); d='cuda'; h=torch.bfloat16
x=torch.randn(4096,4096,device=d,dtype=h); w=torch.randn(4096,4096,device=d,dtype=h)
q=torch.randn(4,16,2048,64,device=d,dtype=h); e=torch.randn(50000,1024,device=d); ids=torch.randint(0,50000,(8192,),device=d)
img=torch.randn(32,64,112,112,device=d,dtype=h); cw=torch.randn(128,64,3,3,device=d,dtype=h); xf=torch.randn(4096,4096,device=d)
def step():
    y=x@w; y=F.gelu(y); y=F.layer_norm(y,(4096,)); y=torch.softmax(y,-1); z=F.scaled_dot_product_attention(q,q,q,is_causal=True)
    g=F.embedding(ids,e); c=F.conv2d(img,cw,padding=1); s=xf.sum(); t=xf.t().contiguous(); m=xf@xf; so=torch.sort(xf[:64],-1)[0]; cs=torch.cumsum(xf,1); v=y.float().std(-1); ix=xf.view(-1)[torch.randint(0,1<<24,(1<<22,),device=d)]
    sm=torch.randn(64,64,device=d); 
    for _ in range(20): sm=sm*1.01
    return y.sum()+z.sum()
