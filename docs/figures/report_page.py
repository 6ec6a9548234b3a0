"""The page of a private model of a CSV file of which nothing is declared: report_page.png (needs Chromium).

The file has the bundled adult table. Fits are private, so that no seed repeats them; the picture is of the one with the
median AUC of eleven.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pyarrow import csv

import dpfast

HERE, FITS = Path(__file__).parent, 11
DPFAST = [sys.executable, "-c", "from dpfast.cli import app; app()"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        table, page = Path(folder, "adult.csv"), Path(folder, "model.html")
        adult = dpfast.load_dataset("adult")
        csv.write_csv(adult.data.append_column("income", [adult.target.astype(str)]), table)
        areas = {}
        for i in range(FITS):
            model = Path(folder, f"{i}.json")
            command = [*DPFAST, "fit", table, "--label", "income", "--epsilon", "1", "--json", "--out", model]
            told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            areas[model] = json.loads(told)["figures"]["AUC"]["value"]
        middle = sorted(areas, key=areas.get)[FITS // 2]
        print("AUC:", *(f"{area:.3f}" for area in sorted(areas.values())))
        subprocess.run([*DPFAST, "report", middle.rename(Path(folder, "model.json"))], check=True)
        browser = shutil.which("chromium") or shutil.which("chromium-browser")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}"]
        target = f"--screenshot={HERE / 'report_page.png'}"
        subprocess.run([browser, *options, "--window-size=1000,1250", target, page.as_uri()], check=True)


if __name__ == "__main__":
    main()
