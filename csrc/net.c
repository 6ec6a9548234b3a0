#include "net.h"
#include "dpf_cpu.h"

#include <math.h>
#include <string.h>

enum { TILE = 256 }; /* rows */

void dpf_net_prepare(const dpf_net *net, double *DPF_RESTRICT inverse, int64_t *DPF_RESTRICT ends) {
    const double tau = (double)net->tau;
    for (size_t last = 0; last < 2; last++) {
        const int32_t *z = net->z + (net->m - 1 - last) * net->n;
        int64_t above = 0, below = 0;
        for (size_t i = 0; i < net->n; i++) {
            const double b = 2.0 * z[i];
            inverse[last * net->n + i] = 1 / (b * b - tau * tau);
            above += b > tau, below += b < -tau;
        }
        ends[2 * last] = above, ends[2 * last + 1] = below;
    }
}

/* p = the line's point without its inner coordinate, which is 0; returns the inner one's number. */
static size_t decode(const dpf_net *net, uint64_t line, int64_t *p) {
    const uint64_t side = (uint64_t)net->side;
    uint64_t faces = 1;
    for (size_t j = 2; j < net->m; j++) faces *= side;
    const size_t face = (size_t)(line / faces), inner = net->m - 1 - (face == net->m - 1);
    for (size_t j = net->m; j-- > 0;) {
        if (j == face) p[j] = net->side;
        else if (j == inner) p[j] = 0;
        else p[j] = 2 * (int64_t)(line % side) - (net->side - 1), line /= side;
    }
    return inner;
}

/*
 * Table entries of `size` rows: a row is right from place enter[i] on, up to place leave[i]; places of -p are
 * side + 1 higher. A row that is right nowhere gets the same place twice.
 *
 * With A = b^2 - tau^2, C = a^2 - tau^2 c and s = tau sqrt(D), D = a^2 + c A, the roots are (-ab +- s) / A, and the one
 * whose numerator would cancel is C over the other's. Where D < 0, A < 0 too.
 */
DPF_BODY void intersect(const int32_t *half, const int32_t *z, const double *inverse, double c, double tau, double side,
                        size_t size, int32_t *DPF_RESTRICT enter, int32_t *DPF_RESTRICT leave) {
    const double square = tau * tau, opposite = side + 1, middle = 0.5 * (side + 1);
    for (size_t i = 0; i < size; i++) {
        const double a = 2.0 * half[i], b = 2.0 * z[i], A = b * b - square, C = a * a - square * c;
        const double D = a * a + c * A, ab = a * b;
        const double h = tau * sqrt(D > 0 ? D : 0) + fabs(ab);
        const double one = h * inverse[i], other = C / h;
        const double first = ab > 0 ? -other : one, apart = ab > 0 ? -one : other;
        const double second = D > 0 ? apart : first;
        const double x = first * 0.5 + middle, y = second * 0.5 + middle;
        const double x_most = x < side ? x : side, y_most = y < side ? y : side;
        const double place = x_most > 0 ? x_most : 0, end = y_most > 0 ? y_most : 0;
        const double sign = A > 0 ? b : a, back = A > 0 ? -b : a;
        enter[i] = (int32_t)(place + (sign > 0 ? 0 : opposite));
        leave[i] = (int32_t)(end + (back > 0 ? 0 : opposite));
    }
}

DPF_BODY void line_body(const dpf_net *net, uint64_t line, uint32_t *DPF_RESTRICT scratch,
                        uint32_t *DPF_RESTRICT wrong) {
    const size_t n = net->n, side = (size_t)net->side, width = 2 * (side + 1);
    int64_t p[DPF_NET_LARGEST_M];
    const size_t inner = decode(net, line, p), last = net->m - 1 - inner;
    double c = 0;
    for (size_t j = 0; j < net->m; j++) c += (double)(p[j] * p[j]);

    uint32_t *entering = scratch, *leaving = scratch + width;
    int32_t half[TILE], enter[TILE], leave[TILE];
    memset(scratch, 0, 2 * width * sizeof *scratch);
    for (size_t start = 0; start < n; start += TILE) {
        const size_t size = n - start < TILE ? n - start : TILE;
        for (size_t i = 0; i < size; i++) half[i] = 0;
        for (size_t j = 0; j < net->m; j++) {
            if (j == inner) continue;
            const int32_t *z = net->z + j * n + start, of = (int32_t)p[j];
            for (size_t i = 0; i < size; i++) half[i] += of * z[i];
        }
        intersect(half, net->z + inner * n + start, net->inverse + last * n + start, c, (double)net->tau, (double)side,
                  size, enter, leave);
        for (size_t i = 0; i < size; i++) entering[enter[i]]++, leaving[leave[i]]++;
    }

    /* Rows that cross by more than tau are right without end on one side, from the first place of it on. */
    uint32_t right = (uint32_t)net->ends[2 * last + 1], opposite = (uint32_t)net->ends[2 * last];
    for (size_t j = 0; j < side; j++) {
        right += entering[j] - leaving[j];
        opposite += entering[side + 1 + j] - leaving[side + 1 + j];
        wrong[j] = (uint32_t)n - right;
        wrong[side + j] = (uint32_t)n - opposite;
    }
}

DPF_LEVELS(void, dpf_net_line, line_body,
           (const dpf_net *net, uint64_t line, uint32_t *DPF_RESTRICT scratch, uint32_t *DPF_RESTRICT wrong),
           (net, line, scratch, wrong))

void dpf_net_count(const dpf_net *net, uint64_t start, uint64_t stop, uint32_t *DPF_RESTRICT scratch,
                   uint32_t *DPF_RESTRICT wrong, uint64_t *DPF_RESTRICT histogram) {
    for (uint64_t line = start; line < stop; line++) {
        dpf_net_line(net, line, scratch, wrong);
        for (size_t w = 0; w < 2 * (size_t)net->side; w++) histogram[wrong[w]]++;
    }
}

uint64_t dpf_net_find(const dpf_net *net, uint64_t start, uint64_t stop, uint32_t level, uint32_t *DPF_RESTRICT scratch,
                      uint32_t *DPF_RESTRICT wrong, uint64_t *rank) {
    for (uint64_t line = start; line < stop; line++) {
        dpf_net_line(net, line, scratch, wrong);
        for (size_t w = 0; w < 2 * (size_t)net->side; w++) {
            if (wrong[w] != level || (*rank)-- > 0) continue;
            *rank = w;
            return line;
        }
    }
    return stop;
}
