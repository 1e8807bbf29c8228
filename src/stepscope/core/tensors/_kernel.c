/* The figures of tensors in one pass: what numpy_pass.py does, for the usual types, several times as fast.
 *
 * Parts: _kernel_loops.h and _kernel_sums.h are the loops over a block, made for each instruction set; _kernel_figures.h
 * adds blocks up, _kernel_view.h finds them in memory of any strides, _kernel_chunks.h shares them among threads. Here is
 * what Python sees, in the stable ABI of Python 3.10: no buffer protocol there, so arrays come by `__array_struct__`.
 *
 * Invariants: inputs are only read; the figures don't depend on the instruction set or the number of threads.
 */

#define _GNU_SOURCE /* sched_getaffinity */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define X86 1
#include <cpuid.h>
#include <immintrin.h>
#else
#include <fenv.h>
#endif

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* The rounding of the caller may be another one, and his subnormal numbers may be taken for 0. */
#ifdef X86
typedef unsigned int FloatingPoint;

static FloatingPoint plain_floating_point(void)
{
    const FloatingPoint before = _mm_getcsr();
    _mm_setcsr(0x1f80);
    return before;
}

static void restore_floating_point(FloatingPoint before) { _mm_setcsr(before); }
#else
typedef fenv_t FloatingPoint;

static FloatingPoint plain_floating_point(void)
{
    fenv_t before;
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}

static void restore_floating_point(FloatingPoint before) { fesetenv(&before); }
#endif

static float as_float(uint32_t bits)
{
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* float16, also subnormal, infinite or NaN. */
static inline float half(uint16_t bits)
{
    const float scaled = as_float((uint32_t)(bits & 0x7fff) << 13) * 0x1p112f;
    uint32_t result;
    memcpy(&result, &scaled, sizeof result);
    result |= (bits & 0x7c00) == 0x7c00 ? 0x7f800000 : 0;
    return as_float(result | (uint32_t)(bits & 0x8000) << 16);
}

#define ALWAYS __attribute__((always_inline))

/* What is read 2 kB later. The processor's own guess ends with every page of 4 kB. An address past the end does no harm. */
#define PREFETCH(from, bytes)                                            \
    for (size_t at_ = 0; at_ < (bytes); at_ += 64)                       \
        __builtin_prefetch((const void *)((uintptr_t)(from) + 2048 + at_))

#include "_kernel_figures.h"

#define LEVEL plain
#define TARGET
#define WIDTH 2
#include "_kernel_loops.h"
#undef LEVEL
#undef TARGET
#undef WIDTH

#ifdef X86
#define LEVEL avx2
#define TARGET __attribute__((target("avx2,f16c")))
#define WIDTH 4
#include "_kernel_loops.h"
#undef LEVEL
#undef TARGET
#undef WIDTH

#define LEVEL avx512
#define TARGET __attribute__((target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")))
#define WIDTH 8
#include "_kernel_loops.h"
#undef LEVEL
#undef TARGET
#undef WIDTH
#endif

#include "_kernel_view.h"

#include "_kernel_chunks.h"

typedef struct {
    const char *name;
    const Loops *loops;
} Level;

static Level levels[4]; /* the instruction sets that this processor has, best first */
static const Loops *chosen;

static void find_levels(void)
{
    int found = 0;
#ifdef X86
    unsigned int a, b, c, d;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C)) {
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
            levels[found++] = (Level){"avx512", &loops_avx512};
        levels[found++] = (Level){"avx2", &loops_avx2};
    }
#endif
    levels[found] = (Level){"plain", &loops_plain};
    chosen = levels[0].loops;
}

static void find_float8_values(void)
{
    for (int which = 0; which < 2; which++) {
        const int bits = which ? 2 : 3, bias = which ? 15 : 7; /* of the mantissa, of the exponent */
        for (int i = 0; i < 256; i++) {
            const int exponent = (i & 0x7f) >> bits, mantissa = i & ((1 << bits) - 1);
            double value = ldexp(mantissa + (exponent ? 1 << bits : 0), (exponent ? exponent : 1) - bias - bits);
            if (which && exponent == 31)
                value = mantissa ? NAN : INFINITY;
            else if (!which && (i & 0x7f) == 0x7f) /* e4m3fn has no infinities */
                value = NAN;
            float8_values[which][i] = (float)(i & 0x80 ? -value : value);
        }
    }
}

/* numpy's description of an array, as in its documentation. */
typedef struct {
    int two, nd;
    char typekind;
    int itemsize, flags;
    Py_intptr_t *shape, *strides;
    void *data;
    PyObject *descr;
} ArrayStruct;

#define NOT_SWAPPED 0x200

/* 1 for a kind that the loops know, else 0; -1 with an error. */
static int find_kind(const ArrayStruct *array, PyObject *format, Kind *kind)
{
    const int size = array->itemsize;
    const Py_ssize_t length = PyUnicode_GetLength(format);

    if (length < 0)
        return -1;
    if (!(array->flags & NOT_SWAPPED))
        return 0;
    if (length > 0) {
        if (PyUnicode_CompareWithASCIIString(format, "bfloat16") == 0)
            return *kind = BRAIN, array->typekind == 'u' && size == 2;
        if (PyUnicode_CompareWithASCIIString(format, "float8_e4m3fn") == 0)
            return *kind = FLOAT8_E4M3, array->typekind == 'u' && size == 1;
        if (PyUnicode_CompareWithASCIIString(format, "float8_e5m2") == 0)
            return *kind = FLOAT8_E5M2, array->typekind == 'u' && size == 1;
        return 0;
    }
    switch (array->typekind) {
    case 'b':
        return *kind = BOOL, size == 1;
    case 'f':
        return *kind = size == 2 ? HALF : size == 4 ? FLOAT : DOUBLE, size == 2 || size == 4 || size == 8;
    case 'i':
        return *kind = size == 1 ? INT8 : size == 2 ? INT16 : size == 4 ? INT32 : INT64, size <= 8;
    case 'u':
        return *kind = size == 1 ? UINT8 : size == 2 ? UINT16 : size == 4 ? UINT32 : UINT64, size <= 8;
    }
    return 0;
}

/* As `find_kind`. On 1, `capsule` keeps the memory alive. */
static int take_array(PyObject *array, PyObject *format, Task *task, PyObject **capsule)
{
    const int tensor = task->view.tensors;
    Memory *memory = &task->view.memory[tensor];

    *capsule = PyObject_GetAttrString(array, "__array_struct__");
    if (!*capsule)
        return -1;
    const ArrayStruct *found = PyCapsule_GetPointer(*capsule, NULL);
    if (!found)
        return -1;
    const int known = found->two == 2 && found->nd <= MAX_DIMENSIONS ? find_kind(found, format, &task->kind[tensor]) : 0;
    if (known <= 0)
        return known;
    if (tensor == 1 && found->nd != task->view.dimensions) {
        PyErr_SetString(PyExc_ValueError, "the arrays differ in shape");
        return -1;
    }
    memory->data = found->data;
    memory->size = found->itemsize;
    for (int d = 0; d < found->nd; d++) {
        if (tensor == 1 && found->shape[d] != task->view.shape[d]) {
            PyErr_SetString(PyExc_ValueError, "the arrays differ in shape");
            return -1;
        }
        task->view.shape[d] = found->shape[d];
        memory->stride[d] = found->strides[d];
    }
    task->view.dimensions = found->nd;
    task->view.tensors++;
    return 1;
}

/* The pairs of numbers in a sequence; NULL with an error. Free the result. */
static Pair *take_pairs(PyObject *sequence, int64_t *count)
{
    const Py_ssize_t length = PySequence_Size(sequence);
    Pair *pairs;

    if (length < 0)
        return NULL;
    pairs = malloc((size_t)(length + 1) * sizeof *pairs);
    if (!pairs)
        return (Pair *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *pair = PySequence_GetItem(sequence, i);
        for (Py_ssize_t j = 0; pair && j < 2; j++) {
            PyObject *number = PySequence_GetItem(pair, j);
            const double value = number ? PyFloat_AsDouble(number) : 0;
            *(j ? &pairs[i].second : &pairs[i].first) = value;
            Py_XDECREF(number);
            if (PyErr_Occurred())
                break;
        }
        Py_XDECREF(pair);
        if (PyErr_Occurred()) {
            free(pairs);
            return NULL;
        }
    }
    *count = length;
    return pairs;
}

static PyObject *summary(const Figures *f)
{
    const int64_t count = f->finite + f->nan + f->negative_inf + f->positive_inf;
    const int64_t counts[] = {
        count, f->nan, f->positive_inf, f->negative_inf, f->zero, f->negative + f->negative_inf,
        f->finite - f->zero - f->negative + f->positive_inf,
    };
    const int any = f->finite > 0; /* + 0.0 makes 0.0 of -0.0 */
    const double low = any ? f->low + 0.0 : NAN, high = any ? f->high + 0.0 : NAN;
    const double moments[] = {low, high, any ? fmin(fmax(f->mean, low), high) + 0.0 : NAN, f->abs_mean, f->std};
    PyObject *result = PyTuple_New(12);

    for (int i = 0; result && i < 12; i++) {
        PyObject *item = i < 7 ? PyLong_FromLongLong(counts[i]) : PyFloat_FromDouble(moments[i - 7]);
        if (!item)
            Py_CLEAR(result);
        else
            PyTuple_SetItem(result, i, item);
    }
    return result;
}

static PyObject *counts_tuple(const int64_t *counts, int64_t length)
{
    PyObject *result = PyTuple_New((Py_ssize_t)length);
    for (int64_t i = 0; result && i < length; i++) {
        PyObject *item = PyLong_FromLongLong(counts[i]);
        if (!item)
            Py_CLEAR(result);
        else
            PyTuple_SetItem(result, (Py_ssize_t)i, item);
    }
    return result;
}

/* What a call is given: (array, format) once or twice. 1, or 0 for what is left to numpy, or -1 with an error. */
static int take_arrays(PyObject *const *arguments, int tensors, Task *task, PyObject **capsules)
{
    int taken = 1;

    task->loops = chosen;
    for (int t = 0; t < tensors && taken == 1; t++)
        taken = take_array(arguments[2 * t], arguments[2 * t + 1], task, &capsules[t]);
    if (taken == 1)
        straighten(&task->view);
    return taken;
}

/* 0 with an error. Other threads of Python go on unless it is a matter of microseconds. */
static int run_task(const Task *task, Result *result, PyObject *threads_given)
{
    const long threads = PyLong_AsLong(threads_given);
    int done;

    if (threads == -1 && PyErr_Occurred())
        return 0;
    if (task->view.count <= BLOCK)
        done = run(task, result, 1);
    else {
        Py_BEGIN_ALLOW_THREADS
        done = run(task, result, threads < 0 ? 1 : threads > MAX_THREADS ? MAX_THREADS : (int)threads);
        Py_END_ALLOW_THREADS
    }
    if (!done)
        PyErr_NoMemory();
    return done;
}

/* One call, with all that has to be given back. */
typedef struct {
    Task task;
    Result result;
    PyObject *capsules[2];
    Pair *ranges, *tolerances;
} Call;

/* Arguments: an array and its format, once or twice, then ranges, tolerances and the number of threads. Results are as of
 * `find_kind`. */
static int compute(Call *call, int tensors, PyObject *const *arguments, Py_ssize_t count)
{
    Task *task = &call->task;
    Result *result = &call->result;

    if (count != 2 * tensors + 3) {
        PyErr_Format(PyExc_TypeError, "%d arguments are expected, not %zd", 2 * tensors + 3, count);
        return -1;
    }
    const int taken = take_arrays(arguments, tensors, task, call->capsules);
    if (taken != 1)
        return taken;
    arguments += 2 * tensors;
    task->ranges = call->ranges = take_pairs(arguments[0], &task->range_count);
    if (!task->ranges)
        return -1;
    task->tolerances = call->tolerances = take_pairs(arguments[1], &task->tolerance_count);
    if (!task->tolerances)
        return -1;
    result->within = malloc((size_t)(task->range_count + 1) * sizeof *result->within);
    result->close = malloc((size_t)task->tolerance_count + 1);
    if (!result->within || !result->close) {
        PyErr_NoMemory();
        return -1;
    }
    return run_task(task, result, arguments[2]) ? 1 : -1;
}

/* Gives back what the call holds. `answer` is not looked at unless all went well. */
static PyObject *finish(Call *call, int done, PyObject *answer)
{
    free(call->result.within);
    free(call->result.close);
    free(call->ranges);
    free(call->tolerances);
    Py_XDECREF(call->capsules[0]);
    Py_XDECREF(call->capsules[1]);
    return done == 0 ? Py_NewRef(Py_NotImplemented) : answer;
}

static PyObject *measure_one(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    Call call = {0};
    const Result *result = &call.result;
    const int done = compute(&call, 1, arguments, count);
    PyObject *answer = NULL;

    (void)module;
    if (done == 1)
        answer = Py_BuildValue("NN", summary(&result->figures), counts_tuple(result->within, call.task.range_count));
    return finish(&call, done, answer);
}

static PyObject *measure_two(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    Call call = {0};
    const Result *result = &call.result;
    const Change *change = &result->change;
    const int done = compute(&call, 2, arguments, count);
    PyObject *answer = NULL;

    (void)module;
    if (done == 1) {
        const double size = change->overflow ? INFINITY : change->change.count ? change->change.mean : NAN;
        const double base = change->base.count ? change->base.mean : NAN;
        PyObject *close = PyTuple_New((Py_ssize_t)call.task.tolerance_count);
        for (int64_t t = 0; close && t < call.task.tolerance_count; t++)
            PyTuple_SetItem(close, (Py_ssize_t)t, PyBool_FromLong(result->close[t]));
        answer = Py_BuildValue("NN(ddNNNd)", summary(&result->figures),
                               counts_tuple(result->within, call.task.range_count), size, base,
                               PyBool_FromLong(change->nan), PyBool_FromLong(change->inf), close, change->ratio);
    }
    return finish(&call, done, answer);
}

static PyObject *compare(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    Call call = {.task.comparing = 1};
    const Result *result = &call.result;
    const int done = compute(&call, 2, arguments, count);
    PyObject *answer = NULL;

    (void)module;
    if (done == 1)
        answer = Py_BuildValue("NNNL", summary(&result->figures), summary(&result->before),
                               summary(&result->difference), (long long)result->unequal);
    return finish(&call, done, answer);
}

static PyObject *instruction_sets(PyObject *module, PyObject *unused)
{
    PyObject *names = PyList_New(0);

    (void)module;
    (void)unused;
    for (const Level *level = levels; names && level->name; level++) {
        PyObject *name = PyUnicode_FromString(level->name);
        if (!name || PyList_Append(names, name) < 0)
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

static PyObject *choose(PyObject *module, PyObject *name)
{
    (void)module;
    if (!PyUnicode_Check(name))
        return PyErr_Format(PyExc_TypeError, "the name of an instruction set is expected");
    for (const Level *level = levels; level->name; level++)
        if (PyUnicode_CompareWithASCIIString(name, level->name) == 0) {
            chosen = level->loops;
            return Py_NewRef(Py_None);
        }
    return PyErr_Format(PyExc_ValueError, "this processor or this build does not have %R", name);
}

#define FAST(function) (PyCFunction)(void (*)(void))function, METH_FASTCALL

static PyMethodDef methods[] = {
    {"measure_one", FAST(measure_one), "(x, format, ranges, (), threads): as in numpy_pass, or NotImplemented."},
    {"measure_two", FAST(measure_two), "(x, format, p, format, ranges, tolerances, threads): as in numpy_pass, or NotImplemented."},
    {"compare", FAST(compare), "(x, format, p, format, (), (), threads): as in numpy_pass, or NotImplemented."},
    {"instruction_sets", instruction_sets, METH_NOARGS, "The names of those that can be chosen, best first."},
    {"choose", choose, METH_O, "The instruction set to use from now on, for tests; at first it is the best."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
    (void)module;
    find_levels();
    find_float8_values();
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)execute}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_kernel",
    .m_doc = "Figures of tensors in one pass; see _kernel.c.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__kernel(void)
{
    return PyModuleDef_Init(&definition);
}
