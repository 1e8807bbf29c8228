/* The figures of tensors in one pass: what numpy_pass.py does, for the usual types, many times as fast.
 *
 * Here is what Python sees, in the stable ABI of Python 3.10. The parts, each of which knows those before it:
 *
 *     _kernel_figures.h   figures of blocks, added up
 *     _kernel_levels.h    the loops over a block for each instruction set, from _kernel_loops.h and _kernel_sums.h
 *     _kernel_view.h      blocks in memory of any strides
 *     _kernel_chunks.h    the whole pass, shared among threads
 *     _kernel_arrays.h    what Python hands over
 *
 * Invariants: inputs are only read; the figures don't depend on the instruction set or the number of threads.
 */

#define _GNU_SOURCE 1 /* sched_getaffinity */
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

#include "_kernel_figures.h"

#include "_kernel_levels.h"

#include "_kernel_view.h"

#include "_kernel_chunks.h"

#include "_kernel_arrays.h"

static PyObject *summary(const Figures *f)
{
    const int64_t count = f->finite + f->nan + f->negative_inf + f->positive_inf;
    const int64_t counts[] = {
        count,
        f->nan,
        f->positive_inf,
        f->negative_inf,
        f->zero,
        f->negative + f->negative_inf,
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
        Py_BEGIN_ALLOW_THREADS done = run(task, result,
                                          threads < 0             ? 1
                                          : threads > MAX_THREADS ? MAX_THREADS
                                                                  : (int)threads);
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

/* Arguments: an array and its format, once or twice, then ranges, tolerances and the number of threads. Results are
 * as of `find_kind`. */
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

/* Of what was taken as of `find_kind`. */
static PyObject *whether_finite(const Task *task, int taken)
{
    int answer = 0;

    if (taken == 1 && task->view.count <= BLOCK)
        answer = all_finite(task);
    else if (taken == 1) {
        Py_BEGIN_ALLOW_THREADS answer = all_finite(task);
        Py_END_ALLOW_THREADS
    }
    return taken < 0 ? NULL : taken ? PyBool_FromLong(answer) : Py_NewRef(Py_NotImplemented);
}

static PyObject *finite_or_not(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    Task task = {0};
    PyObject *capsule = NULL;

    (void)module;
    if (count != 2)
        return PyErr_Format(PyExc_TypeError, "2 arguments are expected, not %zd", count);
    PyObject *result = whether_finite(&task, take_arrays(arguments, 1, &task, &capsule));
    Py_XDECREF(capsule);
    return result;
}

static PyObject *finite_at(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    Task task = {.loops = chosen};

    (void)module;
    if (count != 3)
        return PyErr_Format(PyExc_TypeError, "3 arguments are expected, not %zd", count);
    return whether_finite(&task, take_memory(arguments[0], arguments[1], arguments[2], &task));
}

static PyObject *sizes(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    Task task = {0};
    PyObject *capsules[2] = {NULL, NULL};
    double sums[3];

    (void)module;
    if (count != 2 && count != 4)
        return PyErr_Format(PyExc_TypeError, "2 or 4 arguments are expected, not %zd", count);
    int taken = take_arrays(arguments, (int)count / 2, &task, capsules);
    if (taken == 1) {
        Py_BEGIN_ALLOW_THREADS taken = sum_sizes(&task, sums);
        Py_END_ALLOW_THREADS
    }
    Py_XDECREF(capsules[0]);
    Py_XDECREF(capsules[1]);
    return taken < 0 ? NULL : taken ? Py_BuildValue("ddd", sums[0], sums[1], sums[2]) : Py_NewRef(Py_NotImplemented);
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

#define FAST(function) (PyCFunction)(void (*)(void)) function, METH_FASTCALL

static PyMethodDef methods[] = {
    {"measure_one", FAST(measure_one), "(x, format, ranges, (), threads): as in numpy_pass, or NotImplemented."},
    {"measure_two", FAST(measure_two),
     "(x, format, p, format, ranges, tolerances, threads): as in numpy_pass, or NotImplemented."},
    {"compare", FAST(compare), "(x, format, p, format, (), (), threads): as in numpy_pass, or NotImplemented."},
    {"finite", FAST(finite_or_not), "(x, format): whether no element is NaN or infinite, or NotImplemented."},
    {"finite_at", FAST(finite_at),
     "(address, count, format): the same of elements side by side in memory that the caller keeps."},
    {"sizes", FAST(sizes),
     "(x, format[, p, format]): the sums of the sizes of x, of x - p, and of p, or NotImplemented."},
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
    PyModuleDef_HEAD_INIT, .m_name = "_kernel", .m_doc = "Figures of tensors in one pass; see _kernel.c.",
    .m_methods = methods,  .m_slots = slots,
};

PyMODINIT_FUNC PyInit__kernel(void)
{
    return PyModuleDef_Init(&definition);
}
