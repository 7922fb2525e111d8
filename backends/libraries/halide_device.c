// What Halide's runtime asks of a program that brings its own device: these take the place of its defaults.
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// The device that a call is for. Of CUDA: its context and its stream.
struct device {
    const char *opencl;  // What has OpenCL's functions.
    void *context;
    void *queue;
    char said[1024];
};

// Halide's runtime has no device of its own: without one there is nothing to free when the process ends.
static void *context_of(void *device) { return device ? ((struct device *)device)->context : NULL; }
static void *queue_of(void *device) { return device ? ((struct device *)device)->queue : NULL; }

void halide_error(void *device, const char *message) {
    if (device == NULL) {
        fprintf(stderr, "Halide: %s\n", message);
        return;
    }
    char *said = ((struct device *)device)->said;
    strncpy(said, message, sizeof(((struct device *)device)->said) - 1);
}

void *halide_opencl_get_symbol(void *device, const char *name) {
    static void *library = NULL;
    if (library == NULL && device != NULL) library = dlopen(((struct device *)device)->opencl, RTLD_NOW);
    return library ? dlsym(library, name) : NULL;
}

int halide_acquire_cl_context(void *device, void **context, void **queue, bool create) {
    *context = context_of(device);
    *queue = queue_of(device);
    return 0;
}

int halide_release_cl_context(void *device) { return 0; }

int halide_cuda_acquire_context(void *device, void **context, bool create) {
    *context = context_of(device);
    return 0;
}

int halide_cuda_release_context(void *device) { return 0; }

int halide_cuda_get_stream(void *device, void *context, void **stream) {
    *stream = queue_of(device);
    return 0;
}
