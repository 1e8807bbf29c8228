/* The loops over a block, for one instruction set. Included by _kernel.c once for each.
 *
 * Invariant: element i of a block always goes to lane i % LANES, the lanes are added up in one order, and no product
 * is contracted with a sum; so the results are the same to the last bit, whatever the width of the vectors.
 *
 * Given: LEVEL, the suffix of all names in here; TARGET, the attribute of the functions; WIDTH, the doubles in a
 * vector.
 */

#define PARTS (LANES / WIDTH)
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define L(name) JOIN(name, LEVEL)
#define LOAD(V, from) (*(const V *)(from))
#define MAGNITUDE(d) ((L(doubles))((L(longs))(d) & INT64_MAX))

typedef double L(doubles) __attribute__((vector_size(8 * WIDTH)));
typedef int64_t L(longs) __attribute__((vector_size(8 * WIDTH)));
typedef float L(floats) __attribute__((vector_size(8 * WIDTH))); /* twice as many */
typedef int32_t L(ints) __attribute__((vector_size(8 * WIDTH)));
typedef float L(half_floats) __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));
typedef L(doubles) L(doubles_unaligned) __attribute__((aligned(8), may_alias));
typedef L(floats) L(floats_unaligned) __attribute__((aligned(4), may_alias));

/* Compilers don't find these x86 instructions: their own comparisons are stricter, their conversions go by halves. */
#if WIDTH == 8
#define WIDEN(from) ((L(doubles))_mm512_cvtps_pd(_mm256_loadu_ps(from)))
#define MIN_DOUBLES(a, b) ((L(doubles))_mm512_min_pd((__m512d)(a), (__m512d)(b)))
#define MAX_DOUBLES(a, b) ((L(doubles))_mm512_max_pd((__m512d)(a), (__m512d)(b)))
#define MIN_FLOATS(a, b) ((L(floats))_mm512_min_ps((__m512)(a), (__m512)(b)))
#define MAX_FLOATS(a, b) ((L(floats))_mm512_max_ps((__m512)(a), (__m512)(b)))
#elif WIDTH == 4
#define WIDEN(from) ((L(doubles))_mm256_cvtps_pd(_mm_loadu_ps(from)))
#define MIN_DOUBLES(a, b) ((L(doubles))_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#define MAX_DOUBLES(a, b) ((L(doubles))_mm256_max_pd((__m256d)(a), (__m256d)(b)))
#define MIN_FLOATS(a, b) ((L(floats))_mm256_min_ps((__m256)(a), (__m256)(b)))
#define MAX_FLOATS(a, b) ((L(floats))_mm256_max_ps((__m256)(a), (__m256)(b)))
#else
#define WIDEN(from) __builtin_convertvector(LOAD(L(half_floats), from), L(doubles))
#define PICK(V, I, test, a, b) ((V)(((I)(test) & (I)(a)) | (~(I)(test) & (I)(b))))
#define MIN_DOUBLES(a, b) PICK(L(doubles), L(longs), (a) < (b), a, b)
#define MAX_DOUBLES(a, b) PICK(L(doubles), L(longs), (a) > (b), a, b)
#define MIN_FLOATS(a, b) PICK(L(floats), L(ints), (a) < (b), a, b)
#define MAX_FLOATS(a, b) PICK(L(floats), L(ints), (a) > (b), a, b)
#endif

#define T float
#define V L(floats)
#define V_UNALIGNED L(floats_unaligned)
#define I L(ints)
#define COUNT (2 * WIDTH)
#define WIDE WIDEN
#define MIN MIN_FLOATS
#define MAX MAX_FLOATS
#define N(name) L(name##_float)
#include "_kernel_sums.h"

#define T double
#define V L(doubles)
#define V_UNALIGNED L(doubles_unaligned)
#define I L(longs)
#define COUNT WIDTH
#define WIDE(from) ((L(doubles))LOAD(L(doubles_unaligned), from))
#define MIN MIN_DOUBLES
#define MAX MAX_DOUBLES
#define N(name) L(name##_double)
#include "_kernel_sums.h"

/* As `changes` and `close`, where the change has been computed. */
static TARGET void L(changes_given)(const double *change, const double *p, int64_t n, ChangeSums *out)
{
    L(changes_of_double)(change, p, n, out, 1);
}

static TARGET int L(close_given)(const double *change, const double *p, int64_t n, double relative, double absolute)
{
    return L(close_of_double)(change, p, n, relative, absolute, 1);
}

/* What follows is plain enough for any compiler to make vectors of. */

static TARGET void L(scale)(const double *x, int64_t n, double first, double second, double *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i] * first * second;
}

static TARGET void L(half_to_float)(const uint16_t *restrict bits, int64_t n, float *restrict out)
{
    int64_t i = 0;
#if WIDTH > 2
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(bits + i))));
#endif
    for (; i < n; i++)
        out[i] = half(bits[i]);
}

#define CONVERT(name, FROM, TO, expression)                                         \
    static TARGET void L(name)(const FROM *restrict x, int64_t n, TO *restrict out) \
    {                                                                               \
        for (int64_t i = 0; i < n; i++)                                             \
            out[i] = (TO)(expression);                                              \
    }
CONVERT(float_to_double, float, double, x[i])
CONVERT(brain_to_float, uint16_t, float, as_float((uint32_t)x[i] << 16))
CONVERT(bool_to_float, uint8_t, float, x[i] != 0)
CONVERT(int8_to_float, int8_t, float, x[i])
CONVERT(uint8_to_float, uint8_t, float, x[i])
CONVERT(int16_to_float, int16_t, float, x[i])
CONVERT(uint16_to_float, uint16_t, float, x[i])
CONVERT(int32_to_double, int32_t, double, x[i])
CONVERT(uint32_to_double, uint32_t, double, x[i])
CONVERT(int64_to_double, int64_t, double, x[i])
CONVERT(uint64_to_double, uint64_t, double, x[i])
#undef CONVERT

/* Of 64-bit integers x - p, exact before it is rounded, and the number that are not equal. */
#define DISTANCE(name, FROM)                                                                                       \
    static TARGET int64_t L(name)(const FROM *restrict x, const FROM *restrict p, int64_t n, double *restrict out) \
    {                                                                                                              \
        int64_t unequal = 0;                                                                                       \
        for (int64_t i = 0; i < n; i++) {                                                                          \
            const uint64_t up = (uint64_t)x[i] - (uint64_t)p[i], down = (uint64_t)p[i] - (uint64_t)x[i];           \
            out[i] = x[i] < p[i] ? -(double)down : (double)up;                                                     \
            unequal += x[i] != p[i];                                                                               \
        }                                                                                                          \
        return unequal;                                                                                            \
    }
DISTANCE(int64_distance, int64_t)
DISTANCE(uint64_distance, uint64_t)
#undef DISTANCE

/* Whether no exponent, the bits `mask`, is all ones. */
#define FINITE(name, BITS)                                         \
    static TARGET int L(name)(const BITS *x, int64_t n, BITS mask) \
    {                                                              \
        BITS largest = 0;                                          \
        for (int64_t i = 0; i < n; i++) {                          \
            const BITS exponent = x[i] & mask;                     \
            largest = exponent > largest ? exponent : largest;     \
        }                                                          \
        return largest != mask;                                    \
    }
FINITE(finite16, uint16_t)
FINITE(finite32, uint32_t)
FINITE(finite64, uint64_t)
#undef FINITE

static const Loops L(loops) = {
    L(sums_float),
    L(deviations_float),
    L(within_float),
    L(changes_float),
    L(close_float),
    L(subtract_float),
    L(sums_double),
    L(deviations_double),
    L(within_double),
    L(changes_double),
    L(close_double),
    L(subtract_double),
    L(changes_given),
    L(close_given),
    L(int64_distance),
    L(uint64_distance),
    L(scale),
    L(float_to_double),
    L(half_to_float),
    L(brain_to_float),
    L(bool_to_float),
    L(int8_to_float),
    L(uint8_to_float),
    L(int16_to_float),
    L(uint16_to_float),
    L(int32_to_double),
    L(uint32_to_double),
    L(int64_to_double),
    L(uint64_to_double),
    L(size_float),
    L(size_double),
    L(sizes_float),
    L(sizes_double),
    L(finite16),
    L(finite32),
    L(finite64),
};

#undef PARTS
#undef JOIN_
#undef JOIN
#undef L
#undef LOAD
#undef MAGNITUDE
#undef WIDEN
#undef PICK
#undef MIN_DOUBLES
#undef MAX_DOUBLES
#undef MIN_FLOATS
#undef MAX_FLOATS
