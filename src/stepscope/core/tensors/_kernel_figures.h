/* Running figures over blocks of a tensor, as moments.py has them: the same blocks give the same figures as there,
 * but for rounding.
 */

#define LANES 8
#define BLOCK 4096  /* elements that are taken in at a time; with LANES it decides over the last bits */
#define TINY 1e-9   /* as in numpy_pass.py */
#define NARROW 1e-3 /* as in moments.py */
#define SQUARES_FIT(largest) (1e-100 < (largest) && (largest) < 1e100)

/* Of the finite elements of a block, but for `nan` and `positive_inf`. */
typedef struct {
    double low, high, sum, square, size; /* `size`: of the absolute values */
    int64_t finite, zero, negative, nan, positive_inf;
} Sums;

typedef struct {
    double change, base, ratio;
} ChangeSums;

/* The loops for one instruction set. */
typedef struct {
    void (*sums_float)(const float *, int64_t, Sums *);
    void (*deviations_float)(const float *, int64_t, double, double *, double *);
    int64_t (*within_float)(const float *, int64_t, float, float);
    void (*changes_float)(const float *, const float *, int64_t, ChangeSums *);
    int (*close_float)(const float *, const float *, int64_t, double, double);
    int64_t (*subtract_float)(const float *, const float *, int64_t, double *);
    void (*sums_double)(const double *, int64_t, Sums *);
    void (*deviations_double)(const double *, int64_t, double, double *, double *);
    int64_t (*within_double)(const double *, int64_t, double, double);
    void (*changes_double)(const double *, const double *, int64_t, ChangeSums *);
    int (*close_double)(const double *, const double *, int64_t, double, double);
    int64_t (*subtract_double)(const double *, const double *, int64_t, double *);
    void (*changes_given)(const double *, const double *, int64_t, ChangeSums *);
    int (*close_given)(const double *, const double *, int64_t, double, double);
    int64_t (*int64_distance)(const int64_t *, const int64_t *, int64_t, double *);
    int64_t (*uint64_distance)(const uint64_t *, const uint64_t *, int64_t, double *);
    void (*scale)(const double *, int64_t, double, double, double *);
    void (*float_to_double)(const float *, int64_t, double *);
    void (*half_to_float)(const uint16_t *, int64_t, float *);
    void (*brain_to_float)(const uint16_t *, int64_t, float *);
    void (*bool_to_float)(const uint8_t *, int64_t, float *);
    void (*int8_to_float)(const int8_t *, int64_t, float *);
    void (*uint8_to_float)(const uint8_t *, int64_t, float *);
    void (*int16_to_float)(const int16_t *, int64_t, float *);
    void (*uint16_to_float)(const uint16_t *, int64_t, float *);
    void (*int32_to_double)(const int32_t *, int64_t, double *);
    void (*uint32_to_double)(const uint32_t *, int64_t, double *);
    void (*int64_to_double)(const int64_t *, int64_t, double *);
    void (*uint64_to_double)(const uint64_t *, int64_t, double *);
    double (*size_float)(const float *, int64_t);
    double (*size_double)(const double *, int64_t);
    void (*sizes_float)(const float *, const float *, int64_t, double *);
    void (*sizes_double)(const double *, const double *, int64_t, double *);
    int (*finite16)(const uint16_t *, int64_t, uint16_t);
    int (*finite32)(const uint32_t *, int64_t, uint32_t);
    int (*finite64)(const uint64_t *, int64_t, uint64_t);
} Loops;

static double total(const double *lanes)
{
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

typedef struct {
    double low, high, mean, abs_mean, std;                           /* of the finite elements */
    int64_t finite, zero, negative, nan, negative_inf, positive_inf; /* zero and negative: of the finite ones */
} Figures;

/* The mean of what never is negative. */
typedef struct {
    double mean;
    int64_t count;
} Mean;

static void start_figures(Figures *figures)
{
    *figures = (Figures){.low = INFINITY, .high = -INFINITY, .mean = NAN, .abs_mean = NAN, .std = NAN};
}

/* Unlike hypot, the same to the last bit with every C library. */
static double root_of_squares(double a, double b, double c)
{
    const double largest = fmax(fmax(fabs(a), fabs(b)), fabs(c));
    int exponent = 0;

    if (largest == 0)
        return 0;
    if (!SQUARES_FIT(largest)) {
        frexp(largest, &exponent);
        a = ldexp(a, -exponent);
        b = ldexp(b, -exponent);
        c = ldexp(c, -exponent);
    }
    return ldexp(sqrt(a * a + b * b + c * c), exponent);
}

static void merge_moments(Figures *figures, int64_t count, double mean, double abs_mean, double std)
{
    if (figures->finite == 0) {
        figures->mean = mean;
        figures->abs_mean = abs_mean;
        figures->std = std;
        figures->finite = count;
        return;
    }
    const double all = (double)(figures->finite + count);
    const double old = (double)figures->finite / all, new = (double)count / all;
    const double half = mean / 2 - figures->mean / 2; /* the difference itself may be beyond the largest double */
    figures->std = root_of_squares(figures->std * sqrt(old), std * sqrt(new), half * (2 * sqrt(old * new)));
    figures->mean = figures->mean + half * new + half * new;
    figures->abs_mean += (abs_mean - figures->abs_mean) * new;
    figures->finite += count;
}

static void merge_figures(Figures *to, const Figures *from)
{
    to->zero += from->zero;
    to->negative += from->negative;
    to->nan += from->nan;
    to->negative_inf += from->negative_inf;
    to->positive_inf += from->positive_inf;
    if (from->finite) {
        to->low = fmin(to->low, from->low);
        to->high = fmax(to->high, from->high);
        merge_moments(to, from->finite, from->mean, from->abs_mean, from->std);
    }
}

static void merge_means(Mean *to, int64_t count, double mean)
{
    if (count) {
        to->count += count;
        to->mean += (mean - to->mean) * ((double)count / (double)to->count);
    }
}

/* One block of elements, either floats or doubles. */
typedef struct {
    const float *floats;
    const double *doubles;
    int64_t count;
} Block;

static void block_sums(const Loops *loops, const Block *block, Sums *sums)
{
    if (block->floats)
        loops->sums_float(block->floats, block->count, sums);
    else
        loops->sums_double(block->doubles, block->count, sums);
}

/* Mean, mean of the absolute values and standard deviation of a block whose squares fit. */
static void block_moments(const Loops *loops, const Block *block, const Sums *sums, double *moments)
{
    const double count = (double)sums->finite, mean_square = sums->square / count;
    double mean = sums->sum / count, variance = mean_square - mean * mean;

    if (variance < NARROW * mean_square) { /* digits cancelled */
        double sum, square;
        if (block->floats)
            loops->deviations_float(block->floats, block->count, mean, &sum, &square);
        else
            loops->deviations_double(block->doubles, block->count, mean, &sum, &square);
        const double shift = sum / count;
        variance = fmax(0, square / count - shift * shift);
        mean += shift;
    }
    moments[0] = mean;
    moments[1] = sums->low < 0 && 0 < sums->high ? sums->size / count : fabs(mean);
    moments[2] = sqrt(variance);
}

/* The power of two that brings `largest` near 1: two factors, since one double can not hold all of them. */
static int scale_to_one(double largest, double *first, double *second)
{
    int exponent;

    frexp(largest, &exponent);
    *first = ldexp(1, -(exponent / 2));
    *second = ldexp(1, -(exponent - exponent / 2));
    return exponent;
}

/* `scratch`: for as many doubles as the block has. */
static void add_block(Figures *figures, const Loops *loops, const Block *block, double *scratch)
{
    Sums sums;
    double moments[3];

    block_sums(loops, block, &sums);
    figures->nan += sums.nan;
    figures->positive_inf += sums.positive_inf;
    figures->negative_inf += block->count - sums.finite - sums.nan - sums.positive_inf;
    if (sums.finite == 0)
        return;
    figures->zero += sums.zero;
    figures->negative += sums.negative;
    figures->low = fmin(figures->low, sums.low);
    figures->high = fmax(figures->high, sums.high);
    const double largest = fmax(-sums.low, sums.high);
    if (sums.low == sums.high) {
        moments[0] = sums.low;
        moments[1] = fabs(sums.low);
        moments[2] = 0;
    } else if (block->floats || SQUARES_FIT(largest))
        block_moments(loops, block, &sums, moments);
    else {
        const Block scaled = {NULL, scratch, block->count};
        double first, second;
        const int exponent = scale_to_one(largest, &first, &second);
        const double limit = ldexp(largest, -exponent);
        loops->scale(block->doubles, block->count, first, second, scratch);
        block_sums(loops, &scaled, &sums);
        block_moments(loops, &scaled, &sums, moments);
        for (int i = 0; i < 3; i++)
            moments[i] = ldexp(fmax(-limit, fmin(moments[i], limit)), exponent);
    }
    merge_moments(figures, sums.finite, moments[0], moments[1], moments[2]);
}

/* Of a change to a previous value. */
typedef struct {
    Mean change, base;
    double ratio; /* the largest; NaN where there is none */
    int nan, inf, overflow;
} Change;

/* The mean of `n` finite values that are not negative. Overwrites them. */
static void add_mean(Mean *to, const Loops *loops, double *values, int64_t n)
{
    Sums sums;
    double first, second;

    if (n == 0)
        return;
    loops->sums_double(values, n, &sums);
    if (isfinite(sums.size)) {
        merge_means(to, n, sums.size / (double)n);
        return;
    }
    const int exponent = scale_to_one(sums.high, &first, &second);
    loops->scale(values, n, first, second, values);
    loops->sums_double(values, n, &sums);
    merge_means(to, n, ldexp(fmin(sums.size / (double)n, sums.high), exponent));
}

static double element(const Block *block, int64_t i)
{
    return block->floats ? (double)block->floats[i] : block->doubles[i];
}

/* A block in which something is not finite, or whose sums are not. */
static void add_awkward_change(Change *to, const Loops *loops, const Block *x, const Block *p, const double *given,
                               double *scratch)
{
    const int64_t n = x->count;
    int64_t kept = 0;

    for (int64_t i = 0; i < n; i++) {
        const double base = element(p, i);
        to->nan |= base != base;
        to->inf |= fabs(base) == INFINITY;
        scratch[kept] = fabs(base);
        kept += base - base == 0;
    }
    add_mean(&to->base, loops, scratch, kept);
    kept = 0;
    for (int64_t i = 0; i < n; i++) {
        const double value = element(x, i), base = element(p, i);
        const double size = fabs(given ? given[i] : value - base), ratio = size / (fabs(base) + TINY);
        if (value - value != 0 || base - base != 0)
            continue;
        to->overflow |= size == INFINITY;
        if (size == INFINITY)
            continue;
        scratch[kept++] = size;
        if (!(ratio <= to->ratio))
            to->ratio = ratio;
    }
    add_mean(&to->change, loops, scratch, kept);
}

/* The change from a block `p` to a block `x` of the same type; `given`: the differences, where they are known. */
static void add_change(Change *to, const Loops *loops, const Block *x, const Block *p, const double *given,
                       double *scratch)
{
    const int64_t n = x->count;
    ChangeSums sums = {0, 0, fmax(to->ratio, 0)};

    if (given)
        loops->changes_given(given, p->doubles, n, &sums);
    else if (x->floats)
        loops->changes_float(x->floats, p->floats, n, &sums);
    else
        loops->changes_double(x->doubles, p->doubles, n, &sums);
    if (isfinite(sums.change) && isfinite(sums.base)) {
        merge_means(&to->change, n, sums.change / (double)n);
        merge_means(&to->base, n, sums.base / (double)n);
        to->ratio = sums.ratio;
    } else
        add_awkward_change(to, loops, x, p, given, scratch);
}

static void merge_changes(Change *to, const Change *from)
{
    merge_means(&to->change, from->change.count, from->change.mean);
    merge_means(&to->base, from->base.count, from->base.mean);
    if (!isnan(from->ratio) && !(from->ratio <= to->ratio))
        to->ratio = from->ratio;
    to->nan |= from->nan;
    to->inf |= from->inf;
    to->overflow |= from->overflow;
}
