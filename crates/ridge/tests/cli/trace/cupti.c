// Stands in for CUPTI: the functions that the recorder calls, and more by which the test program makes records.
//
// Records have the sizes and places of CUDA 13.0 (see crates/ridge-injection/src/activity.rs). Variables of the environment
// make it behave badly: FAKE_VERSION, FAKE_BUSY, FAKE_SHIFT (fields of kernels lie elsewhere), FAKE_REFUSE, FAKE_OLD.

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void (*requested_t)(uint8_t **, size_t *, size_t *);
typedef void (*completed_t)(void *, uint32_t, uint8_t *, size_t, size_t);

static requested_t requested;
static completed_t completed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *buffer;
static size_t size, used, dropped;
static uint8_t enabled[64], asked_for[4096];

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static size_t size_of(uint32_t kind) {
    switch (kind) {
    case 1: return 96;
    case 2: return 88;
    case 4: case 5: return 40;
    case 8: return 184;
    case 9: return 32;
    case 10: return 216;
    case 12: return 56;
    case 17: case 38: return 56;
    default: return 0;
    }
}

static void complete(void) {
    if (buffer) {
        uint8_t *full = buffer;
        buffer = NULL;
        completed(NULL, 0, full, size, used);
    }
}

// Room for a record, or NULL where it is dropped.
static uint8_t *record(uint32_t kind) {
    size_t bytes = size_of(kind);
    if (!requested || !enabled[kind]) return NULL;
    if (buffer && used + bytes > size) complete();
    if (!buffer) {
        size_t most;
        requested(&buffer, &size, &most);
        used = 0;
        if (!buffer) {
            dropped++;
            return NULL;
        }
        // What was promised: zeros.
        for (size_t place = 0; place < size; place += 4096)
            if (buffer[place]) abort();
    }
    uint8_t *place = buffer + used;
    used += bytes;
    memcpy(place, &kind, 4);
    return place;
}

#define PUT(record, offset, type, value) do { type put = (value); memcpy((record) + (offset), &put, sizeof put); } while (0)

int cuptiGetVersion(uint32_t *version) {
    const char *wanted = getenv("FAKE_VERSION");
    *version = wanted ? (uint32_t)atoi(wanted) : 130001;
    return 0;
}
int cuptiGetTimestamp(uint64_t *time) { *time = now(); return 0; }
int cuptiSubscribe(void **subscriber, void *callback, void *data) {
    (void)callback; (void)data;
    *subscriber = &lock;
    return getenv("FAKE_BUSY") ? 39 : 0;
}
int cuptiActivityRegisterCallbacks(requested_t first, completed_t second) { requested = first; completed = second; return 0; }
int cuptiActivityEnable(uint32_t kind) {
    if (kind >= sizeof enabled) return 21;
    // Says that this GPU cannot do it.
    if (kind == 38 && getenv("FAKE_REFUSE")) return 27;
    enabled[kind] = 1;
    return 0;
}
// Lacks in old versions, which FAKE_OLD stands for: there a kind has all functions.
int cuptiActivityEnableRuntimeApi(uint32_t function, uint8_t is_enabled) {
    if (getenv("FAKE_OLD")) return 11;
    enabled[5] = 1;
    asked_for[function] = is_enabled;
    return 0;
}
int cuptiActivityGetNextRecord(uint8_t *start, size_t valid, uint8_t **at) {
    uint8_t *next = start;
    if (*at) {
        uint32_t kind;
        memcpy(&kind, *at, 4);
        next = *at + size_of(kind);
    }
    if (next >= start + valid) return 12;
    *at = next;
    return 0;
}
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count) {
    (void)context; (void)stream;
    *count = dropped;
    dropped = 0;
    return 0;
}
int cuptiActivityFlushAll(uint32_t flag) {
    (void)flag;
    pthread_mutex_lock(&lock);
    complete();
    pthread_mutex_unlock(&lock);
    return 0;
}
int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **name) {
    static const char *runtime[] = {NULL, "cudaGetDevice_v3020", "cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020", "cudaDeviceSynchronize_v3020", "cudaProfilerStart_v4000", "cudaProfilerStop_v4000"};
    if (domain != 2 || function == 0 || function > 6) return 1;
    *name = runtime[function];
    return 0;
}
int cuptiSetThreadIdType(uint32_t type) { return type == 1 ? 0 : 1; }
int InitializeInjectionNvtx2(const void *table) { return table != NULL; }

static void call(uint32_t function, uint64_t start, uint64_t end, uint32_t correlation) {
    uint8_t *at = asked_for[function] || getenv("FAKE_OLD") ? record(5) : NULL;
    if (!at) return;
    PUT(at, 4, uint32_t, function);
    PUT(at, 8, uint64_t, start);
    PUT(at, 16, uint64_t, end);
    PUT(at, 28, uint32_t, 77);
    PUT(at, 32, uint32_t, correlation);
}

// What the driver does at first.
void fake_begin(void) {
    pthread_mutex_lock(&lock);
    uint8_t *at = record(8);
    if (at) {
        PUT(at, 16, uint64_t, 150ull << 30);
        PUT(at, 28, uint32_t, 60u << 20);
        PUT(at, 36, uint32_t, 1980000);
        PUT(at, 44, uint32_t, 132);
        PUT(at, 104, uint32_t, 9);
        PUT(at, 120, uint32_t, 0x12345678);
        PUT(at, 136, const char *, "NVIDIA H200");
    }
    at = record(9);
    if (at) {
        PUT(at, 4, uint32_t, 1);
        PUT(at, 14, uint16_t, 7);
    }
    pthread_mutex_unlock(&lock);
}

// Kernels, each with its call, and after every tenth a copy of 1 MiB from pinned memory.
void fake_launch(uint32_t first, uint32_t count) {
    pthread_mutex_lock(&lock);
    size_t shift = getenv("FAKE_SHIFT") ? 12 : 0;
    uint64_t base = now();
    for (uint32_t place = 0; place < count; place++) {
        uint32_t correlation = 1 + 2 * (first + place);
        uint64_t start = base + 10000ull * place;
        call(1, start - 900, start - 800, 0);
        call(2, start, start + 3000, correlation);
        uint8_t *at = record(10);
        if (at) {
            PUT(at, 6, uint16_t, 32);
            PUT(at, 16, uint64_t, start + 5000);
            PUT(at, 24, uint64_t, start + 7500);
            PUT(at, 44, uint32_t, 1);
            PUT(at, 48, uint32_t, 7);
            PUT(at, 52, uint32_t, 264);
            PUT(at, 56, uint32_t, 1);
            PUT(at, 60, uint32_t, 1);
            PUT(at, 64 + shift, uint32_t, 256);
            PUT(at, 68 + shift, uint32_t, 1);
            PUT(at, 72 + shift, uint32_t, 1);
            PUT(at, 80, uint32_t, 4096);
            PUT(at, 92, uint32_t, correlation);
            PUT(at, 104, const char *, place % 2 ? "_Z5scalePfi" : "_Z3addPKfS0_Pf");
        }
        if (place % 10 == 9) {
            call(3, start + 8000, start + 8500, correlation + 1);
            at = record(1);
            if (at) {
                PUT(at, 4, uint8_t, 1);
                PUT(at, 5, uint8_t, 2);
                PUT(at, 6, uint8_t, 3);
                PUT(at, 8, uint64_t, 1 << 20);
                PUT(at, 16, uint64_t, start + 9000);
                PUT(at, 24, uint64_t, start + 9600);
                PUT(at, 36, uint32_t, 1);
                PUT(at, 40, uint32_t, 7);
                PUT(at, 44, uint32_t, correlation + 1);
            }
        }
    }
    pthread_mutex_unlock(&lock);
}

static uint64_t at_ns;
static uint32_t correlations = 1u << 20;

// One kernel with its call, after all those before: blocks, threads, local memory, duration, and the pause before it.
void fake_kernel(const char *name, const uint32_t numbers[5]) {
    pthread_mutex_lock(&lock);
    if (!at_ns) at_ns = now();
    uint64_t start = at_ns + numbers[4];
    uint32_t correlation = correlations++;
    call(2, start - 500, start - 400, correlation);
    uint8_t *at = record(10);
    if (at) {
        PUT(at, 6, uint16_t, 32);
        PUT(at, 16, uint64_t, start);
        PUT(at, 24, uint64_t, start + numbers[3]);
        PUT(at, 44, uint32_t, 1);
        PUT(at, 48, uint32_t, 7);
        for (size_t side = 0; side < 3; side++) {
            PUT(at, 52 + 4 * side, uint32_t, side ? 1 : numbers[0]);
            PUT(at, 64 + 4 * side, uint32_t, side ? 1 : numbers[1]);
        }
        PUT(at, 84, uint32_t, numbers[2]);
        PUT(at, 92, uint32_t, correlation);
        PUT(at, 104, const char *, strdup(name));
    }
    at_ns = start + numbers[3];
    pthread_mutex_unlock(&lock);
}

// A call that asks for no work.
void fake_call(uint32_t function) {
    pthread_mutex_lock(&lock);
    if (!at_ns) at_ns = now();
    call(function, at_ns + 100, at_ns + 200, correlations++);
    at_ns += 1000;
    pthread_mutex_unlock(&lock);
}

// A range of NVTX around nothing.
void fake_range(const char *name) {
    pthread_mutex_lock(&lock);
    for (uint32_t flag = 2; flag <= 4; flag += 2) {
        uint8_t *at = record(12);
        if (!at) break;
        PUT(at, 4, uint32_t, flag);
        PUT(at, 8, uint64_t, now());
        PUT(at, 16, uint32_t, 5);
        PUT(at, 20, uint32_t, 2);
        PUT(at, 28, uint32_t, 77);
        if (flag == 2) PUT(at, 40, const char *, name);
    }
    pthread_mutex_unlock(&lock);
}

// Records that nobody has room for.
void fake_drop(uint32_t count) { dropped += count; }
