// A program that uses the GPU as far as the recorder can tell: it loads the injected library as the driver and NVTX do,
// and has the library that stands in for CUPTI make records. Its arguments are what it does, one after the other.

#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *cupti;
static uint32_t launched;

static void *symbol(const char *name) {
    void *found = cupti ? dlsym(cupti, name) : NULL;
    return found;
}

static void begin(void) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *injected = path ? dlopen(path, RTLD_NOW) : NULL;
    if (injected) ((int (*)(void))dlsym(injected, "InitializeInjection"))();
    const char *stand_in = getenv("RIDGE_CUPTI");
    cupti = stand_in ? dlopen(stand_in, RTLD_NOW) : NULL;
    void (*start)(void) = (void (*)(void))symbol("fake_begin");
    if (start) start();
}

static void launch(uint32_t count) {
    void (*function)(uint32_t, uint32_t) = (void (*)(uint32_t, uint32_t))symbol("fake_launch");
    if (function) function(launched, count);
    launched += count;
}

int main(int count, char **words) {
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int place = 1; place < count; place++) {
        const char *word = words[place];
        const char *value = place + 1 < count ? words[place + 1] : "";
        if (!strcmp(word, "begin")) begin();
        else if (!strcmp(word, "launch")) launch((uint32_t)atoi(value)), place++;
        else if (!strcmp(word, "kernel")) {
            // Name, blocks, threads, local memory in bytes, duration and the pause before it in ns.
            void (*function)(const char *, const uint32_t *) = (void (*)(const char *, const uint32_t *))symbol("fake_kernel");
            uint32_t numbers[5];
            for (int number = 0; number < 5; number++)
                numbers[number] = place + 2 + number < count ? (uint32_t)atoi(words[place + 2 + number]) : 0;
            if (function) function(value, numbers);
            place += 6;
        } else if (!strcmp(word, "profiler")) {
            void (*function)(uint32_t) = (void (*)(uint32_t))symbol("fake_call");
            if (function) function(!strcmp(value, "on") ? 5 : 6);
            place++;
        } else if (!strcmp(word, "unrecorded")) {
            // The rest is for runs without the recorder, such as those under a profiler.
            if (getenv("CUDA_INJECTION64_PATH")) return 0;
        } else if (!strcmp(word, "range")) {
            void (*function)(const char *) = (void (*)(const char *))symbol("fake_range");
            if (function) function(value);
            place++;
        } else if (!strcmp(word, "nvtx")) {
            void *injected = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_NOW);
            int taken = ((int (*)(const void *))dlsym(injected, "InitializeInjectionNvtx2"))("a table");
            printf("nvtx taken: %d\n", taken);
        } else if (!strcmp(word, "drop")) {
            void (*function)(uint32_t) = (void (*)(uint32_t))symbol("fake_drop");
            if (function) function((uint32_t)atoi(value));
            place++;
        } else if (!strcmp(word, "flush")) {
            int (*function)(uint32_t) = (int (*)(uint32_t))symbol("cuptiActivityFlushAll");
            if (function) function(0);
        } else if (!strcmp(word, "abort")) abort();
        else if (!strcmp(word, "kill")) kill(getpid(), SIGKILL);
        else if (!strcmp(word, "exit")) exit(atoi(value));
        else if (!strcmp(word, "_exit")) _exit(atoi(value));
        else if (!strcmp(word, "say")) printf("%s\n", value), fprintf(stderr, "%s\n", value), place++;
        else if (!strcmp(word, "echo")) {
            int byte;
            while ((byte = getchar()) != EOF) putchar(byte);
        } else if (!strcmp(word, "closefds")) {
            for (int file = 3; file < 256; file++) close(file);
        } else if (!strcmp(word, "hold")) {
            // Tells that all is ready, then stays until a signal comes.
            printf("ready\n");
            for (;;) pause();
        } else if (!strcmp(word, "fork")) {
            // The child does the rest and ends as forked children do: with the handlers of its parent.
            pid_t child = fork();
            if (child) {
                int status;
                waitpid(child, &status, 0);
                return 0;
            }
        } else if (!strcmp(word, "spawn")) {
            // A program of its own does the rest; this one does nothing more.
            pid_t child = fork();
            if (!child) {
                words[place] = words[0];
                execv(words[0], words + place);
                _exit(127);
            }
            int status;
            waitpid(child, &status, 0);
            return 0;
        }
    }
    return 0;
}
