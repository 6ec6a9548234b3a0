"""The page of a private model of the bundled adult table, as a picture: report_page.png (needs Chromium)."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import dpfast

HERE = Path(__file__).parent


def main():
    adult = dpfast.load_dataset("adult")
    model = dpfast.HalfspaceClassifier(epsilon=1, schema=adult.schema).fit(adult.data, adult.target)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "model.html")
        model.report(page)
        browser = shutil.which("chromium") or shutil.which("chromium-browser")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}"]
        target = f"--screenshot={HERE / 'report_page.png'}"
        subprocess.run([browser, *options, "--window-size=1000,760", target, page.as_uri()], check=True)


if __name__ == "__main__":
    main()
