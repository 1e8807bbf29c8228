/* A tensor, or two of one shape, in memory of any strides, as one row of elements.
 *
 * Invariant: the order is that of the first tensor's memory, so that it is read forwards; it is the same for both.
 */

#define MAX_DIMENSIONS 64 /* numpy has 64 at most */

typedef struct {
    const char *data;
    int64_t stride[MAX_DIMENSIONS]; /* bytes */
    int size;                       /* bytes of an element: 1, 2, 4 or 8 */
} Memory;

typedef struct {
    int dimensions, tensors;
    int64_t count;
    int64_t shape[MAX_DIMENSIONS];
    Memory memory[2];
} View;

static void swap_dimensions(View *view, int a, int b)
{
    const int64_t length = view->shape[a];
    view->shape[a] = view->shape[b];
    view->shape[b] = length;
    for (int t = 0; t < view->tensors; t++) {
        int64_t *stride = view->memory[t].stride, other = stride[a];
        stride[a] = stride[b];
        stride[b] = other;
    }
}

/* Leaves as few dimensions as the layout needs, in the order of the first tensor's memory, whose strides lose their
 * signs. */
static void straighten(View *view)
{
    int64_t *shape = view->shape;
    int used = 0;

    view->count = 1;
    for (int d = 0; d < view->dimensions; d++)
        view->count *= shape[d];
    if (view->count == 0)
        return;
    for (int d = 0; d < view->dimensions; d++) {
        if (shape[d] == 1)
            continue;
        const int backwards = view->memory[0].stride[d] < 0;
        shape[used] = shape[d];
        for (int t = 0; t < view->tensors; t++) {
            Memory *memory = &view->memory[t];
            const int64_t stride = memory->stride[d];
            memory->stride[used] = backwards ? -stride : stride;
            if (backwards)
                memory->data += (shape[d] - 1) * stride;
        }
        used++;
    }
    if (used == 0) { /* a single element */
        shape[used++] = 1;
        for (int t = 0; t < view->tensors; t++)
            view->memory[t].stride[0] = view->memory[t].size;
    }
    for (int d = 1; d < used; d++)
        for (int e = d; e > 0 && view->memory[0].stride[e - 1] < view->memory[0].stride[e]; e--)
            swap_dimensions(view, e - 1, e);
    int last = 0; /* dimensions that follow each other without a gap become one */
    for (int d = 1; d < used; d++) {
        int joined = 1;
        for (int t = 0; t < view->tensors; t++)
            joined &= view->memory[t].stride[last] == view->memory[t].stride[d] * shape[d];
        if (joined)
            shape[last] *= shape[d];
        else
            shape[++last] = shape[d];
        for (int t = 0; t < view->tensors; t++)
            view->memory[t].stride[last] = view->memory[t].stride[d];
    }
    view->dimensions = last + 1;
}

#define GATHER(TYPE)                \
    for (int64_t i = 0; i < n; i++) \
        memcpy(to + i * (int64_t)sizeof(TYPE), from + i * stride, sizeof(TYPE))

static void gather(char *to, const char *from, int64_t stride, int64_t n, int size)
{
    if (stride == size)
        memcpy(to, from, (size_t)(n * size));
    else if (size == 1)
        GATHER(uint8_t);
    else if (size == 2)
        GATHER(uint16_t);
    else if (size == 4)
        GATHER(uint32_t);
    else
        GATHER(uint64_t);
}

/* `n` elements from number `start` on, side by side and aligned: where they are, or copied to `scratch`. */
static const void *elements(const View *view, int tensor, int64_t start, int64_t n, void *scratch)
{
    const Memory *memory = &view->memory[tensor];
    const int last = view->dimensions - 1, size = memory->size;
    const char *from = memory->data;
    char *to = scratch;
    int64_t at[MAX_DIMENSIONS];

    for (int d = last; d >= 0; d--) {
        at[d] = start % view->shape[d];
        start /= view->shape[d];
        from += at[d] * memory->stride[d];
    }
    const int64_t length = view->shape[last], stride = memory->stride[last];
    if (stride == size && at[last] + n <= length && (uintptr_t)from % (uintptr_t)size == 0)
        return from;
    for (;;) {
        const int64_t run = length - at[last];
        const int64_t now = run < n ? run : n;
        gather(to, from, stride, now, size);
        to += now * size;
        n -= now;
        if (n == 0)
            return scratch;
        from -= at[last] * stride;
        at[last] = 0;
        for (int d = last - 1; d >= 0; d--) {
            from += memory->stride[d];
            if (++at[d] < view->shape[d])
                break;
            from -= view->shape[d] * memory->stride[d];
            at[d] = 0;
        }
    }
}
