#include "bits.h"
#include "dpf_cpu.h"

#include <string.h>

/* Ones in the entries that exist, zeros past them, for the last word of a run of n bits. */
static uint64_t last_word(size_t n) { return n % 64 ? ~(uint64_t)0 >> (64 - n % 64) : ~(uint64_t)0; }

/* ---- packing ---------------------------------------------------------- */

/* Eight bytes of 0/1 to eight bits, in order: each byte's bit is carried to the top
 * byte by its own term of the product, and no two terms meet. */
DPF_BODY uint64_t gather8(const uint8_t *x, uint64_t *seen) {
    uint64_t bytes;
    memcpy(&bytes, x, 8);
    *seen |= bytes;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return ((bytes & 0x0101010101010101u) * 0x8040201008040201u) >> 56;
#else
    return ((bytes & 0x0101010101010101u) * 0x0102040810204080u) >> 56;
#endif
}

uint8_t dpf_bits_pack(const uint8_t *x, size_t n, size_t d, uint64_t *DPF_RESTRICT rows) {
    uint64_t seen = 0;
    for (size_t i = 0; i < n; i++, x += d) {
        for (size_t j = 0; j < d; j += 64, rows++) {
            uint64_t word = 0;
            if (d - j >= 64) {
                for (int b = 0; b < 64; b += 8) word |= gather8(x + j + b, &seen) << b;
            } else {
                for (size_t b = 0; b < d - j; b++) {
                    seen |= x[j + b];
                    word |= (uint64_t)(x[j + b] & 1) << b;
                }
            }
            *rows = word;
        }
    }
    for (int shift = 32; shift >= 8; shift /= 2) seen |= seen >> shift;
    return (uint8_t)seen;
}

/* Eight bits to eight bytes of 0/1, in order: byte k keeps bit k alone, which then reaches the byte's top. */
DPF_BODY void scatter8(uint64_t bits, uint8_t *x) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    const uint64_t own = 0x0102040810204080u;
#else
    const uint64_t own = 0x8040201008040201u;
#endif
    const uint64_t bytes = ((bits & 0xff) * 0x0101010101010101u) & own;
    const uint64_t ones = (bytes + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
    memcpy(x, &ones, 8);
}

void dpf_bits_unpack(const uint64_t *rows, size_t n, size_t d, uint8_t *DPF_RESTRICT x) {
    for (size_t i = 0; i < n; i++, x += d) {
        for (size_t j = 0; j < d; j += 64, rows++) {
            size_t b = 0;
            for (; b < 64 && j + b + 8 <= d; b += 8) scatter8(*rows >> b, x + j + b);
            for (; b < 64 && j + b < d; b++) x[j + b] = *rows >> b & 1;
        }
    }
}

DPF_BODY void set_bit(uint64_t *row, uint64_t j) { row[j / 64] |= (uint64_t)1 << (j % 64); }

void dpf_bits_scatter32(const int32_t *indptr, const int32_t *index, size_t n, size_t words,
                        uint64_t *DPF_RESTRICT rows) {
    for (size_t i = 0; i < n; i++)
        for (int32_t p = indptr[i]; p < indptr[i + 1]; p++)
            set_bit(rows + i * words, (uint64_t)index[p]);
}

void dpf_bits_scatter64(const int64_t *indptr, const int64_t *index, size_t n, size_t words,
                        uint64_t *DPF_RESTRICT rows) {
    for (size_t i = 0; i < n; i++)
        for (int64_t p = indptr[i]; p < indptr[i + 1]; p++)
            set_bit(rows + i * words, (uint64_t)index[p]);
}

/* ---- transpose -------------------------------------------------------- */

/* Swaps the off-diagonal halves of every 2s x 2s block of a 64 x 64 bit matrix. */
DPF_BODY void swap_halves(uint64_t *a, unsigned s, uint64_t low) {
    for (unsigned base = 0; base < 64; base += 2 * s) {
        for (unsigned k = base; k < base + s; k++) {
            const uint64_t swap = (a[k] >> s ^ a[k + s]) & low;
            a[k] ^= swap << s;
            a[k + s] ^= swap;
        }
    }
}

DPF_BODY void transpose_block(uint64_t *a) {
    swap_halves(a, 32, 0x00000000ffffffffu);
    swap_halves(a, 16, 0x0000ffff0000ffffu);
    swap_halves(a, 8, 0x00ff00ff00ff00ffu);
    swap_halves(a, 4, 0x0f0f0f0f0f0f0f0fu);
    swap_halves(a, 2, 0x3333333333333333u);
    swap_halves(a, 1, 0x5555555555555555u);
}

enum { TILE = 8 }; /* words to a side of a tile: a cache line */

DPF_BODY void transpose(const uint64_t *rows, size_t n, size_t d, uint64_t *DPF_RESTRICT columns) {
    const size_t row_words = DPF_WORDS(d), column_words = DPF_WORDS(n);
    uint64_t tile[64 * TILE][TILE], block[64];
    for (size_t w0 = 0; w0 < row_words; w0 += TILE) {
        const size_t width = row_words - w0 < TILE ? row_words - w0 : TILE;
        for (size_t v0 = 0; v0 < column_words; v0 += TILE) {
            const size_t height = column_words - v0 < TILE ? column_words - v0 : TILE;
            for (size_t w = 0; w < width; w++) {
                for (size_t v = 0; v < height; v++) {
                    const size_t i = 64 * (v0 + v);
                    for (size_t k = 0; k < 64; k++)
                        block[k] = i + k < n ? rows[(i + k) * row_words + w0 + w] : 0;
                    transpose_block(block);
                    for (size_t k = 0; k < 64; k++) tile[64 * w + k][v] = block[k];
                }
            }
            for (size_t j = 64 * w0; j < 64 * (w0 + width) && j < d; j++)
                memcpy(columns + j * column_words + v0, tile[j - 64 * w0], height * sizeof(uint64_t));
        }
    }
}

DPF_LEVELS(void, dpf_bits_transpose, transpose,
           (const uint64_t *rows, size_t n, size_t d, uint64_t *DPF_RESTRICT columns),
           (rows, n, d, columns))

/* ---- whole words ------------------------------------------------------ */

DPF_BODY uint64_t popcount(const uint64_t *words, size_t size) {
    uint64_t ones = 0;
    for (size_t w = 0; w < size; w++) ones += dpf_popcount(words[w]);
    return ones;
}

DPF_LEVELS(uint64_t, dpf_bits_popcount, popcount, (const uint64_t *words, size_t size), (words, size))

DPF_BODY uint64_t and_flipped(const uint64_t *a, const uint64_t *b, uint64_t flip, size_t size,
                              uint64_t *out) {
    uint64_t ones = 0;
    for (size_t w = 0; w < size; w++) {
        out[w] = a[w] & (b[w] ^ flip);
        ones += dpf_popcount(out[w]);
    }
    return ones;
}

DPF_BODY uint64_t and_words(const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out) {
    return and_flipped(a, b, 0, size, out);
}

DPF_BODY uint64_t andnot_words(const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out) {
    return and_flipped(a, b, ~(uint64_t)0, size, out);
}

DPF_LEVELS(uint64_t, dpf_bits_and, and_words,
           (const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out), (a, b, size, out))
DPF_LEVELS(uint64_t, dpf_bits_andnot, andnot_words,
           (const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out), (a, b, size, out))

size_t dpf_bits_nonzero(const uint64_t *words, size_t size, int64_t *DPF_RESTRICT at) {
    size_t found = 0;
    for (size_t w = 0; w < size; w++)
        for (uint64_t rest = words[w]; rest; rest &= rest - 1)
            at[found++] = (int64_t)(64 * w + dpf_lowest_bit(rest));
    return found;
}

/* ---- positional popcount ---------------------------------------------- */

enum { BLOCK = 128, GROUP = 16, PLANES = 48 }; /* words of a column block; rows to a tree; 2^48 rows */

/* high:low = a + b + c, bit by bit. */
DPF_BODY void add(uint64_t *high, uint64_t *low, uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t half = a ^ b;
    *high = (a & b) | (half & c);
    *low = half ^ c;
}

/* ones..eights += sixteen rows; what overflows, of weight 16, goes to carry. */
DPF_BODY void add_group(const uint64_t *const *row, size_t width, uint64_t (*DPF_RESTRICT plane)[BLOCK],
                        uint64_t *DPF_RESTRICT carry) {
    for (size_t w = 0; w < width; w++) {
        uint64_t one = plane[0][w], two = plane[1][w], four = plane[2][w], eight = plane[3][w];
        uint64_t two_a, two_b, four_a, four_b, eight_a, eight_b;
        add(&two_a, &one, one, row[0][w], row[1][w]);
        add(&two_b, &one, one, row[2][w], row[3][w]);
        add(&four_a, &two, two, two_a, two_b);
        add(&two_a, &one, one, row[4][w], row[5][w]);
        add(&two_b, &one, one, row[6][w], row[7][w]);
        add(&four_b, &two, two, two_a, two_b);
        add(&eight_a, &four, four, four_a, four_b);
        add(&two_a, &one, one, row[8][w], row[9][w]);
        add(&two_b, &one, one, row[10][w], row[11][w]);
        add(&four_a, &two, two, two_a, two_b);
        add(&two_a, &one, one, row[12][w], row[13][w]);
        add(&two_b, &one, one, row[14][w], row[15][w]);
        add(&four_b, &two, two, two_a, two_b);
        add(&eight_b, &four, four, four_a, four_b);
        add(&carry[w], &eight, eight, eight_a, eight_b);
        plane[0][w] = one, plane[1][w] = two, plane[2][w] = four, plane[3][w] = eight;
    }
}

DPF_BODY void add_carry(uint64_t *DPF_RESTRICT plane, const uint64_t *DPF_RESTRICT waiting,
                        size_t width, uint64_t *DPF_RESTRICT carry) {
    for (size_t w = 0; w < width; w++) add(&carry[w], &plane[w], plane[w], waiting[w], carry[w]);
}

/* Afterwards bit b of byte k of a[r] is what bit 8 k + r of a[b] was: eight planes become counts of a byte. */
DPF_BODY void planes_to_bytes(uint64_t *a) {
    static const uint64_t low[3] = {0x5555555555555555u, 0x3333333333333333u, 0x0f0f0f0f0f0f0f0fu};
    for (unsigned k = 0; k < 3; k++) {
        const unsigned s = 1u << k;
        for (unsigned b = 0; b < 8; b++) {
            if (b & s) continue;
            const uint64_t swap = (a[b] >> s ^ a[b + s]) & low[k];
            a[b] ^= swap << s;
            a[b + s] ^= swap;
        }
    }
}

DPF_BODY void planes_to_counts(uint64_t (*DPF_RESTRICT plane)[BLOCK], unsigned planes, size_t d,
                               int64_t *DPF_RESTRICT out) {
    for (size_t w = 0; 64 * w < d; w++) {
        int64_t count[64] = {0};
        for (unsigned first = 0; first < planes; first += 8) {
            uint64_t a[8];
            for (unsigned b = 0; b < 8; b++) a[b] = first + b < planes ? plane[first + b][w] : 0;
            planes_to_bytes(a);
            for (unsigned k = 0; k < 8; k++)
                for (unsigned r = 0; r < 8; r++)
                    count[8 * k + r] |= (int64_t)((a[r] >> 8 * k & 0xff) << first);
        }
        memcpy(out + 64 * w, count, (d - 64 * w < 64 ? d - 64 * w : 64) * sizeof *count);
    }
}

DPF_BODY void positional_popcount(const uint64_t *rows, const int64_t *index, size_t m, size_t d,
                                  int64_t *DPF_RESTRICT out) {
    static const uint64_t no_row[BLOCK];
    const size_t words = DPF_WORDS(d);
    uint64_t plane[PLANES][BLOCK], pending[PLANES][BLOCK], carry[BLOCK];
    unsigned planes = 4;
    while (planes < PLANES && m >> planes) planes++;

    for (size_t w0 = 0; w0 < words; w0 += BLOCK) {
        const size_t width = words - w0 < BLOCK ? words - w0 : BLOCK;
        memset(plane, 0, planes * sizeof *plane);
        size_t groups = 0;
        for (size_t i = 0; i < m; i += GROUP, groups++) {
            const uint64_t *row[GROUP];
            for (size_t r = 0; r < GROUP; r++) {
                const size_t at = i + r;
                row[r] = at < m ? rows + (index ? (size_t)index[at] : at) * words + w0 : no_row;
            }
            add_group(row, width, plane, carry);
            unsigned k = 4;
            for (; groups >> (k - 4) & 1; k++) add_carry(plane[k], pending[k], width, carry);
            memcpy(pending[k], carry, width * sizeof *carry);
        }
        memset(carry, 0, sizeof carry);
        for (unsigned k = 4; k < planes; k++) {
            if (!(groups >> (k - 4) & 1)) memset(pending[k], 0, sizeof *pending);
            add_carry(plane[k], pending[k], width, carry);
        }
        const size_t left = d - 64 * w0;
        planes_to_counts(plane, planes, left < 64 * BLOCK ? left : 64 * BLOCK, out + 64 * w0);
    }
}

DPF_LEVELS(void, dpf_bits_positional_popcount, positional_popcount,
           (const uint64_t *rows, const int64_t *index, size_t m, size_t d,
            int64_t *DPF_RESTRICT out),
           (rows, index, m, d, out))

/* ---- conjunctions ----------------------------------------------------- */

void dpf_bits_conjunctions(const uint64_t *columns, size_t n, const int64_t *code, size_t m,
                           size_t k, uint64_t *DPF_RESTRICT out) {
    const size_t words = DPF_WORDS(n);
    for (size_t i = 0; i < m; i++, code += k, out += words) {
        memset(out, 0xff, words * sizeof *out);
        for (size_t l = 0; l < k; l++) {
            if (code[l] < 0) continue;
            const uint64_t *column = columns + (size_t)(code[l] / 2) * words;
            const uint64_t flip = code[l] % 2 ? ~(uint64_t)0 : 0;
            for (size_t w = 0; w < words; w++) out[w] &= column[w] ^ flip;
        }
        if (words) out[words - 1] &= last_word(n);
    }
}
