"""The page of a private model of the bundled adult table, as a picture: report_page.png (needs Chromium)."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def main():
    with tempfile.TemporaryDirectory() as folder:
        model, page = Path(folder, "model.json"), Path(folder, "model.html")
        command = [sys.executable, "-c", "from dpfast.cli import app; app()"]
        subprocess.run([*command, "fit", "adult", "--epsilon", "1", "--out", model], check=True)
        subprocess.run([*command, "report", model], check=True)
        browser = shutil.which("chromium") or shutil.which("chromium-browser")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}"]
        target = f"--screenshot={HERE / 'report_page.png'}"
        subprocess.run([browser, *options, "--window-size=1000,860", target, page.as_uri()], check=True)


if __name__ == "__main__":
    main()
