/* All figures that one call asks for: the tensors are cut into chunks of blocks, which threads take in turns.
 *
 * Invariant: chunks and blocks lie at fixed places and are merged in their order, so that the number of threads does
 * not show in the figures.
 */

#define CHUNK (64 * BLOCK)
#define CHUNKS_PER_THREAD 2
#define MAX_THREADS 8 /* memory is the limit from here on */

/* clang-format off */
typedef enum {
    BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64,
    HALF, FLOAT, DOUBLE, BRAIN, FLOAT8_E4M3, FLOAT8_E5M2,
} Kind;
/* clang-format on */

typedef struct {
    double first, second;
} Pair;

typedef struct {
    View view;
    Kind kind[2];
    const Loops *loops;
    int comparing; /* `before`, `difference` and `unequal` are asked for, instead of `change` and `close` */
    int64_t range_count, tolerance_count;
    const Pair *ranges, *tolerances;
} Task;

typedef struct {
    Figures figures, before, difference;
    int64_t unequal;
    Change change;
    int64_t *within;      /* one for each range */
    unsigned char *close; /* one for each tolerance */
} Result;

/* Memory for one block each. */
typedef struct {
    double *elements[2], *values[2], *change, *spare;
} Scratch;

static float float8_values[2][256];

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

static int is_double(Kind kind)
{
    return kind == INT32 || kind == INT64 || kind == UINT32 || kind == UINT64 || kind == DOUBLE;
}

/* A block of a kind that is not `is_double`; where it is, or in `to`. */
static const float *as_floats(const Loops *loops, Kind kind, const void *from, int64_t n, float *to)
{
    switch (kind) {
    case FLOAT: return from;
    case BOOL: loops->bool_to_float(from, n, to); break;
    case INT8: loops->int8_to_float(from, n, to); break;
    case INT16: loops->int16_to_float(from, n, to); break;
    case UINT8: loops->uint8_to_float(from, n, to); break;
    case UINT16: loops->uint16_to_float(from, n, to); break;
    case HALF: loops->half_to_float(from, n, to); break;
    case BRAIN: loops->brain_to_float(from, n, to); break;
    default:
        for (int64_t i = 0; i < n; i++)
            to[i] = float8_values[kind == FLOAT8_E5M2][((const uint8_t *)from)[i]];
    }
    return to;
}

/* A block of any kind; `spare` is for a block of floats. */
static const double *as_doubles(const Loops *loops, Kind kind, const void *from, int64_t n, double *to, void *spare)
{
    switch (kind) {
    case DOUBLE: return from;
    case INT32: loops->int32_to_double(from, n, to); break;
    case INT64: loops->int64_to_double(from, n, to); break;
    case UINT32: loops->uint32_to_double(from, n, to); break;
    case UINT64: loops->uint64_to_double(from, n, to); break;
    default: loops->float_to_double(as_floats(loops, kind, from, n, spare), n, to);
    }
    return to;
}

/* The floats that lie between two doubles are those between these two floats. */
static float float_from(double start)
{
    const float near = (float)start;
    return (double)near < start ? nextafterf(near, INFINITY) : near;
}

static float float_to(double end)
{
    const float near = (float)end;
    return (double)near > end ? nextafterf(near, -INFINITY) : near;
}

static void count_within(const Task *task, Result *result, const Block *x)
{
    for (int64_t r = 0; r < task->range_count; r++) {
        const double start = task->ranges[r].first, end = task->ranges[r].second;
        result->within[r] += x->floats
                                 ? task->loops->within_float(x->floats, x->count, float_from(start), float_to(end))
                                 : task->loops->within_double(x->doubles, x->count, start, end);
    }
}

static Block read_block(const Task *task, int tensor, const void *from, int64_t n, int as_double, Scratch *scratch)
{
    const Kind kind = task->kind[tensor];
    double *to = scratch->values[tensor];

    if (as_double)
        return (Block){NULL, as_doubles(task->loops, kind, from, n, to, scratch->spare), n};
    return (Block){as_floats(task->loops, kind, from, n, (float *)to), NULL, n};
}

static void one_block(const Task *task, Result *result, int64_t start, int64_t n, Scratch *scratch)
{
    const void *from = elements(&task->view, 0, start, n, scratch->elements[0]);
    const Block x = read_block(task, 0, from, n, is_double(task->kind[0]), scratch);

    count_within(task, result, &x);
    add_block(&result->figures, task->loops, &x, scratch->spare);
}

/* x - p for 64-bit integers, exact before it is rounded; NULL for other kinds. */
static const double *exact_change(const Task *task, const void *const *from, int64_t n, double *out, int64_t *unequal)
{
    if (task->kind[0] != task->kind[1] || (task->kind[0] != INT64 && task->kind[0] != UINT64))
        return NULL;
    *unequal += (task->kind[0] == INT64) ? task->loops->int64_distance(from[0], from[1], n, out)
                                         : task->loops->uint64_distance(from[0], from[1], n, out);
    return out;
}

static void two_blocks(const Task *task, Result *result, int64_t start, int64_t n, Scratch *scratch)
{
    const Loops *loops = task->loops;
    const int as_double = is_double(task->kind[0]) || is_double(task->kind[1]);
    const void *from[2];
    Block block[2];

    for (int t = 0; t < 2; t++) {
        from[t] = elements(&task->view, t, start, n, scratch->elements[t]);
        block[t] = read_block(task, t, from[t], n, as_double, scratch);
    }
    const Block *x = &block[0], *p = &block[1];
    const double *given = exact_change(task, from, n, scratch->change, &result->unequal);
    count_within(task, result, x);
    add_block(&result->figures, loops, x, scratch->spare);
    if (task->comparing) {
        const Block change = {NULL, scratch->change, n};
        if (!given)
            result->unequal += as_double ? loops->subtract_double(x->doubles, p->doubles, n, scratch->change)
                                         : loops->subtract_float(x->floats, p->floats, n, scratch->change);
        if (task->kind[0] == BOOL && task->kind[1] == BOOL)
            for (int64_t i = 0; i < n; i++)
                scratch->change[i] = fabs(scratch->change[i]);
        add_block(&result->before, loops, p, scratch->spare);
        add_block(&result->difference, loops, &change, scratch->spare);
        return;
    }
    add_change(&result->change, loops, x, p, given, scratch->spare);
    for (int64_t t = 0; t < task->tolerance_count; t++) {
        const double relative = task->tolerances[t].first, absolute = task->tolerances[t].second;
        if (result->close[t])
            result->close[t] = given       ? loops->close_given(given, p->doubles, n, relative, absolute)
                               : as_double ? loops->close_double(x->doubles, p->doubles, n, relative, absolute)
                                           : loops->close_float(x->floats, p->floats, n, relative, absolute);
    }
}

static void start_result(const Task *task, Result *result)
{
    start_figures(&result->figures);
    start_figures(&result->before);
    start_figures(&result->difference);
    result->unequal = 0;
    result->change = (Change){.ratio = NAN};
    memset(result->within, 0, (size_t)task->range_count * sizeof *result->within);
    memset(result->close, 1, (size_t)task->tolerance_count);
}

static void merge_results(const Task *task, Result *to, const Result *from)
{
    merge_figures(&to->figures, &from->figures);
    merge_figures(&to->before, &from->before);
    merge_figures(&to->difference, &from->difference);
    to->unequal += from->unequal;
    merge_changes(&to->change, &from->change);
    for (int64_t r = 0; r < task->range_count; r++)
        to->within[r] += from->within[r];
    for (int64_t t = 0; t < task->tolerance_count; t++)
        to->close[t] &= from->close[t];
}

/* What threads share. */
typedef struct {
    const Task *task;
    Result *results; /* one for each chunk */
    int64_t chunks;
    int64_t next; /* the chunk to be taken next */
    int failed;   /* no memory */
} Work;

static void *work_on_chunks(void *shared)
{
    Work *work = shared;
    const Task *task = work->task;
    const int64_t count = task->view.count;
    const size_t block = (size_t)(count < BLOCK ? count : BLOCK);
    const int tensors = task->view.tensors;
    double *memory =
        malloc((tensors == 1 ? 3 : 6) * block * sizeof(double)); /* no page of it is touched without need */

    if (!memory) {
        __atomic_store_n(&work->failed, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    Scratch scratch = {{memory, NULL}, {memory + block, NULL}, NULL, memory + 2 * block};
    if (tensors == 2) {
        scratch.elements[1] = memory + 3 * block;
        scratch.values[1] = memory + 4 * block;
        scratch.change = memory + 5 * block;
    }
    const FloatingPoint before = plain_floating_point();
    int64_t chunk;
    while ((chunk = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED)) < work->chunks) {
        const int64_t start = chunk * CHUNK, end = count - start < CHUNK ? count : start + CHUNK;
        Result *result = &work->results[chunk];
        start_result(task, result);
        for (int64_t at = start; at < end; at += BLOCK) {
            const int64_t n = end - at < BLOCK ? end - at : BLOCK;
            (tensors == 1 ? one_block : two_blocks)(task, result, at, n, &scratch);
        }
    }
    restore_floating_point(before);
    free(memory);
    return NULL;
}

static int cores(void)
{
#ifdef __linux__
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return CPU_COUNT(&allowed);
#endif
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

/* Threads live no longer than the call, so a process may fork at any time. Signals are left to the caller. */
static void share_work(Work *work, int threads)
{
    pthread_t helpers[MAX_THREADS];
    sigset_t all, before;
    int started = 0;

    if (work->chunks >= 2 * CHUNKS_PER_THREAD) {
        const int64_t useful = work->chunks / CHUNKS_PER_THREAD;
        threads = threads > 0 ? threads : cores();
        threads = threads > MAX_THREADS ? MAX_THREADS : threads;
        threads = threads > useful ? (int)useful : threads;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        while (started < threads - 1 && pthread_create(&helpers[started], NULL, work_on_chunks, work) == 0)
            started++;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    work_on_chunks(work);
    while (started > 0)
        pthread_join(helpers[--started], NULL);
}

/* Fills `total`, whose arrays are there; 0 without memory. */
static int run(const Task *task, Result *total, int threads)
{
    Work work = {task, NULL, (task->view.count + CHUNK - 1) / CHUNK, 0, 0};
    const size_t chunks = (size_t)work.chunks, ranges = (size_t)task->range_count,
                 closes = (size_t)task->tolerance_count;

    start_result(task, total);
    if (chunks == 0)
        return 1;
    if (chunks == 1) {
        work.results = total;
        share_work(&work, 1);
        return !work.failed;
    }
    char *memory = malloc(chunks * (sizeof(Result) + ranges * sizeof(int64_t) + closes));
    if (!memory)
        return 0;
    work.results = (Result *)memory;
    for (size_t c = 0; c < chunks; c++) {
        work.results[c].within = (int64_t *)(memory + chunks * sizeof(Result)) + c * ranges;
        work.results[c].close =
            (unsigned char *)(memory + chunks * (sizeof(Result) + ranges * sizeof(int64_t))) + c * closes;
    }
    share_work(&work, threads);
    for (size_t c = 0; c < chunks && !work.failed; c++)
        merge_results(task, total, &work.results[c]);
    free(memory);
    return !work.failed;
}

/* Whether no element is NaN or infinite; stops at the first block with one. */
static int all_finite(const Task *task)
{
    const Loops *loops = task->loops;
    const Kind kind = task->kind[0];
    double scratch[BLOCK];
    float floats[BLOCK];
    int finite = 1;

    for (int64_t start = 0; finite && start < task->view.count; start += BLOCK) {
        const int64_t rest = task->view.count - start, n = rest < BLOCK ? rest : BLOCK;
        const void *from = elements(&task->view, 0, start, n, scratch);
        switch (kind) {
        case HALF: finite = loops->finite16(from, n, 0x7c00); break;
        case BRAIN: finite = loops->finite16(from, n, 0x7f80); break;
        case FLOAT: finite = loops->finite32(from, n, 0x7f800000); break;
        case DOUBLE: finite = loops->finite64(from, n, 0x7ff0000000000000); break;
        case FLOAT8_E4M3:
        case FLOAT8_E5M2: {
            const void *values = as_floats(loops, kind, from, n, floats);
            finite = loops->finite32(values, n, 0x7f800000);
            break;
        }
        default: return 1; /* integers */
        }
    }
    return finite;
}

/* The sums of the sizes of x, of x - p, and of p, the last two where there is a p; not finite where an element is not.
 * In one thread. 0 for kinds that it does not take. */
static int sum_sizes(const Task *task, double *out)
{
    const Loops *loops = task->loops;
    const int tensors = task->view.tensors;
    double scratch[2][BLOCK], values[2][BLOCK];
    float floats[2][BLOCK];
    int in_float = 1;

    for (int t = 0; t < tensors; t++) {
        if (task->kind[t] != HALF && task->kind[t] != BRAIN && task->kind[t] != FLOAT && task->kind[t] != DOUBLE)
            return 0;
        in_float &= task->kind[t] != DOUBLE;
    }
    out[0] = out[1] = out[2] = 0;
    for (int64_t start = 0; start < task->view.count; start += BLOCK) {
        const int64_t rest = task->view.count - start, n = rest < BLOCK ? rest : BLOCK;
        const void *block[2] = {NULL, NULL};
        for (int t = 0; t < tensors; t++) {
            const void *from = elements(&task->view, t, start, n, scratch[t]);
            if (in_float)
                block[t] = as_floats(loops, task->kind[t], from, n, floats[t]);
            else
                block[t] = as_doubles(loops, task->kind[t], from, n, values[t], floats[t]);
        }
        if (tensors == 2 && in_float)
            loops->sizes_float(block[0], block[1], n, out);
        else if (tensors == 2)
            loops->sizes_double(block[0], block[1], n, out);
        else
            out[0] += in_float ? loops->size_float(block[0], n) : loops->size_double(block[0], n);
    }
    return 1;
}
