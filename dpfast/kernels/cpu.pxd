# Where the process-wide instruction-set level lives. A module that links dpf_cpu.c
# calls dpf_cpu_share(shared_level()) once, on import.
from libc.stdint cimport uint32_t


cdef extern from "dpf_cpu.h" nogil:
    uint32_t dpf_cpu_sets()
    const char *dpf_cpu_set_name(size_t i)
    int dpf_cpu_best_of(uint32_t sets)
    int dpf_cpu_best()
    void dpf_cpu_share(const int *level)


cdef const int *shared_level() noexcept
