/* The loops over blocks of one type, for one instruction set. Included by _kernel_loops.h for float and for double.
 *
 * Given: T the type of the elements; V vectors of COUNT of them, V_UNALIGNED the same in memory, I vectors of
 * integers of that size; WIDE(from) WIDTH of them as doubles; MIN and MAX, which give the second where the first is
 * NaN; N(name) the names of the functions.
 */

#define CHAINS 4 /* additions under way at a time */
#define STEP (COUNT > LANES ? COUNT : LANES)
#define ROWS (STEP / COUNT)

/* `careful`: some elements are not finite; they are counted, and left out of all sums. */
static inline ALWAYS TARGET void N(sums_of)(const T *x, int64_t n, Sums *out, const int careful)
{
    V low[ROWS], high[ROWS];
    I zero[ROWS], negative[ROWS], finite[ROWS], nan[ROWS], infinite[ROWS];
    L(doubles) sum[PARTS], square[PARTS], size[PARTS];
    T lows[STEP], highs[STEP];
    double sums[LANES], squares[LANES], sizes[LANES];
    int64_t i = 0;

    for (int r = 0; r < ROWS; r++) {
        low[r] = (V){0} + (T)INFINITY;
        high[r] = (V){0} - (T)INFINITY;
        zero[r] = negative[r] = finite[r] = nan[r] = infinite[r] = (I){0};
    }
    for (int u = 0; u < PARTS; u++)
        sum[u] = square[u] = size[u] = (L(doubles)){0};
    for (; i + STEP <= n; i += STEP) {
        PREFETCH(x + i, STEP * sizeof(T));
        for (int r = 0; r < ROWS; r++) {
            V v = LOAD(V_UNALIGNED, x + i + r * COUNT);
            zero[r] -= (I)(v == 0);
            if (careful) {
                nan[r] -= (I)(v != v);
                infinite[r] -= (I)(v == (T)INFINITY);
                v += v - v; /* NaN unless finite */
                finite[r] -= (I)(v == v);
            }
            negative[r] -= (I)(v < 0);
            low[r] = MIN(v, low[r]);
            high[r] = MAX(v, high[r]);
        }
        for (int u = 0; u < STEP / WIDTH; u++) {
            L(doubles) d = WIDE(x + i + u * WIDTH);
            if (careful)
                d = (L(doubles))((L(longs))d & (L(longs))(d - d == 0));
            sum[u % PARTS] += d;
            square[u % PARTS] += d * d;
            size[u % PARTS] += MAGNITUDE(d);
        }
    }
    *out = (Sums){.low = INFINITY, .high = -INFINITY};
    for (int r = 0; r < ROWS; r++)
        for (int l = 0; l < COUNT; l++) {
            out->zero += zero[r][l];
            out->negative += negative[r][l];
            out->finite += finite[r][l];
            out->nan += nan[r][l];
            out->positive_inf += infinite[r][l];
        }
    memcpy(lows, low, sizeof lows);
    memcpy(highs, high, sizeof highs);
    memcpy(sums, sum, sizeof sums);
    memcpy(squares, square, sizeof squares);
    memcpy(sizes, size, sizeof sizes);
    for (; i < n; i++) {
        const T v = x[i];
        const double d = (double)v;
        const int l = (int)(i % LANES), finite = v - v == 0;
        out->zero += v == 0;
        if (careful) {
            out->nan += v != v;
            out->positive_inf += v == (T)INFINITY;
            out->finite += finite;
            if (!finite)
                continue;
        }
        out->negative += v < 0;
        lows[l] = v < lows[l] ? v : lows[l];
        highs[l] = v > highs[l] ? v : highs[l];
        sums[l] += d;
        squares[l] += d * d;
        sizes[l] += fabs(d);
    }
    for (int l = 0; l < STEP; l++) {
        out->low = (double)lows[l] < out->low ? (double)lows[l] : out->low;
        out->high = (double)highs[l] > out->high ? (double)highs[l] : out->high;
    }
    if (!careful)
        out->finite = n;
    out->sum = total(sums);
    out->square = total(squares);
    out->size = total(sizes);
}

static TARGET void N(sums)(const T *x, int64_t n, Sums *out)
{
    N(sums_of)(x, n, out, 0);
    if (!isfinite(out->size))
        N(sums_of)(x, n, out, 1);
}

/* Sums of the deviations of finite elements from `center`, and of their squares. */
static TARGET void N(deviations)(const T *x, int64_t n, double center, double *sum_out, double *square_out)
{
    L(doubles) sum[PARTS], square[PARTS];
    double sums[LANES], squares[LANES];
    int64_t i = 0;

    for (int u = 0; u < PARTS; u++)
        sum[u] = square[u] = (L(doubles)){0};
    for (; i + LANES <= n; i += LANES)
        for (int u = 0; u < PARTS; u++) {
            L(doubles) d = WIDE(x + i + u * WIDTH) - center;
            d = (L(doubles))((L(longs))d & (L(longs))(d - d == 0));
            sum[u] += d;
            square[u] += d * d;
        }
    memcpy(sums, sum, sizeof sums);
    memcpy(squares, square, sizeof squares);
    for (; i < n; i++) {
        const double d = (double)x[i] - center;
        if (d - d == 0) {
            sums[i % LANES] += d;
            squares[i % LANES] += d * d;
        }
    }
    *sum_out = total(sums);
    *square_out = total(squares);
}

/* The number of elements from `start` to `end`, both included. */
static TARGET int64_t N(within)(const T *x, int64_t n, T start, T end)
{
    I count = {0};
    int64_t i = 0, result = 0;

    for (; i + COUNT <= n; i += COUNT) {
        const V v = LOAD(V_UNALIGNED, x + i);
        count -= (I)(v >= start) & (I)(v <= end);
    }
    for (int l = 0; l < COUNT; l++)
        result += count[l];
    for (; i < n; i++)
        result += x[i] >= start && x[i] <= end;
    return result;
}

/* The size of the change from `p` to `x`; `x` is the change itself if it is `given`. */
#define VECTOR_CHANGE(at) MAGNITUDE(given ? WIDE(x + (at)) : WIDE(x + (at)) - WIDE(p + (at)))
#define CHANGE(at) fabs(given ? (double)x[at] : (double)x[at] - (double)p[at])

/* Sums of the sizes of the changes and of `p`, and the largest relative change, starting from out->ratio. They are of
 * no use unless both sums are finite. */
static inline ALWAYS TARGET void N(changes_of)(const T *x, const T *p, int64_t n, ChangeSums *out, const int given)
{
    L(doubles) sum[PARTS], base[PARTS];
    double sums[LANES], bases[LANES];
    int64_t i = 0;

    for (int u = 0; u < PARTS; u++)
        sum[u] = base[u] = (L(doubles)){0};
    while (i + LANES <= n) {
        /* Divisions take long, so only those are made that may come out larger; rounding has some room. */
        const double limit = out->ratio * (1 - 0x1p-50);
        const int64_t start = i, end = i + 16 * LANES < n ? i + 16 * LANES : n;
        L(longs) larger = {0};
        int64_t any = 0;
        for (; i + LANES <= end; i += LANES) {
            PREFETCH(p + i, LANES * sizeof(T));
            for (int u = 0; u < PARTS; u++) {
                const L(doubles) c = VECTOR_CHANGE(i + u * WIDTH), b = MAGNITUDE(WIDE(p + i + u * WIDTH));
                sum[u] += c;
                base[u] += b;
                larger |= (L(longs))(c > limit * (b + TINY));
            }
        }
        for (int l = 0; l < WIDTH; l++)
            any |= larger[l];
        for (int64_t j = start; any && j < i; j++)
            out->ratio = fmax(out->ratio, CHANGE(j) / (fabs((double)p[j]) + TINY));
    }
    memcpy(sums, sum, sizeof sums);
    memcpy(bases, base, sizeof bases);
    for (; i < n; i++) {
        const double c = CHANGE(i), b = fabs((double)p[i]);
        sums[i % LANES] += c;
        bases[i % LANES] += b;
        out->ratio = fmax(out->ratio, c / (b + TINY));
    }
    out->change = total(sums);
    out->base = total(bases);
}

/* Whether |change| <= absolute + relative * |p| everywhere; NaN is not. */
static inline ALWAYS TARGET int N(close_of)(const T *x, const T *p, int64_t n, double relative, double absolute,
                                            const int given)
{
    L(longs) far = {0};
    int64_t i = 0, any = 0;

    for (; i + WIDTH <= n; i += WIDTH)
        far |= ~(L(longs))(VECTOR_CHANGE(i) <= absolute + relative * MAGNITUDE(WIDE(p + i)));
    for (int l = 0; l < WIDTH; l++)
        any |= far[l];
    for (; i < n; i++)
        any |= !(CHANGE(i) <= absolute + relative * fabs((double)p[i]));
    return !any;
}

static TARGET void N(changes)(const T *x, const T *p, int64_t n, ChangeSums *out)
{
    N(changes_of)(x, p, n, out, 0);
}

static TARGET int N(close)(const T *x, const T *p, int64_t n, double relative, double absolute)
{
    return N(close_of)(x, p, n, relative, absolute, 0);
}

/* x - p; returns the number of elements that are not equal, where NaN equals NaN. */
static TARGET int64_t N(subtract)(const T *x, const T *p, int64_t n, double *out)
{
    L(longs) count = {0};
    int64_t i = 0, result = 0;

    for (; i + WIDTH <= n; i += WIDTH) {
        const L(doubles) a = WIDE(x + i), b = WIDE(p + i);
        count -= (L(longs))(a != b) & ~((L(longs))(a != a) & (L(longs))(b != b));
        *(L(doubles_unaligned) *)(out + i) = a - b;
    }
    for (int l = 0; l < WIDTH; l++)
        result += count[l];
    for (; i < n; i++) {
        result += x[i] != p[i] && !(x[i] != x[i] && p[i] != p[i]);
        out[i] = (double)x[i] - (double)p[i];
    }
    return result;
}

/* The sum of the sizes of x. Its last bits are those of this instruction set. */
static TARGET double N(size)(const T *x, int64_t n)
{
    L(doubles) sum[CHAINS] = {0}, all = {0};
    double result = 0;
    int64_t i = 0;

    for (; i + CHAINS * WIDTH <= n; i += CHAINS * WIDTH) {
        PREFETCH(x + i, CHAINS * WIDTH * sizeof(T));
        for (int u = 0; u < CHAINS; u++)
            sum[u] += MAGNITUDE(WIDE(x + i + u * WIDTH));
    }
    for (int u = 0; u < CHAINS; u++)
        all += sum[u];
    for (int l = 0; l < WIDTH; l++)
        result += all[l];
    for (; i < n; i++)
        result += fabs((double)x[i]);
    return result;
}

/* Adds to `out` the sums of the sizes of x, of x - p, and of p; as `size`. */
static TARGET void N(sizes)(const T *x, const T *p, int64_t n, double *out)
{
    L(doubles) sum[3][CHAINS] = {0};
    int64_t i = 0;

    for (; i + CHAINS * WIDTH <= n; i += CHAINS * WIDTH) {
        PREFETCH(x + i, CHAINS * WIDTH * sizeof(T));
        PREFETCH(p + i, CHAINS * WIDTH * sizeof(T));
        for (int u = 0; u < CHAINS; u++) {
            const L(doubles) a = WIDE(x + i + u * WIDTH), b = WIDE(p + i + u * WIDTH);
            sum[0][u] += MAGNITUDE(a);
            sum[1][u] += MAGNITUDE(a - b);
            sum[2][u] += MAGNITUDE(b);
        }
    }
    for (int s = 0; s < 3; s++)
        for (int u = 0; u < CHAINS; u++)
            for (int l = 0; l < WIDTH; l++)
                out[s] += sum[s][u][l];
    for (; i < n; i++) {
        const double a = x[i], b = p[i];
        out[0] += fabs(a);
        out[1] += fabs(a - b);
        out[2] += fabs(b);
    }
}

#undef CHAINS
#undef STEP
#undef ROWS
#undef VECTOR_CHANGE
#undef CHANGE
#undef T
#undef V
#undef V_UNALIGNED
#undef I
#undef COUNT
#undef WIDE
#undef MIN
#undef MAX
#undef N
