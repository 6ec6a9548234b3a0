# Where the process-wide instruction-set level lives. A module that links dpf_cpu.c
# calls dpf_cpu_share(shared_level()) once, on import.
cdef extern from "dpf_cpu.h" nogil:
    int dpf_cpu_best()
    void dpf_cpu_share(const int *level)


cdef const int *shared_level() noexcept
