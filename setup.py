"""Extension modules only; everything declarative is in pyproject.toml."""

import os
import sysconfig
from glob import glob

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

DEBUG = bool(os.environ.get("DPFAST_DEBUG"))
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
OPTIMISE = ["-O1", "-g", "-UNDEBUG", *SANITIZE] if DEBUG else ["-O3", "-g0"]
QUIET = ["-fno-math-errno", "-fno-trapping-math"]  # nobody reads errno or traps; no value changes
FLAGS = {
    "msvc": ["/std:c11", "/O2", "/fp:precise"],
    "unix": ["-std=c11", "-ffp-contract=off", *QUIET, "-fvisibility=hidden", "-Wall", "-Wextra", *OPTIMISE],
}
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")  # free-threaded Python has no stable ABI: a wheel a version


class BuildExt(build_ext):
    """One set of flags for each family of compilers."""

    def build_extensions(self):
        family = "msvc" if self.compiler.compiler_type == "msvc" else "unix"
        for extension in self.extensions:
            extension.extra_compile_args = FLAGS[family]
            extension.extra_link_args = SANITIZE if DEBUG else []
            extension.libraries = [] if family == "msvc" else ["m"]
        super().build_extensions()


def kernel(name, *sources):
    """dpfast/kernels/<name>.pyx over csrc/<source>.c, for the stable ABI of 3.11 on where there is one."""
    return Extension(
        f"dpfast.kernels.{name}",
        [f"dpfast/kernels/{name}.pyx", *(f"csrc/{source}.c" for source in sources)],
        include_dirs=["csrc", numpy.get_include()],
        depends=glob("csrc/*.h"),
        define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
        py_limited_api=STABLE,
    )


kernels = [
    kernel("cpu", "dpf_cpu"),
    kernel("rng"),
    kernel("draw", "draw"),
    kernel("noise", "noise"),
    kernel("sparse_vector", "sparse_vector"),
    kernel("bits", "bits", "bits_count", "dpf_cpu"),
    kernel("levels", "levels", "draw", "dpf_cpu"),
    kernel("cover", "cover", "bits", "bits_count", "dpf_cpu"),
    kernel("scores", "scores", "bits_count", "dpf_cpu"),
    kernel("grid", "grid", "dpf_cpu"),
    kernel("weights", "weights", "draw", "dpf_cpu"),
    kernel("net", "net", "dpf_cpu"),
    kernel("signs", "signs", "dpf_cpu"),
    kernel("measure", "measure", "dpf_cpu"),
    kernel("unit_rows", "unit_rows", "dpf_cpu"),
    kernel("classes", "classes", "bits", "dpf_cpu"),
    kernel("codes", "codes", "codes_join", "codes_margins", "bits", "dpf_cpu"),
    kernel("project", "project", "dpf_cpu"),
]
shared = kernel("_cyutility")
shared.sources = ["dpfast/kernels/_cyutility.c"]  # written by Cython, holds the memoryview code once

setup(
    cmdclass={"build_ext": BuildExt},
    ext_modules=cythonize(
        [*kernels, shared],
        build_dir="build",
        shared_utility_qualified_name="dpfast.kernels._cyutility",
        compiler_directives={"language_level": 3, "initializedcheck": False, "freethreading_compatible": True},
    ),
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
