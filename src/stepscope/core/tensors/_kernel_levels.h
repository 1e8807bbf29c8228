/* The loops over a block for each instruction set, and the choice among those that the processor has. */

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

static void restore_floating_point(FloatingPoint before)
{
    _mm_setcsr(before);
}
#else
typedef fenv_t FloatingPoint;

static FloatingPoint plain_floating_point(void)
{
    fenv_t before;
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}

static void restore_floating_point(FloatingPoint before)
{
    fesetenv(&before);
}
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

/* What is read 2 kB later. The processor's own guess ends with every page of 4 kB. An address past the end does no
 * harm. */
#define PREFETCH(from, bytes)                      \
    for (size_t at_ = 0; at_ < (bytes); at_ += 64) \
    __builtin_prefetch((const void *)((uintptr_t)(from) + 2048 + at_))

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
