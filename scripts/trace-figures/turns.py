# Steps with and without the recorder, in turns: each turn is a process that is forked off before CUDA is initialized.
# turns.py OUT PAIRS KINDS LIBRARY, where LIBRARY is target/*/build/ridge-injection-*/out/libridge_injection.so and kinds
# are train, mixed and small.
import os, sys, time, statistics, json
import torch
here = os.path.dirname(os.path.abspath(__file__)); out = sys.argv[1]; pairs = int(sys.argv[2]); kinds = sys.argv[3].split(','); library = os.path.abspath(sys.argv[4])
def steps(kind):
    if kind == 'mixed':
        space = {}
        exec(open(here + '/mixed_step.py').read(), space)
        return lambda: (space['step'](), space['step']())
    if kind == 'small':
        net = torch.nn.Sequential(*[m for _ in range(12) for m in (torch.nn.Linear(256, 256), torch.nn.LayerNorm(256), torch.nn.GELU())]).cuda()
        opt = torch.optim.Adam(net.parameters()); x = torch.randn(64, 256, device='cuda')
        def one():
            opt.zero_grad(); loss = net(x).square().mean(); loss.backward(); opt.step()
        return one
    net = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True), 4).cuda().to(torch.bfloat16)
    opt = torch.optim.AdamW(net.parameters()); x = torch.randn(8, 1024, 1024, device='cuda', dtype=torch.bfloat16)
    def one():
        opt.zero_grad(); loss = net(x).float().square().mean(); loss.backward(); opt.step()
    return one
def run():
    result = {}
    for kind in kinds:
        one = steps(kind)
        for _ in range(30): one()
        torch.cuda.synchronize(); times = []
        for _ in range(100):
            t = time.perf_counter(); one(); torch.cuda.synchronize(); times.append((time.perf_counter() - t) * 1e3)
        # And without waiting for each step, as training loops go.
        t = time.perf_counter()
        for _ in range(100): one()
        torch.cuda.synchronize(); result[kind] = (statistics.median(times), min(times), (time.perf_counter() - t) * 10)
    return result
os.makedirs(out + '-parts', exist_ok=True)
for turn in range(pairs):
    for arm in (('plain', 'traced') if turn % 2 == 0 else ('traced', 'plain')):
        child = os.fork()
        if child == 0:
            if arm == 'traced':
                for name in ('CUDA_INJECTION64_PATH', 'NVTX_INJECTION64_PATH'): os.environ[name] = library
                os.environ['RIDGE_TRACE_FOLDER'] = out + '-parts'
            result = run()
            with open(out, 'a') as f: f.write(json.dumps([turn, arm, result]) + '\n')
            sys.exit(0)
        os.waitpid(child, 0)
rows = [json.loads(line) for line in open(out)]
for kind in kinds:
    for i, name in enumerate(('median step', 'min step', 'throughput step')):
        a = [r[2][kind][i] for r in rows if r[1] == 'plain']; b = [r[2][kind][i] for r in rows if r[1] == 'traced']
        print(f"{kind:6} {name:16} plain {statistics.median(a):.3f} ms [{min(a):.3f}, {max(a):.3f}]  traced {statistics.median(b):.3f} ms [{min(b):.3f}, {max(b):.3f}]  {100 * (statistics.median(b) / statistics.median(a) - 1):+.2f} %", flush=True)
