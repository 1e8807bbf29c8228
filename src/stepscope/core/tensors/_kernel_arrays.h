/* Arrays and numbers that Python hands over. The stable ABI of Python 3.10 has no buffer protocol, so arrays come by
 * `__array_struct__`, which is older and as fast.
 */

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
    case 'b': return *kind = BOOL, size == 1;
    case 'f': return *kind = size == 2 ? HALF : size == 4 ? FLOAT : DOUBLE, size == 2 || size == 4 || size == 8;
    case 'i': return *kind = size == 1 ? INT8 : size == 2 ? INT16 : size == 4 ? INT32 : INT64, size <= 8;
    case 'u': return *kind = size == 1 ? UINT8 : size == 2 ? UINT16 : size == 4 ? UINT32 : UINT64, size <= 8;
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
    const int known =
        found->two == 2 && found->nd <= MAX_DIMENSIONS ? find_kind(found, format, &task->kind[tensor]) : 0;
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

/* Elements side by side, by their address and number. As `find_kind`. */
static int take_memory(PyObject *address, PyObject *count, PyObject *format, Task *task)
{
    static const struct {
        const char *name;
        Kind kind;
        int size;
    } formats[] = {{"float32", FLOAT, 4}, {"bfloat16", BRAIN, 2}, {"float16", HALF, 2}, {"float64", DOUBLE, 8}};
    Memory *memory = &task->view.memory[0];

    memory->data = PyLong_AsVoidPtr(address);
    task->view.count = task->view.shape[0] = PyLong_AsLongLong(count);
    task->view.dimensions = task->view.tensors = 1;
    if (PyErr_Occurred() || PyUnicode_GetLength(format) < 0)
        return -1;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (PyUnicode_CompareWithASCIIString(format, formats[i].name) == 0) {
            task->kind[0] = formats[i].kind;
            memory->stride[0] = memory->size = formats[i].size;
            return task->view.count == 0 || (task->view.count > 0 && memory->data);
        }
    return 0;
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
