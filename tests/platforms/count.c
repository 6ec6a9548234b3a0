/* count.c - a plugin of qemu-user: instructions that run from the function at `from` on, told at the end.
 * Declared here is what it uses of qemu-plugin.h, version 1, which no package holds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tb;
struct insn;
size_t qemu_plugin_tb_n_insns(const struct tb *tb);
struct insn *qemu_plugin_tb_get_insn(const struct tb *tb, size_t at);
uint64_t qemu_plugin_insn_vaddr(const struct insn *insn);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*call)(uint64_t id, struct tb *tb));
void qemu_plugin_register_vcpu_tb_exec_inline(struct tb *tb, int add, void *to, uint64_t what);
void qemu_plugin_register_vcpu_insn_exec_cb(struct insn *insn, void (*call)(unsigned cpu, void *), int registers, void *);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*call)(uint64_t id, void *), void *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
static uint64_t from, count;

static void begin(unsigned cpu, void *unused) {
    (void)cpu, (void)unused;
    count = 0;
}

static void translated(uint64_t id, struct tb *tb) {
    (void)id;
    const size_t size = qemu_plugin_tb_n_insns(tb);
    qemu_plugin_register_vcpu_tb_exec_inline(tb, 0, &count, size);
    struct insn *first = qemu_plugin_tb_get_insn(tb, 0);
    if (qemu_plugin_insn_vaddr(first) == from) qemu_plugin_register_vcpu_insn_exec_cb(first, begin, 0, NULL);
}

static void ended(uint64_t id, void *unused) {
    (void)id, (void)unused;
    fprintf(stderr, "%" PRIu64 "\n", count);
}

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const void *info, int arguments,
                                                               char **argument) {
    (void)info;
    if (arguments != 1 || strncmp(argument[0], "from=", 5) != 0) return 1;
    from = strtoull(argument[0] + 5, NULL, 0);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
