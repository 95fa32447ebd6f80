// A library that stands in for NVML and keeps a log of what is done to the clock, in the file that FAKE_NVML_LOG names: what
// is locked outlives the process that locked it, as on a GPU. FAKE_NVML says what goes wrong.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, INVALID_ARGUMENT = 2, NO_PERMISSION = 4, NOT_FOUND = 6, UNKNOWN = 999 };
static int gpu;

static int is(const char *what) {
    const char *wrong = getenv("FAKE_NVML");
    return wrong && strcmp(wrong, what) == 0;
}

static void note(const char *line) {
    int log = open(getenv("FAKE_NVML_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (log < 0 || write(log, line, strlen(line)) < 0) abort();
    close(log);
}

int nvmlInit_v2(void) { return OK; }

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
    *device = &gpu;
    return strcmp(uuid, "GPU-11111111-1111-1111-1111-111111111111") == 0 ? OK : NOT_FOUND;
}

int nvmlDeviceGetDefaultApplicationsClock(void *device, int which, unsigned *clock) {
    if (device != &gpu || which != 1) abort();
    *clock = 1200;
    return OK;
}

int nvmlDeviceSetGpuLockedClocks(void *device, unsigned lowest, unsigned highest) {
    char line[64];
    if (device != &gpu) abort();
    if (is("forbidden")) { note("refused\n"); return NO_PERMISSION; }
    if (highest > 1980) { note("refused\n"); return INVALID_ARGUMENT; }
    snprintf(line, sizeof line, "locked %u %u\n", lowest, highest);
    note(line);
    return OK;
}

int nvmlDeviceResetGpuLockedClocks(void *device) {
    if (device != &gpu) abort();
    if (is("stuck")) { note("stuck\n"); return UNKNOWN; }
    note("reset\n");
    return OK;
}
