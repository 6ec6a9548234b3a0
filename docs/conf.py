"""The site: `make -C docs html`, with the extra `docs`."""

import json
import os
import pkgutil
import re
import sys
from importlib.metadata import metadata
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "figures"))
os.environ.setdefault("COLUMNS", "100")

from docutils import nodes  # noqa: E402
from jinja2.sandbox import SandboxedEnvironment  # noqa: E402
from numpydoc import docscrape_sphinx  # noqa: E402

import dpfast.kernels  # noqa: E402

for kernel in pkgutil.iter_modules(dpfast.kernels.__path__):  # or autodoc would read the stubs in their place
    __import__(f"dpfast.kernels.{kernel.name}")

project, author, copyright = "dpfast", "The dpfast developers", "The dpfast developers"
version = release = dpfast.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "figures", "examples/*.py", "examples/README.rst", "**sg_execution_times.rst"]
templates_path = ["_templates"]
language = "en"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # docstrings say it
autodoc_default_options = {  # what scikit-learn documents
    "exclude-members": "get_metadata_routing, set_output, set_fit_request, set_partial_fit_request, set_score_request"
}
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# What is linked stands in small inventories beside this file, so that the site builds without a network.
intersphinx_mapping = {
    name: (address, f"_inventories/{name}.inv")
    for name, address in {
        "python": "https://docs.python.org/3/",
        "numpy": "https://numpy.org/doc/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "sklearn": "https://scikit-learn.org/stable/",
        "pandas": "https://pandas.pydata.org/docs/",
    }.items()
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 30,
    "show_memory": False,
    "doc_module": ("dpfast",),
    "reference_url": {"dpfast": None},
    "backreferences_dir": "gallery/backreferences",
    "matplotlib_animations": False,
    "image_srcset": ["2x"],
}

html_theme = "pydata_sphinx_theme"
html_title = "dpfast"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js", "search.js"]
html_favicon = html_logo = "_static/logo.svg"
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": f"dpfast {release}", "alt_text": "dpfast, home"},
    "icon_links": [
        {"name": name, "url": address, "icon": "fa-solid fa-code-branch"}
        for name, address in (each.split(", ", 1) for each in metadata("dpfast").get_all("Project-URL", ()))
        if name == "Repository"
    ],
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
if json.loads((HERE / "_static" / "versions.json").read_text(encoding="utf-8")):  # packaging/release.py writes it
    html_theme_options["switcher"] = {"json_url": "_static/versions.json", "version_match": release}
    html_theme_options["navbar_end"] = ["version-switcher", "theme-switcher", "navbar-icon-links"]
html_context = {"default_mode": "auto"}


def plain(app, what, name, obj, options, lines):
    """Docstrings are written to be read as text: `coef_` and |x| stand in them without quotes."""
    cited = {match for line in lines for match in re.findall(r"^\.\. \[(\w+)\]", line)}
    for k, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...", "..", "==", "--")):
            continue
        parts = re.split(r"(``.*?``|`[^`]*`_?)", line)
        for i in range(0, len(parts), 2):
            text = re.sub(r"\[(\w+, [^\]]*)\]_", r"[\1]", parts[i])  # [BF, section 3]_
            text = re.sub(r"\[(\w+)\]_", lambda cite: cite[0] if cite[1] in cited else cite[0][:-1], text)
            text = re.sub(r"(?<![\w\]])([A-Za-z]\w*)_(?!\w)", r"\1\\_", text)
            parts[i] = text.replace("|", "\\|")
        lines[k] = "".join(parts)


environments = {}


def environment(loader):
    """numpydoc asks for one for each docstring, and compiles its template in it; one is enough."""
    return environments.setdefault(type(loader), SandboxedEnvironment(loader=loader))


docscrape_sphinx.SandboxedEnvironment = environment


NAMED = ["", *(f"dpfast.{part}" for part in ("", "accounting.", "mechanisms.", "littlestone.", "kernels.", "metrics."))]


def link_names(app, doctree, docname):
    """Public names that stand in a page as code are links to their place in the reference."""
    if docname.startswith(("reference/", "gallery/")):
        return
    objects = app.env.get_domain("py").objects
    for code in list(doctree.findall(nodes.literal)):
        name = re.match(r"[\w.]*", code.astext())[0].rstrip(".")
        found = next((objects[prefix + name] for prefix in NAMED if prefix + name in objects), None)
        if found is None or not (name[:1].isupper() or "." in name or "_" in name):
            continue
        if isinstance(code.parent, nodes.reference | nodes.title):
            continue
        address = app.builder.get_relative_uri(docname, found.docname) + "#" + found.node_id
        code.replace_self(nodes.reference("", "", code.deepcopy(), refuri=address, internal=True))


def setup(app):
    app.connect("autodoc-process-docstring", plain, priority=900)  # after numpydoc
    app.connect("doctree-resolved", link_names)
