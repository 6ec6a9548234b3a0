"""Extension modules only; everything declarative is in pyproject.toml."""

import os
import re
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

DEBUG = bool(os.environ.get("DPFAST_DEBUG"))
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
OPTIMISE = ["-O1", "-g1", "-UNDEBUG", *SANITIZE] if DEBUG else ["-O3", "-g0"]  # -g1: lines for the reports
QUIET = ["-fno-math-errno", "-fno-trapping-math"]  # nobody reads errno or traps; no value changes
FLAGS = {
    "msvc": ["/std:c11", "/O2", "/fp:precise"],
    "unix": ["-std=c11", "-ffp-contract=off", *QUIET, "-fvisibility=hidden", "-Wall", "-Wextra", *OPTIMISE],
}
# Modules over csrc/ check arguments; with -O3, or with sanitizers and -O1, they would take two to four times as long.
MODULE_FLAGS = {"msvc": [], "unix": ["-O0"] if DEBUG else ["-O1", "-ftree-loop-vectorize"]}
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")  # free-threaded Python has no stable ABI: a wheel a version
INCLUDES = ["csrc", numpy.get_include()]
CORES = os.cpu_count() or 1


class BuildExt(build_ext):
    """Compile csrc/ once, then the modules that link to it, on all cores."""

    def build_extensions(self):
        family = "msvc" if self.compiler.compiler_type == "msvc" else "unix"
        self.parallel = self.parallel or CORES
        nouns = sorted({noun for nouns in KERNELS.values() for noun in nouns})
        with ThreadPoolExecutor(self.parallel) as pool:
            objects = dict(zip(nouns, pool.map(lambda noun: self.compiled(noun, FLAGS[family]), nouns), strict=True))
        for extension in self.extensions:
            extension.extra_objects = [objects[noun] for noun in KERNELS[extension.name.rpartition(".")[2]]]
            extension.depends = [*extension.depends, *extension.extra_objects]
            extension.extra_compile_args = FLAGS[family] + MODULE_FLAGS[family]
            extension.extra_link_args = SANITIZE if DEBUG else []
            extension.libraries = [] if family == "msvc" else ["m"]
        super().build_extensions()

    def compiled(self, noun, flags):
        """The object file of csrc/<noun>.c, compiled unless it is newer than all that it is made from."""
        source = f"csrc/{noun}.c"
        (made,) = self.compiler.object_filenames([source], output_dir=self.build_temp)
        if self.force or newer_group([source, *headers(source)], made):
            self.compiler.compile([source], self.build_temp, include_dirs=INCLUDES, extra_postargs=flags)
        return made


def headers(path):
    """The headers of csrc/ that a file includes, and those that these include."""
    found = {f"csrc/{name}" for name in re.findall(r'^#include "(\w+\.h)"', Path(path).read_text(), re.M)}
    return found.union(*map(headers, found))


def module(name, source):
    """An extension module, for the stable ABI of 3.11 on where there is one."""
    return Extension(
        f"dpfast.kernels.{name}",
        [source],
        include_dirs=INCLUDES,
        define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
        py_limited_api=STABLE,
    )


KERNELS = {  # dpfast/kernels/<name>.pyx over these of csrc/
    "cpu": ["dpf_cpu"],
    "rng": ["process", "watch", "aes", "dpf_cpu"],
    "draw": ["draw"],
    "noise": ["noise"],
    "sparse_vector": ["sparse_vector"],
    "bits": ["bits", "bits_count", "dpf_cpu"],
    "levels": ["levels", "draw", "dpf_cpu"],
    "cover": ["cover", "bits", "bits_count", "dpf_cpu"],
    "scores": ["scores", "bits_count", "dpf_cpu"],
    "bins": ["bins", "dpf_cpu"],
    "grid": ["grid", "dpf_cpu"],
    "reals": ["reals", "dpf_cpu"],
    "integer_matrix": ["integer_matrix", "dpf_cpu"],
    "descent": ["descent", "dpf_cpu"],
    "multiplicative_weights": ["multiplicative_weights", "draw", "dpf_cpu"],
    "net": ["net", "dpf_cpu"],
    "signs": ["signs", "dpf_cpu"],
    "measure": ["measure", "dpf_cpu"],
    "unit_rows": ["unit_rows", "logistic", "dpf_cpu"],
    "logistic": ["logistic", "dpf_cpu"],
    "residuals": ["codes", "codes_join", "codes_margins", "bits", "logistic", "dpf_cpu"],
    "classes": ["classes", "bits", "dpf_cpu"],
    "trees": ["trees", "dpf_cpu"],
    "spread": ["spread", "reals", "dpf_cpu"],
    "texts": ["texts"],
    "cells": ["cells", "dpf_cpu"],
    "resampling": ["resampling", "draw", "dpf_cpu"],
    "capped_scaling": ["capped_scaling", "dpf_cpu"],
    "codes": ["codes", "codes_join", "codes_margins", "bits", "dpf_cpu"],
    "_cyutility": [],
}

if __name__ == "__main__":  # not in the processes that cythonize starts
    modules = [module(name, f"dpfast/kernels/{name}.pyx") for name in KERNELS if name != "_cyutility"]
    shared = module("_cyutility", "dpfast/kernels/_cyutility.c")  # written by Cython, holds the memoryview code once
    setup(
        cmdclass={"build_ext": BuildExt},
        ext_modules=cythonize(
            [*modules, shared],
            nthreads=CORES,
            build_dir="build",
            shared_utility_qualified_name="dpfast.kernels._cyutility",
            compiler_directives={
                "language_level": 3,
                "initializedcheck": False,
                "freethreading_compatible": True,
                "allow_none_for_extension_args": False,  # else None is taken for any array or object of a kernel
            },
        ),
        options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
    )
