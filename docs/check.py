"""What a reader would trip over in the built site: `python docs/check.py docs/_build/html`.

Every page has a title of its own, a language and one first heading; every picture has a text and is there; every link
inside the site leads somewhere; a page weighs less than 1 MB with all that it loads, as a server sends it, a figure
less than 150 kB; the pages of privacy and results have fewer than 3,000 words; the search knows every estimator, and
has a main entry for what newcomers look for; with Chromium at hand, no page is wider than a phone or a desktop, no
heading is cut, no word in angle brackets is lost, a page has at most twelve screens of a phone or is a reference, which
says so and begins with what it has, the roads of the first page need no scrolling, a question finds its page among the
first three, and an old address of a section that moved leads on.
"""

import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from html.parser import HTMLParser
from inspect import ismodule
from pathlib import Path
from urllib.parse import unquote, urlsplit

import dpfast

PAGE, FIGURE = 1_000_000, 150_000  # bytes
SCREENS = PHONE, _ = (375, 812), (1280, 800)  # a phone's and a desktop's
WIDTHS = tuple(width for width, _ in SCREENS)
SCREENFULS = 12  # of a phone, at most, of a page that is no reference
REFERENCES = re.compile(  # pages to look things up in: the API, records, proofs and theorems, tables of forms, changes
    r"(reference|records)/.*|(papers|proofs_\w+|privacy(_\w+)?|cells|kernels_modules|changes|genindex)[.]html"
)
WORDS = {"privacy.md": 3000, "results.md": 3000}  # at most, that these have: their detail is on other pages
SEARCHED = {  # the page that a search is to find first: it has the word as a main entry of the index
    "install": "install",
    "save": "guides/saved_models",
    "budget": "guides/one_budget",
    **dict.fromkeys(("categorical", "bounds"), "schema"),
    **dict.fromkeys(
        ("csv", "missing", "patient", "cross_val_score", "epsilon", "accuracy", "dask", "probability"), "faq"
    ),
}

QUESTIONS = {  # what people type, and the page that the search is to show among its first three
    "how to choose epsilon": "guides/epsilon_and_delta",
    "how much budget is left": "guides/one_budget",
    **dict.fromkeys(("cite", "bibtex", "license"), "citing"),
    "contribute": "contributing",
    **dict.fromkeys(("power failure", "what survives a crash"), "security"),
    "patients not rows": "guides/one_budget",
    "Spark": "guides/spark",
    "multiplicative weight updates": "papers",
    "which paper is where": "papers",
    "compare with DPEBM": "guides/coming_from",
    "missing labels": "tables",
    "GDPR": "guides/data_protection",
    "multiple rows per person": "faq",
    "how much data do I need": "faq",
    "save model": "guides/saved_models",
    "regression": "faq",
    "is my model anonymous": "guides/data_protection",
    "export to ONNX": "guides/saved_models",
    "my table does not fit into memory": "guides/larger_tables",
    "can I show the report to anybody": "faq",
    "why is the accuracy so low": "faq",
    "does it work on Windows": "install",
    "explain a prediction": "model_page",
    "accuracy by group": "model_page",
    "model card": "model_page",
    "which classifier should I use": "guides/which_model",
    "resume a stream after a crash": "security",
    "write my own learner": "guides/own_learner",
    "sparse text with many words": "tutorials/text",
    "how are probabilities calibrated": "calibration",
    "what does the claim not cover": "guides/what_a_claim_covers",
    "date formats": "cells",
    "proof of greedy cover": "proofs_privacy",
    "pandas categorical dtype": "cells",
    "cross validation without leaking": "faq",
    "comparison with other libraries": "results",
    "how fast is it": "results_speed",
    "timing attack": "security",
    "breaking changes": "changes",
    "dpfast.CodeTable": "reference/generated/dpfast.tables.CodeTable",
    "BoostedHalfspaceClassifier": "reference/generated/dpfast.BoostedHalfspaceClassifier",
}
HOLDS = {"plot": "report"}  # the page of the reference of a module, where another noun names it
LINE = "A model that was learned from private rows may be shown to whoever asks for"  # 75 characters: the longest line


class Page(HTMLParser):
    """Title, headings, links, pictures and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.title, self.headings, self.links, self.pictures, self.anchors = "", 0, [], [], set()
        self.loaded = set()  # style sheets and scripts
        self.moved = []  # anchors of sections that are on pages of their own
        self.language, self._in_title = None, False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "html":
            self.language = given.get("lang")
        if given.get("class") == "moved":
            self.moved.append(given["id"])
        self._in_title = tag == "title"
        self.headings += tag == "h1"
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag == "img":
            self.pictures.append((given.get("src", ""), given.get("alt")))
        if tag == "script" and given.get("src"):
            self.loaded.add(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "preload"):
            self.loaded.add(given["href"])

    def handle_data(self, data):
        if self._in_title and not self.title:
            self.title = data.strip()
            self._in_title = False


def faults(root):
    """One line for each fault."""
    pages = {path: Page(path) for path in sorted(root.rglob("*.html"))}
    generated = {root / name for name in ("genindex.html", "py-modindex.html", "search.html")}
    titles, compressed = {}, cache(lambda path: len(gzip.compress(path.read_bytes())))
    icons = sum(path.stat().st_size for path in root.glob("_static/vendor/fontawesome/webfonts/fa-solid-*.woff2"))
    for path, page in pages.items():
        where = path.relative_to(root)
        if path in generated or where.parts[0] in ("_modules", "_static"):
            continue
        if not page.title or page.language != "en" or page.headings < 1:
            yield f"{where}: title {page.title!r}, language {page.language!r}, {page.headings} first headings"
        if page.title in titles:
            yield f"{where}: has the title of {titles[page.title]}, {page.title!r}"
        titles[page.title] = where
        local = [urlsplit(each) for each in page.loaded]
        loaded = {(path.parent / unquote(each.path)).resolve() for each in local if not each.netloc}
        weight = icons + sum(map(compressed, [path, *loaded]))
        for source, text in page.pictures:
            if urlsplit(source).scheme in ("http", "https", "data"):
                continue
            picture = path.parent / unquote(urlsplit(source).path)
            if not picture.is_file():
                yield f"{where}: no picture {source}"
                continue
            if text is None:  # an empty one says that the words beside it suffice
                yield f"{where}: {source} has no text"
            size = picture.stat().st_size
            weight += size
            if picture.suffix == ".svg" and size > FIGURE:
                yield f"{where}: {source} has {size:,} bytes"
        if weight > PAGE:
            yield f"{where}: {weight:,} bytes with all that it loads"
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{where}: the link {link} leads nowhere"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{where}: {link} has no such place"
    for name, most in WORDS.items():
        words = len(Path(__file__).with_name(name).read_text(encoding="utf-8").split())
        if words > most:
            yield f"docs/{name} has {words:,} words: put detail behind links"
    index = (root / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(re.search(r"\{.*\}", index, re.DOTALL)[0])
    known = json.dumps(index["objects"])
    for word, wanted in SEARCHED.items():
        found = {index["docnames"][place] for place, _, main in index["indexentries"].get(word, ()) if main}
        if wanted not in found:
            yield f"a search for {word!r} does not find {wanted} first, but {found or 'no page that says so'}"
    classes = [name for name in dpfast.__all__ if name[0].isupper()]
    yield from (f"the search does not know {name}" for name in classes if name not in known)
    shown = [path for path in pages if path.relative_to(root).parts[0] not in ("_modules", "_static")]
    names = [path.relative_to(root).as_posix() for path in shown]
    moved = {name: pages[path].moved[0] for name, path in zip(names, shown, strict=True) if pages[path].moved}
    yield from in_browser(root, [looked(names), sought(), below_the_fold(), led_on(moved)])


def looked(names):
    """Look for pages that scroll sideways or are long, lost words, cut headings, long lines, crowded titles."""
    script = """
    await turned(%s, %s, async (page, view, sized) => {
      const root = view.document.documentElement, reference = new RegExp(%s).test(page);
      const height = text => parseFloat(view.getComputedStyle(text).fontSize);
      for (const each of root.querySelectorAll(".bd-article *"))
        if (each instanceof view.HTMLUnknownElement)
          found.push(`${page}: the word ${each.localName} in angle brackets is lost`);
      const screens = root.scrollHeight / %d;
      if (screens > %d && !reference) found.push(`${page}: ${screens.toFixed(1)} screens of a phone`);
      if (screens > %d && page !== "genindex.html") {
        const opening = [];
        for (let each = root.querySelector("h1").nextElementSibling; each; each = each.nextElementSibling)
          if (/^(SECTION|DL)$/.test(each.tagName)) break; else opening.push(each);
        const links = opening.reduce((sum, each) => sum + each.querySelectorAll("a").length, 0);
        if (!opening.some(each => each.textContent.includes("This page is a reference")) || links < 3)
          found.push(`${page}: does not say that it is a reference, or what it has`);
      }
      for (const width of %s) {
        sized(width);
        if (root.scrollWidth > width) found.push(`${page}: ${root.scrollWidth} wide at ${width}`);
        for (const heading of root.querySelectorAll("h1, h2, h3"))
          if (heading.scrollWidth > heading.clientWidth + 1) found.push(`${page}: a heading is cut at ${width}`);
        for (const name of root.querySelectorAll("h1"))
          if (!/[\\s.]/.test(name.firstChild.textContent.trim()) && name.clientHeight > 2 * height(name))
            found.push(`${page}: a name is broken at ${width}`);
        const line = view.document.createElement("span"), limits = {};
        line.textContent = %s; line.style.whiteSpace = "nowrap";
        for (const text of root.querySelectorAll(".bd-article p:not(:has(> img))")) {
          const size = height(text);
          if (!(size in limits)) { text.append(line); limits[size] = line.offsetWidth; line.remove(); }
          if (text.clientWidth > limits[size] + 16) {
            found.push(`${page}: a line has more than 75 characters`);
            break;
          }
        }
        const [title, icon] = [".navbar-brand", ".search-button__button"].map(name =>
          [...root.querySelectorAll(".bd-header " + name)].find(each => each.offsetWidth));
        if (!title || !icon || icon.getBoundingClientRect().left < title.getBoundingClientRect().right + 4)
          found.push(`${page}: title and search touch at ${width}, or one is not there`);
      }
    });"""
    given = json.dumps(names), PHONE[0], json.dumps(f"^({REFERENCES.pattern})$"), PHONE[1], SCREENFULS, SCREENFULS
    return script % (*given, json.dumps(WIDTHS), json.dumps(LINE))


def sought():
    """Look for questions whose page is not among the first three that the search shows, and public names it misses.

    The page of the search is opened once, with its index. What it shows for the first question is what it ranks first.
    """
    modules = {name for name in dpfast.__all__ if ismodule(getattr(dpfast, name))}
    named = {f"dpfast.{name}": f"reference/generated/*{name}" for name in {*dpfast.__all__} - modules}
    wanted = QUESTIONS | named | {f"dpfast.{name}": f"reference/{HOLDS.get(name, name)}" for name in modules}
    first, *_ = wanted
    script = """
    await framed("search.html?q=" + encodeURIComponent(%s), 1280, async view => {
      const Search = view.eval("Search");
      const ranked = question =>
        Search._performSearch(...Search._parseQuery(question)).slice(-3).reverse().map(each => each[0]);
      const shown = () => [...view.document.querySelectorAll("#search-results li > a")].slice(0, 3);
      for (let k = 0; k < 200 && shown().length < 3; k++) await new Promise(done => setTimeout(done, 50));
      const seen = shown().map(each => each.getAttribute("href").split(/[.]html/)[0]);
      if (`${seen}` !== `${ranked(%s)}`) found.push(`the search shows ${seen}, and ranks ${ranked(%s)} first`);
      for (const [question, wanted] of Object.entries(%s)) {
        const [start, end] = wanted.split("*");
        const right = page => end ? page.startsWith(start) && page.endsWith("." + end) : page === wanted;
        const pages = ranked(question);
        if (!pages.some(right)) found.push(`a search for "${question}" shows ${pages}, not ${wanted}`);
      }
    });"""
    return script % (*[json.dumps(first)] * 3, json.dumps(wanted))


def below_the_fold():
    """Look whether a reader has to scroll to the roads of the first page."""
    script = """
    for (const [width, height] of %s) await framed("index.html", width, async view => {
      const end = view.document.querySelector(".bd-article ul").getBoundingClientRect().bottom;
      if (end > height) found.push(`index.html: the roads end at ${end}, below ${height}, at ${width}`);
    });"""
    return script % json.dumps(SCREENS)


def led_on(moved):
    """Look whether the old address of a section leads to the page where it is now; one for each page."""
    script = """
    for (const [page, anchor] of Object.entries(%s)) await framed(`${page}#${anchor}`, 1280, async view => {
      const old = () => view.location.href.endsWith(`/${page}#${anchor}`);
      for (let k = 0; k < 200 && old(); k++) await new Promise(done => setTimeout(done, 50));
      if (old()) found.push(`${page}: #${anchor} does not lead on`);
    });"""
    return script % json.dumps(moved)


def in_browser(root, scripts):
    """Yield what scripts find in the pages, by Chromium; nothing without it.

    A script may call `framed(page, width, look)`, which awaits `look(window, sized)`, and pushes lines to `found`;
    `sized(width)` gives the page another width. `turned(pages, width, look)` awaits `look(page, window, sized)` for
    each of many: style sheets and scripts, which all pages share, are loaded for the first one only.
    """
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        print("no chromium: the pages were not looked at")
        return
    page = """<body><script>
    const found = [];
    const framed = async (page, width, look) => {
      const frame = document.createElement("iframe");
      const sized = width => { frame.style.cssText = `width:${width}px;height:900px;border:0`; };
      sized(width);
      frame.src = page; document.body.append(frame);
      await new Promise(done => { frame.onload = done; });
      await look(frame.contentWindow, sized);
      frame.remove();
    };
    const turned = async (pages, width, look) => framed(pages[0], width, async (view, sized) => {
      const { document } = view, base = document.head.appendChild(document.createElement("base"));
      for (const page of pages) {
        const address = new URL(page, location);
        const text = await (await fetch(address)).text();
        base.href = address;
        sized(width);
        document.body.replaceWith(new view.DOMParser().parseFromString(text, "text/html").body);
        const shown = each => each.complete || new Promise(done => { each.onload = each.onerror = done; });
        await Promise.all([...document.images].map(shown));
        await look(page, view, sized);
      }
    });
    (async () => {
      %s
      document.body.innerHTML = "<pre id=done>" + found.join("\\n") + "</pre>";
    })();</script>"""
    with tempfile.TemporaryDirectory() as folder:
        test = root / "_look.html"
        test.write_text(page % "\n".join(scripts), encoding="utf-8")
        try:
            options = [
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--allow-file-access-from-files",
                f"--user-data-dir={folder}",
                "--window-size=1400,1000",
                "--virtual-time-budget=600000",
                "--dump-dom",
            ]
            command = [browser, *options, test.as_uri()]
            shown = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout
        finally:
            test.unlink()
    told = re.search(r'<pre id="done">(.*?)</pre>', shown, re.DOTALL)
    if told is None:
        yield "Chromium did not come to the end of the pages"
        return
    yield from told[1].split("\n") if told[1] else []


if __name__ == "__main__":
    lines = list(faults(Path(sys.argv[1]).resolve()))
    print("\n".join(lines) or "the site has no faults that this script knows")
    sys.exit(bool(lines))
