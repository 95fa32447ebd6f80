// A library that stands in for NVIDIA's driver, NVRTC and NVML where there is no GPU, so that the layer that calls them is
// tested everywhere. It checks what it is given and aborts on what the documentation does not allow. Its kernels are the
// ones of the conformance suite, known by their names.
//
// Memory of the device is memory of the host. A stream is a list of what was queued; it runs when somebody looks at it,
// and then at once, in a time that is computed.
//
// OLD leaves out what drivers before 11.8 do not have, ANCIENT what 11.4 has, and NO_DEVICE the GPU.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int Result;
typedef unsigned long long Address;
typedef unsigned long long Long;

enum { OK = 0, INVALID_VALUE = 1, INVALID_DEVICE = 101, ALREADY_ENABLED = 704, OUT_OF_MEMORY = 2, INVALID_PTX = 218, NOT_FOUND = 500, NOT_READY = 600 };
enum { GPUS = 2, SMS = 132, PARAMETERS = 5, MOST = 4096 };
static const Long MEMORY = 1ull << 32;

static void must(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "the fake driver was called wrongly: %s\n", what);
    abort();
}

// What a kernel did that ended the context; every later call fails with it.
static Result ended = OK;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

// ---- the driver: versions, errors, devices

#ifdef NO_DEVICE
Result cuInit(unsigned flags) { must(flags == 0, "cuInit"); return 100; }
#else
Result cuInit(unsigned flags) { must(flags == 0, "cuInit"); return OK; }
#endif
#ifdef OLD
Result cuDriverGetVersion(int *version) { *version = 11040; return OK; }
#else
Result cuDriverGetVersion(int *version) { *version = 13000; return OK; }
#endif
Result cuGetErrorName(Result error, const char **name) { (void)error; *name = "FAKE_ERROR"; return OK; }
Result cuGetErrorString(Result error, const char **text) { (void)error; *text = "of the fake driver"; return OK; }
Result cuDeviceGetCount(int *count) { *count = GPUS; return OK; }
Result cuDeviceGet(int *device, int ordinal) { *device = ordinal; return ordinal >= 0 && ordinal < GPUS ? OK : INVALID_DEVICE; }
Result cuDeviceGetName(char *name, int size, int device) { (void)device; snprintf(name, size, "fake GPU"); return OK; }
Result cuDeviceGetPCIBusId(char *name, int size, int device) { (void)device; snprintf(name, size, "0000:1B:00.0"); return OK; }
Result cuDeviceGetUuid_v2(unsigned char *uuid, int device) { memset(uuid, 0x11 * (device + 1), 16); return OK; }
Result cuDeviceTotalMem_v2(size_t *bytes, int device) { (void)device; *bytes = MEMORY; return OK; }

Result cuDeviceGetAttribute(int *value, int attribute, int device) {
    static const struct { int attribute, value; } known[] = {
        {1, 1024}, {8, 49152}, {13, 1980000}, {16, SMS}, {17, 0}, {32, 1}, {36, 3201000}, {37, 6016}, {38, 60 << 20},
        {40, 3}, {75, 9}, {76, 0}, {97, 232448}, {108, 30 << 20}, {120, 1},
    };
    (void)device;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].attribute == attribute) { *value = known[i].value; return OK; }
    }
    return INVALID_VALUE;
}

// A context of each device: how often it is retained, and which others it reaches.
typedef struct { int retained, reaches[GPUS]; } Context;
static Context contexts[GPUS];
static int current;

static int device_of(void *context) {
    long device = (Context *)context - contexts;
    must(device >= 0 && device < GPUS && contexts[device].retained > 0, "a context that nobody holds");
    return (int)device;
}
Result cuDevicePrimaryCtxRetain(void **out, int device) { contexts[device].retained++; *out = &contexts[device]; return OK; }
Result cuDevicePrimaryCtxRelease_v2(int device) { must(contexts[device].retained-- > 0, "cuDevicePrimaryCtxRelease"); return OK; }
Result cuCtxSetCurrent(void *context) { current = device_of(context); return OK; }
Result cuDeviceCanAccessPeer(int *can, int device, int other) { must(device != other, "cuDeviceCanAccessPeer"); *can = 1; return OK; }
Result cuCtxEnablePeerAccess(void *context, unsigned flags) {
    int other = device_of(context);
    must(flags == 0 && other != current, "cuCtxEnablePeerAccess");
    if (contexts[current].reaches[other]) return ALREADY_ENABLED;
    contexts[current].reaches[other] = 1;
    return OK;
}
Result cuCtxResetPersistingL2Cache(void) { return ended; }

// ---- streams

typedef struct { double reached; int is_reached; } Event;
typedef enum { KERNEL, FILL, COPY, RECORD, WAIT, GRAPH } Kind;
typedef struct {
    Kind kind;
    const char *kernel;
    unsigned grid, block, cluster;
    Long parameters[PARAMETERS];
    Address to, from;
    size_t bytes;
    unsigned char byte;
    Event *event;
    struct Graph *graph;
} Op;
typedef struct Graph { Op *ops; int count; } Graph;
typedef struct {
    Op *ops;
    int count, room, next, is_capturing;
    double ready, expires;
    // Where a blocking kernel looks, and the number that it waits for.
    volatile unsigned *gate;
    unsigned number;
} Stream;

static Stream *streams[MOST];
static int stream_count;

// Whether something larger than the L2 went through it last.
static int is_cold;

static void *pointer(Long value) { return (void *)value; }

// Variables of the module.
static float weights[64];
static unsigned total;

// The finaliser of SplitMix64.
static Long scramble(Long x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static void run_kernel(Stream *stream, const Op *op) {
    const Long *p = op->parameters;
    #define IS(name) (strcmp(op->kernel, name) == 0)
    stream->ready += 1500;
    if (IS("ridge_block")) {
        must(op->grid == 1 && op->block == 1, "the shape of ridge_block");
        stream->gate = pointer(p[0]);
        stream->number = (unsigned)p[1];
        stream->expires = now() + (double)p[2];
    } else if (IS("ridge_stamp")) {
        must(op->grid == SMS && op->block == 1, "the shape of ridge_stamp");
        for (Long sm = 0; sm < SMS && sm < (unsigned)p[1]; sm++) {
            Long *slot = (Long *)pointer(p[0]) + 4 * sm;
            slot[0] = (Long)stream->ready;
            slot[1] = (Long)(stream->ready * 1.98);
            slot[2] = p[2];
            slot[3] = SMS;
        }
    } else if (IS("ridge_timer_step")) {
        *(Long *)pointer(p[0]) = 32;
    } else if (IS("ridge_read")) {
        stream->ready += 30000;
        is_cold = 1;
    } else if (IS("ridge_count")) {
        for (Long i = 0, value; i < p[2]; i++) {
            value = 0;
            memcpy(&value, pointer(p[0] + i * p[1]), p[1]);
            *(Long *)pointer(p[4]) += (value & p[3]) == p[3];
        }
    } else if (IS("ridge_gather")) {
        for (Long i = 0; i < p[3]; i++) {
            Long *to = (Long *)pointer(p[4]) + i, index = ((Long *)pointer(p[2]))[i];
            *to = 0;
            memcpy(to, pointer(p[0] + index * p[1]), p[1]);
        }
    } else if (IS("ridge_differ")) {
        for (Long i = 0; i < p[3]; i++)
            *(Long *)pointer(p[4]) += memcmp(pointer(p[0] + i * p[2]), pointer(p[1] + i * p[2]), p[2]) != 0;
    } else if (IS("ridge_digest")) {
        for (Long i = 0, value; i < p[2]; i++) {
            value = 0;
            memcpy(&value, pointer(p[0] + i * p[1]), p[1]);
            *(Long *)pointer(p[4]) += scramble(value ^ scramble(i + p[3]));
        }
    } else if (IS("ridge_mask")) {
        for (Long i = 0, value; i < p[2]; i++) {
            value = 0;
            memcpy(&value, pointer(p[0] + i * p[1]), p[1]);
            value ^= scramble((i + p[3]) ^ p[4]);
            memcpy(pointer(p[0] + i * p[1]), &value, p[1]);
        }
    } else if (IS("scale") || IS("scale4")) {
        float *out = pointer(p[0]), *in = pointer(p[1]), factor;
        stream->ready += is_cold ? 4000 : 0;
        is_cold = 0;
        memcpy(&factor, &p[2], sizeof factor);
        for (unsigned i = 0; i < (unsigned)p[3]; i++) out[i] = factor * in[i];
    } else if (IS("weigh")) {
        for (int i = 0; i < 64; i++) ((float *)pointer(p[0]))[i] = 2 * weights[i];
        total++;
    } else if (IS("count")) {
        ++*(unsigned *)pointer(p[0]);
    } else if (IS("wait_ns")) {
        stream->ready += (double)p[0];
    } else if (IS("store")) {
        *(unsigned *)pointer(p[0]) = 77;
    } else if (IS("turn")) {
        unsigned *out = pointer(p[0]), *in = pointer(p[1]);
        for (int i = 0; i < 256; i++) out[255 - i] = in[i];
    } else if (IS("cluster_size")) {
        for (unsigned i = 0; i < op->grid; i++) ((unsigned *)pointer(p[0]))[i] = op->cluster;
    } else if (IS("outside")) {
        ended = 700;
    } else if (IS("misaligned")) {
        ended = 716;
    } else if (IS("trap_")) {
        ended = 719;
    } else if (IS("endless")) {
        stream->ready = 1e300;
    }
}

static void run_op(Stream *stream, const Op *op) {
    switch (op->kind) {
    case KERNEL: run_kernel(stream, op); break;
    case FILL:
        memset(pointer(op->to), op->byte, op->bytes);
        stream->ready += 2000;
        is_cold |= op->bytes > 60 << 20;
        break;
    case COPY: memcpy(pointer(op->to), pointer(op->from), op->bytes); stream->ready += 2000; break;
    case RECORD: op->event->reached = stream->ready += 800; op->event->is_reached = 1; break;
    case WAIT: if (op->event->reached > stream->ready) stream->ready = op->event->reached; break;
    case GRAPH: for (int i = 0; i < op->graph->count; i++) run_op(stream, &op->graph->ops[i]); break;
    }
}

// Whether a blocking kernel still holds a stream.
static int is_held(Stream *stream) {
    if (!stream->gate) return 0;
    if (stream->gate[0] >= stream->number) {
        stream->gate = NULL;
    } else if (now() > stream->expires) {
        stream->gate[1] = stream->number;
        stream->gate = NULL;
    } else {
        return 1;
    }
    return 0;
}

// Runs what can run. All of it starts at one time, so that the speed of this machine does not matter.
static void run_streams(void) {
    int has_moved = 1;
    while (has_moved) {
        has_moved = 0;
        for (int i = 0; i < stream_count; i++) {
            Stream *stream = streams[i];
            double start = now();
            if (!stream->is_capturing && !is_held(stream) && stream->ready < start && stream->next < stream->count)
                stream->ready = start;
            while (!stream->is_capturing && !stream->gate && stream->next < stream->count && ended == OK) {
                Op *op = &stream->ops[stream->next];
                if (op->kind == WAIT && !op->event->is_reached) break;
                stream->next++;
                run_op(stream, op);
                has_moved = 1;
            }
        }
    }
}

static Result queue(void *handle, Op op) {
    Stream *stream = handle;
    if (ended != OK) return ended;
    if (stream->count == stream->room) {
        stream->room = 2 * stream->room + 64;
        stream->ops = realloc(stream->ops, (size_t)stream->room * sizeof op);
    }
    stream->ops[stream->count++] = op;
    run_streams();
    return OK;
}

Result cuStreamCreate(void **out, unsigned flags) {
    must(flags == 1 && stream_count < MOST, "cuStreamCreate");
    *out = streams[stream_count++] = calloc(1, sizeof(Stream));
    return ended;
}
Result cuStreamDestroy_v2(void *stream) { must(stream != NULL, "cuStreamDestroy"); return ended; }
Result cuStreamQuery(void *handle) {
    Stream *stream = handle;
    run_streams();
    if (ended != OK) return ended;
    return is_held(stream) || stream->next < stream->count || stream->ready > now() ? NOT_READY : OK;
}
Result cuCtxSynchronize(void) {
    for (int i = 0; i < stream_count; i++) {
        int is_waiting = 1;
        while (is_waiting) {
            run_streams();
            if (ended != OK) return ended;
            is_waiting = is_held(streams[i]) || streams[i]->next < streams[i]->count || streams[i]->ready > now();
        }
    }
    return OK;
}
Result cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    must(flags == 0, "cuStreamWaitEvent");
    return queue(stream, (Op){.kind = WAIT, .event = event});
}

Result cuEventCreate(void **event, unsigned flags) {
    must(flags == 0, "cuEventCreate");
    *event = calloc(1, sizeof(Event));
    return ended;
}
Result cuEventDestroy_v2(void *event) { must(event != NULL, "cuEventDestroy"); return ended; }
Result cuEventRecord(void *event, void *stream) {
    ((Event *)event)->is_reached = 0;
    return queue(stream, (Op){.kind = RECORD, .event = event});
}
Result cuEventElapsedTime(float *milliseconds, void *from, void *to) {
    Event *first = from, *last = to;
    run_streams();
    if (!first->is_reached || !last->is_reached || last->reached > now()) return NOT_READY;
    *milliseconds = (float)((last->reached - first->reached) / 1e6);
    return ended;
}

// ---- memory

static size_t used;

Result cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    *total = MEMORY;
    *free_bytes = MEMORY - used;
    return ended;
}
Result cuMemAlloc_v2(Address *out, size_t bytes) {
    if (ended != OK) return ended;
    if (bytes > MEMORY - used) return OUT_OF_MEMORY;
    // Size and device stand in front.
    size_t *memory = calloc(1, bytes + 64);
    memory[0] = bytes;
    memory[1] = (size_t)current;
    used += bytes;
    *out = (Address)memory + 64;
    return OK;
}
Result cuMemFree_v2(Address address) {
    // As the driver: not before everything is done.
    for (int i = 0; i < stream_count && ended == OK; i++) {
        while (is_held(streams[i]) || streams[i]->next < streams[i]->count) run_streams();
    }
    size_t *memory = pointer(address - 64);
    must(memory[1] == (size_t)current, "cuMemFree in the context of another device");
    used -= memory[0];
    free(memory);
    return ended;
}
Result cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
    must(flags == 2, "cuMemHostAlloc");
    *out = calloc(1, bytes);
    return ended;
}
Result cuMemFreeHost(void *memory) { free(memory); return ended; }
Result cuMemHostGetDevicePointer_v2(Address *address, void *memory, unsigned flags) {
    must(flags == 0, "cuMemHostGetDevicePointer");
    *address = (Address)memory;
    return OK;
}
Result cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) { memcpy(pointer(to), from, bytes); return ended; }
Result cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) { memcpy(to, pointer(from), bytes); return ended; }
Result cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, void *stream) {
    return queue(stream, (Op){.kind = COPY, .to = to, .from = (Address)from, .bytes = bytes});
}
Result cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *stream) {
    return queue(stream, (Op){.kind = COPY, .to = (Address)to, .from = from, .bytes = bytes});
}
Result cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void *stream) {
    return queue(stream, (Op){.kind = COPY, .to = to, .from = from, .bytes = bytes});
}
Result cuMemcpyPeerAsync(Address to, void *to_context, Address from, void *from_context, size_t bytes, void *stream) {
    int there = device_of(to_context), here = device_of(from_context);
    must(((size_t *)pointer(to - 64))[1] == (size_t)there && ((size_t *)pointer(from - 64))[1] == (size_t)here, "the contexts of cuMemcpyPeerAsync");
    must(contexts[here].reaches[there] && contexts[there].reaches[here], "access of cuMemcpyPeerAsync");
    return queue(stream, (Op){.kind = COPY, .to = to, .from = from, .bytes = bytes});
}
Result cuMemsetD8Async(Address to, unsigned char byte, size_t bytes, void *stream) {
    return queue(stream, (Op){.kind = FILL, .to = to, .byte = byte, .bytes = bytes});
}

// ---- modules and functions

typedef struct { const char *name; int count; size_t sizes[PARAMETERS]; } Signature;
static Signature signatures[] = {
    {"scale", 4, {8, 8, 4, 4}}, {"scale4", 4, {8, 8, 4, 4}}, {"count", 1, {8}}, {"wait_ns", 1, {8}},
    {"turn", 3, {8, 8, 4}}, {"cluster_size", 1, {8}}, {"greedy", 2, {8, 8}}, {"outside", 1, {8}},
    {"misaligned", 1, {8}}, {"trap_", 1, {8}}, {"endless", 1, {8}}, {"_Z5twiceIiEvPT_", 1, {8}},
    {"nothing", 1, {4}}, {"weigh", 1, {8}},
    // Those of PTX.
    {"store", 1, {8}}, {"ridge_block", 3, {8, 4, 8}}, {"ridge_stamp", 3, {8, 4, 8}}, {"ridge_timer_step", 2, {8, 4}},
    {"ridge_read", 3, {8, 8, 8}}, {"ridge_count", 5, {8, 4, 8, 8, 8}}, {"ridge_gather", 5, {8, 4, 8, 8, 8}},
    {"ridge_differ", 5, {8, 8, 4, 8, 8}}, {"ridge_digest", 5, {8, 4, 8, 8, 8}}, {"ridge_mask", 5, {8, 4, 8, 8, 8}}, {"ridge_empty", 0, {0}},
};
enum { COMPILED = 14, ALL = sizeof signatures / sizeof *signatures };
static const char CUBIN[] = "\x7f" "ELF\x02 of the fake compiler";

Result cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
    must(count == 2 && options[0] == 5 && options[1] == 6, "the options of cuModuleLoadDataEx");
    if (ended != OK) return ended;
    if (strcmp(image, CUBIN) == 0 || strstr(image, ".version")) {
        *module = strdup(image);
        return OK;
    }
    snprintf(values[0], (size_t)values[1], "fake fatal: no image");
    return INVALID_PTX;
}
Result cuModuleUnload(void *module) { free(module); return ended; }
Result cuModuleGetFunction(void **function, void *module, const char *name) {
    char entry[256];
    snprintf(entry, sizeof entry, ".entry %s(", name);
    int is_compiled = strcmp(module, CUBIN) == 0;
    for (int i = 0; i < ALL; i++) {
        int is_here = is_compiled ? i < COMPILED : strstr(module, entry) != NULL;
        if (is_here && strcmp(signatures[i].name, name) == 0) { *function = &signatures[i]; return OK; }
    }
    return NOT_FOUND;
}
Result cuModuleGetGlobal_v2(Address *address, size_t *bytes, void *module, const char *name) {
    if (strcmp(module, CUBIN) != 0) return NOT_FOUND;
    if (strcmp(name, "weights") == 0) {
        *address = (Address)weights;
        *bytes = sizeof weights;
    } else if (strcmp(name, "total") == 0) {
        *address = (Address)&total;
        *bytes = sizeof total;
    } else if (strcmp(name, "weigh") == 0) {
        // As the driver of an H200 (580.159.04) does for the name of a kernel.
        return INVALID_VALUE;
    } else {
        return NOT_FOUND;
    }
    return ended;
}
#ifndef OLD
Result cuModuleGetFunctionCount(unsigned *count, void *module) { (void)module; *count = COMPILED; return OK; }
Result cuModuleEnumerateFunctions(void **functions, unsigned count, void *module) {
    (void)module;
    for (unsigned i = 0; i < count; i++) functions[i] = &signatures[i];
    return OK;
}
Result cuFuncGetName(const char **name, void *function) { *name = ((Signature *)function)->name; return OK; }
Result cuFuncLoad(void *function) { must(function != NULL, "cuFuncLoad"); return ended; }
#endif
Result cuFuncGetAttribute(int *value, int attribute, void *function) {
    int is_greedy = strcmp(((Signature *)function)->name, "greedy") == 0;
    *value = attribute == 0 ? (is_greedy ? 256 : 1024) : attribute == 4 ? (is_greedy ? 254 : 16) : 0;
    return OK;
}
Result cuFuncSetAttribute(void *function, int attribute, int value) {
    must(function != NULL && (attribute == 8 || attribute == 14), "cuFuncSetAttribute");
    return value >= 0 && value <= 232448 ? OK : INVALID_VALUE;
}
#ifndef OLD
Result cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes) {
    Signature *signature = function;
    if (index >= (size_t)signature->count) return INVALID_VALUE;
    *offset = 8 * index;
    *bytes = signature->sizes[index];
    return OK;
}
#endif

static Result launch(Signature *signature, const unsigned *shape, unsigned cluster, void *stream, void **arguments) {
    for (int i = 0; i < 6; i++) must(shape[i] > 0, "the shape of a launch");
    Op op = {.kind = KERNEL, .kernel = signature->name, .grid = shape[0], .block = shape[3], .cluster = cluster};
    for (int i = 0; i < signature->count; i++) memcpy(&op.parameters[i], arguments[i], signature->sizes[i]);
    return queue(stream, op);
}
Result cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *stream, void **arguments, void **extra) {
    must(extra == NULL && shared <= 232448, "cuLaunchKernel");
    return launch(function, (unsigned[]){gx, gy, gz, bx, by, bz}, 1, stream, arguments);
}
#ifndef OLD
// The documented structures, written anew.
typedef struct { int id; char padding[4]; unsigned value[16]; } LaunchAttribute;
typedef struct { unsigned shape[6], shared; void *stream; LaunchAttribute *attributes; unsigned count; } LaunchConfig;
Result cuLaunchKernelEx(const LaunchConfig *config, void *function, void **arguments, void **extra) {
    must(extra == NULL && config->count == 1 && config->attributes->id == 4, "cuLaunchKernelEx");
    unsigned *value = config->attributes->value;
    must(value[1] == 1 && value[2] == 1, "the shape of a cluster");
    return launch(function, config->shape, value[0], config->stream, arguments);
}
#endif

// ---- graphs

Result cuStreamBeginCapture_v2(void *stream, int mode) {
    must(mode == 1, "cuStreamBeginCapture");
    ((Stream *)stream)->is_capturing = 1;
    return ended;
}
Result cuStreamEndCapture(void *handle, void **out) {
    Stream *stream = handle;
    must(stream->is_capturing, "cuStreamEndCapture");
    Graph *graph = calloc(1, sizeof *graph);
    graph->count = stream->count - stream->next;
    graph->ops = calloc((size_t)graph->count + 1, sizeof(Op));
    memcpy(graph->ops, stream->ops + stream->next, (size_t)graph->count * sizeof(Op));
    stream->next = stream->count;
    stream->is_capturing = 0;
    *out = graph;
    return ended;
}
Result cuGraphInstantiateWithFlags(void **out, void *graph, Long flags) {
    must(flags == 0, "cuGraphInstantiateWithFlags");
    *out = graph;
    return ended;
}
Result cuGraphDestroy(void *graph) { must(graph != NULL, "cuGraphDestroy"); return OK; }
#ifndef ANCIENT
Result cuGraphUpload(void *graph, void *stream) { must(graph && stream, "cuGraphUpload"); return ended; }
#endif
Result cuGraphLaunch(void *graph, void *stream) { return queue(stream, (Op){.kind = GRAPH, .graph = graph}); }
Result cuGraphExecDestroy(void *graph) { must(graph != NULL, "cuGraphExecDestroy"); return ended; }

// ---- NVRTC

static int has_error;
static const char LOG[] = "wrong.cu(2): error: #error directive: not today\n";
Result nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return OK; }
const char *nvrtcGetErrorString(Result error) { return error == OK ? "NVRTC_SUCCESS" : "NVRTC_ERROR_COMPILATION"; }
Result nvrtcCreateProgram(void **program, const char *text, const char *name, int count, const char **headers, const char **names) {
    (void)headers; (void)names;
    must(name != NULL && count == 0, "nvrtcCreateProgram");
    has_error = strstr(text, "#error") != NULL;
    *program = strdup(text);
    return OK;
}
Result nvrtcDestroyProgram(void **program) { free(*program); *program = NULL; return OK; }
Result nvrtcCompileProgram(void *program, int count, const char **options) {
    must(program != NULL && count == 1 && strcmp(options[0], "--gpu-architecture=sm_90") == 0, "nvrtcCompileProgram");
    return has_error ? 6 : OK;
}
Result nvrtcGetProgramLogSize(void *program, size_t *size) { (void)program; *size = has_error ? sizeof LOG : 1; return OK; }
Result nvrtcGetProgramLog(void *program, char *log) { (void)program; strcpy(log, has_error ? LOG : ""); return OK; }
// Without the zero at the end: whoever loads it has to put one there.
Result nvrtcGetCUBINSize(void *program, size_t *size) { (void)program; *size = sizeof CUBIN - 1; return OK; }
Result nvrtcGetCUBIN(void *program, char *cubin) { (void)program; memcpy(cubin, CUBIN, sizeof CUBIN - 1); return OK; }
Result nvrtcGetPTXSize(void *program, size_t *size) { (void)program; *size = 0; return OK; }
Result nvrtcGetPTX(void *program, char *ptx) { (void)program; (void)ptx; return OK; }
Result nvrtcAddNameExpression(void *program, const char *name) { (void)program; must(strcmp(name, "twice<int>") == 0, "a name"); return OK; }
Result nvrtcGetLoweredName(void *program, const char *name, const char **lowered) {
    (void)program; (void)name;
    *lowered = "_Z5twiceIiEvPT_";
    return OK;
}

// ---- NVML

static int gpu, second_gpu;
Result nvmlInit_v2(void) { return OK; }
Result nvmlSystemGetDriverVersion(char *text, unsigned size) { snprintf(text, size, "580.00.00"); return OK; }
Result nvmlDeviceGetHandleByUUID(const char *uuid, void **out) {
    int is_second = strcmp(uuid, "GPU-22222222-2222-2222-2222-222222222222") == 0;
    *out = is_second ? &second_gpu : &gpu;
    return is_second || strcmp(uuid, "GPU-11111111-1111-1111-1111-111111111111") == 0 ? OK : 6;
}
Result nvmlDeviceGetP2PStatus(void *device, void *other, int question, int *answer) {
    must(device == &gpu && other == &second_gpu && question == 2, "nvmlDeviceGetP2PStatus");
    *answer = 0;
    return OK;
}
Result nvmlDeviceGetNvLinkState(void *device, unsigned link, int *is_up) {
    must(device == &gpu, "nvmlDeviceGetNvLinkState");
    *is_up = link != 3;
    return link < 18 ? OK : 2;
}
Result nvmlDeviceGetClockInfo(void *device, int which, unsigned *clock) {
    must(device == &gpu, "nvmlDeviceGetClockInfo");
    *clock = which == 1 ? 1980 : 3201;
    return OK;
}
Result nvmlDeviceGetPowerUsage(void *device, unsigned *power) { (void)device; *power = 123456; return OK; }
Result nvmlDeviceGetTemperature(void *device, int which, unsigned *value) { (void)device; must(which == 0, "a sensor"); *value = 41; return OK; }
Result nvmlDeviceGetCurrentClocksThrottleReasons(void *device, Long *reasons) { (void)device; *reasons = 4; return OK; }
typedef struct { unsigned pid; Long memory; unsigned gpu, compute; } Process;
Result nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, Process *list) {
    (void)device;
    unsigned room = *count;
    *count = 70;
    if (room < 70) return 7;
    for (unsigned i = 0; i < 70; i++) list[i] = (Process){.pid = 100 + i, .memory = i == 0 ? ~0ull : 1000 * i};
    return OK;
}
