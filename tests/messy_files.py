"""Files as people have them: shapes of exports and downloads, with made rows.

Each function returns the content of a file for a number of rows, and its label, which follows one column, wrong for one
row in twenty.
"""

import csv
import io

import numpy as np


def _label(r, truth, yes, no):
    return np.where(truth ^ (r.random(len(truth)) < 0.05), yes, no)


def _german(x, digits=2):
    return f"{x:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def _days(r, n):
    return (np.datetime64("2018-01-01") + r.integers(0, 1200, n).astype("timedelta64[D]")).astype(object)


def _text(rows, before="", after="", **form):
    out = io.StringIO()
    out.write(before)
    csv.writer(out, **form).writerows(rows)
    return out.getvalue() + after


def accounts(n, r):
    """A list of SAP: UTF-16, tabs, a minus at the end, an empty date, two columns of one name, a line of totals."""
    amount = np.round(r.normal(500, 2500, n), 2)
    label = _label(r, amount > 500, "offen", "ausgeglichen")
    rows = [["Beleg", "Datum", "Fällig", "Betrag", "Währg", "Menge", "Währg", "Uhrzeit", "Status"]]
    for k, day in enumerate(_days(r, n)):
        due = "00.00.0000" if r.random() < 0.1 else f"{day:%d.%m.%Y}"
        sign = "-" if amount[k] < 0 else " "
        time = f"{r.integers(24):02}:{r.integers(60):02}:{r.integers(60):02}"
        of_money = f"{_german(abs(amount[k])):>12}{sign}"
        pieces = _german(r.integers(1, 5000), 3) + " ST"
        rows.append([4900000000 + k, f"{day:%d.%m.%Y}", due, of_money, "EUR", pieces, "EUR", time, label[k]])
    rows.append(["*", "", "", _german(amount.sum()), "EUR", "", "", "", ""])
    return _text(rows, dialect="excel-tab").encode("utf-16"), "Status"


def bank(n, r):
    """A statement of a German bank: Latin-1, years of two digits, a decimal comma, a currency beside some amounts."""
    amount = np.round(r.normal(0, 400, n), 2)
    label = _label(r, amount > -50, "Fixkosten", "Übrige")
    rows = [["Buchungstag", "Empfänger", "Verwendungszweck", "Betrag", "Saldo", "Kategorie", ""]]
    for k, (day, saldo) in enumerate(zip(_days(r, n), np.cumsum(amount) + 5000, strict=True)):
        to = r.choice(["REWE", "Müller", "Vermieter"])
        saldo = _german(saldo) + " EUR"
        rows.append([f"{day:%d.%m.%y}", to, f"Rechnung {r.integers(10**6)}", _german(amount[k]), saldo, label[k], ""])
    before = '"Konto:";"DE02 1203 0000 0000 2020 51"\r\n\r\n"Kontostand:";"1.234,56 EUR"\r\n'
    return _text(rows, before, delimiter=";", quoting=csv.QUOTE_ALL).encode("latin-1"), "Kategorie"


def logger(n, r):
    """A weather station in the form TOA5: a line about it, names, units, aggregations, then rows; NAN and -6999."""
    warm = 15 + 8 * np.sin(np.arange(n) / 23) + r.normal(0, 2, n)
    label = _label(r, warm > 15, "open", "shut")
    rows = [["TIMESTAMP", "RECORD", "AirTC_Avg", "RH", "BP_mbar", "Vent"], ["TS", "RN", "Deg C", "%", "mbar", ""]]
    rows.append(["", "", "Avg", "Smp", "Smp", ""])
    for k in range(n):
        time = np.datetime64("2019-06-01T00:00") + np.timedelta64(10 * k, "m")
        seen = r.choice(["NAN", "-6999"]) if r.random() < 0.03 else f"{warm[k]:.3f}"
        damp, pressure = f"{r.uniform(30, 100):.1f}", f"{r.normal(1013, 8):.2f}"
        rows.append([f"{time}:00".replace("T", " "), k, seen, damp, pressure, label[k]])
    return _text(rows, '"TOA5","Station 4","CR1000","38961","met.CR1"\n').encode(), "Vent"


def panel(n, r):
    """An export of Stata: households, missing values . .a .d, 01jan2010, 2010m3, whole numbers as 34.0, 45,000."""
    income = np.exp(r.normal(11, 0.4, n)).astype(int)
    label = _label(r, income > 60000, "1. yes", "2. no")
    rows = [["hhid", "intdate", "intmonth", "age", "income", "share", "region", "employed"]]
    for k, day in enumerate(_days(r, n)):
        age = r.choice([".", ".a", ".d"]) if r.random() < 0.04 else f"{r.integers(18, 90)}.0"
        where, share = r.choice(["1. North", "2. South", "3. East"]), f"{r.uniform(0, 100):.1f}%"
        month = f"{day.year}m{day.month}"
        rows.append([k // 3, f"{day:%d%b%Y}".lower(), month, age, f"{income[k]:,}", share, where, label[k]])
    return _text(rows).encode(), "employed"


def hospital(n, r):
    """Admissions of a British hospital: 05/01/2020 10:30, 120/80, ages and stays with units, limits such as <5."""
    stay = r.gamma(1.5, 4, n).astype(int) + 1
    label = _label(r, stay > 5, "Y", "N")
    rows = [["NHS Number", "Admitted", "Age", "LOS", "Weight", "BP", "Temp", "CRP", "Ward", "Readmitted?"]]
    for k, day in enumerate(_days(r, n)):
        number = f"{r.integers(400, 500)} {r.integers(100, 999)} {r.integers(1000, 9999)}"
        age, days = f"{r.integers(1, 99)}y", f"{stay[k]} day" + "s" * int(stay[k] > 1)
        weight = r.choice(["N/K", "not done"]) if r.random() < 0.1 else f"{r.normal(75, 15):.1f}"
        pressure, warm = f"{r.integers(90, 190)}/{r.integers(50, 110)}", f"{r.normal(37, 0.6):.1f}°C"
        crp = r.gamma(1, 20)
        crp = "<5" if crp < 5 else f"{crp:.0f}"
        when = f"{day:%d/%m/%Y} {r.integers(24):02}:{r.integers(60):02}"
        rows.append([number, when, age, days, weight, pressure, warm, crp, r.choice(["A&E", "Café"]), label[k]])
    return _text(rows).encode("cp1252"), "Readmitted?"


def meter(n, r):
    """A smart meter: lines about the customer, American dates, clocks of 12 hours, ($1.05), no notes, a total."""
    hour = np.arange(n) // 4 % 24
    used = r.gamma(2, 0.2, n) + (hour > 15)
    label = _label(r, used > 1, "PEAK", "OFF")
    rows = [["TYPE", "DATE", "START TIME", "USAGE", "COST", "NET", "NOTES", "PERIOD"]]
    for k in range(n):
        time = (np.datetime64("2021-01-01T00:00") + np.timedelta64(15 * k, "m")).astype(object)
        date, start = f"{time.month}/{time.day}/{time.year}", f"{time:%I:%M %p}".lstrip("0")
        net = used[k] / 5 - r.gamma(1, 0.2)
        net = f"${net:.2f}" if net >= 0 else f"(${-net:.2f})"
        rows.append(["Electric", date, start, f"{used[k]:.2f} kWh", f"${used[k] / 5:.2f}", net, "", label[k]])
    before = 'Name,ACME CUSTOMER\nAddress,"12 Main St, Springfield"\nAccount Number,1234567890\n\n'
    return _text(rows, before, f"\nTotal,,,{used.sum():.2f},,,,\n").encode(), "PERIOD"


def survey(n, r):
    """An export of Qualtrics: a byte order mark, three lines of a header, texts with ends of lines, several choices."""
    born = r.integers(1940, 2004, n)
    label = _label(r, born > 1972, "Very likely", "Not likely")
    rows = [["StartDate", "Duration", "ResponseId", "Latitude", "Q1", "Q2", "Q3", "Q3", "Q4_TEXT", "Q5"]]
    asked = ["Which do you own?\nChoose all.", "Satisfied?", "Satisfied?", "Anything else?", "Will you buy?"]
    rows.append(["Start Date", "Duration (in seconds)", "Response ID", "Location Latitude", "Year of birth?", *asked])
    rows.append([f'{{"ImportId":"QID{k}"}}' for k in range(10)])
    for k in range(n):
        time = str(np.datetime64("2021-03-01T00:00:00") + np.timedelta64(int(r.integers(2592000)), "s"))
        who = "R_" + "".join(r.choice([*"abcdefghijkXYZ0123456789"], 15))
        owns = ",".join(each for each in ("Car", "Bike", "Boat") if r.random() < 0.5)
        text = "" if r.random() < 0.8 else f'I said:\n"no, {r.integers(999)}"'
        place, seconds = f"{r.uniform(30, 48):.4f}", int(np.exp(r.normal(6, 1)))
        marks = r.choice(["Agree", "Neutral", "Disagree"], 2)
        rows.append([time.replace("T", " "), seconds, who, place, born[k], owns, *marks, text, label[k]])
    return b"\xef\xbb\xbf" + _text(rows).encode(), "Q5"


def race(n, r):
    """A half marathon: 59:30 and 1:02:03, paces, DNF, per cent, heights in feet, 1,234 points."""
    seconds = r.normal(6300, 1500, n).clip(3000).astype(int)
    label = _label(r, seconds < 6200, "yes", "no")
    rows = [["Pos", "Bib", "Name", "Gun time", "Pace", "Grade", "Height", "Points", "Qualified"]]
    for k, time in enumerate(seconds.tolist()):
        hours = f"{time // 3600}:{time % 3600 // 60:02}" if time >= 3600 else f"{time // 60}"
        clock, out = f"{hours}:{time % 60:02}", r.random() < 0.04
        pace = f"{time // 21 // 60}:{time // 21 % 60:02}/km"
        bib, high = f"A{r.integers(10000)}", f"{r.integers(5, 7)}'{r.integers(12)}\""
        grade, points = f"{350000 / time:.2f} %", f"{r.integers(200, 3000):,}"
        name = f"Runner {k}"
        rows.append(["DNF" if out else k + 1, bib, name, "DNF" if out else clock, pace, grade, high, points, label[k]])
    return _text(rows, delimiter=";").encode(), "Qualified"


def flats(n, r):
    """A German broker's Excel: sep=;, prices and areas with units, degrees, a comma, k.A., #DIV/0!, (1.234,00)."""
    north, east = r.uniform(48.1, 48.3, n), r.uniform(-16.5, 16.5, n)
    label = _label(r, north > 48.2, "WAHR", "FALSCH")
    rows = [["ObjektNr", "Preis", "Fläche", "Zimmer", "Breite", "Länge", "Baujahr", "Rendite", "Ergebnis", "verkauft"]]
    for k in range(n):
        price, far = np.exp(r.normal(12.6, 0.5)), abs(east[k])
        money = f"€ {_german(price, 0)}" if r.random() < 0.5 else f"{_german(price, 0)} €"
        degrees = f"{int(far)}°{int(far % 1 * 60)}'{far * 60 % 1 * 60:.1f}\"{'E' if east[k] > 0 else 'W'}"
        built = r.choice(["k.A.", "#DIV/0!", ""]) if r.random() < 0.05 else r.integers(1880, 2020)
        result = f"({_german(far * 1000)})" if east[k] < 0 else _german(far * 1000)
        place, rooms = f"{north[k]:.4f} N".replace(".", ","), f"{r.integers(1, 7)},0"
        area, gain = _german(price / 6000, 1) + " m²", _german(r.normal(4, 1)) + " %"
        rows.append([f"W-{k:05}", money, area, rooms, place, degrees, built, gain, result, label[k]])
    return b"\xef\xbb\xbf" + _text(rows, "sep=;\r\n", ";;;;;;;;;\r\n", delimiter=";").encode(), "verkauft"


def lab(n, r):
    """A laboratory's system: a comment, blank lines, 02-JAN-20, limits, units, titres, 1.2E+05, a true minus."""
    found = r.gamma(2, 2, n)
    label = _label(r, found > 3.4, "abnormal", "normal")
    lines = [["Sample", "Collected", "Result", "Result", "Glucose", "Titre", "Count", "Delta", "Flag"]]
    for k, day in enumerate(_days(r, n)):
        seen = "<0.5" if found[k] < 0.5 else f"{found[k]:.2f}"
        sugar, titre, count = f"{r.normal(5.5, 1):.1f} mmol/L", f"1:{10 * 2 ** r.integers(6)}", f"{r.gamma(2, 1e5):.2E}"
        change, said = r.normal(0, 1), r.choice(["POS", "NEG", "n/a"])
        change = ("\u2212" if change < 0 else "+") + f"{abs(change):.2f}"
        lines += [[]] * (k % 200 == 199)
        lines.append([f"S{k:06}", f"{day:%d-%b-%y}".upper(), seen, said, sugar, titre, count, change, label[k]])
    return _text(lines, "# LIS export v3.2;\n", dialect="excel-tab").encode(), "Flag"


def orders(n, r):
    """Orders of a shop: times with an offset, 0.00 throughout, zip codes after an apostrophe, e-mails."""
    total = np.exp(r.normal(4, 1, n))
    label = _label(r, total > 55, "true", "false")
    rows = [
        ["Name", "Email", "Paid at", "Total", "Discount Amount", "Tip", "Lineitem name", "Billing Zip", "Phone", "Gift"]
    ]
    for k in range(n):
        time = str(np.datetime64("2023-03-01T00:00:00") + np.timedelta64(int(r.integers(2592000)), "s"))
        sold = r.choice(["Shirt - M / Blue", "Mug, large"])
        phone = f"+1 555-{r.integers(100, 999)}-{r.integers(1000, 9999)}"
        rows.append([f"#{1001 + k}", f"c{r.integers(n // 3)}@example.org", f"{time.replace('T', ' ')} -0500"])
        rows[-1] += [f"{total[k]:.2f}", "0.00", r.choice(["0.0", "1.0"]), sold, f"'{r.integers(501, 99999):05}", phone]
        rows[-1].append(label[k])
    return _text(rows).encode(), "Gift"


def form(n, r):
    """A form of a search engine's: 2023/01/05 3:04:05 PM GMT+1, several answers, Arabic digits, lakhs, two units."""
    age = r.integers(16, 80, n)
    label = _label(r, age > 45, "Yes", "No")
    rows = [["Timestamp", "How old are you?", "Which do you own?", "Income", "Time on the way", "Since", "Again?"]]
    for k in range(n):
        time = (np.datetime64("2023-01-01T00:00") + np.timedelta64(int(r.integers(300000)), "m")).astype(object)
        stamp = f"{time:%Y/%m/%d} {time.hour % 12 or 12}:{time:%M:%S} {'AM' if time.hour < 12 else 'PM'} GMT+1"
        digits = str(age[k]).translate({48 + d: 0x660 + d for d in range(10)})
        owns = ";".join(each for each in ("Phone", "Laptop", "Tablet") if r.random() < 0.5)
        way = f"{r.integers(5, 60)} min" if r.random() < 0.7 else f"{r.uniform(1, 3):.1f} hours"
        income, day = int(np.exp(r.normal(14, 0.5))), r.integers(1, 29)
        income = f"{income // 100000},{income // 1000 % 100:02},{income % 1000:03}" if income >= 10**5 else income
        rows.append([stamp, digits, owns, income, way, f"2019年{r.integers(1, 13)}月{day}日", label[k]])
    return _text(rows, "Answers\n\n").encode(), "Again?"


def shop(n, r):
    """A French shop: 1 234,56 € with three kinds of blanks, telephone numbers, post codes, -15 %, VRAI, 2A and 01."""
    price = np.round(np.exp(r.normal(6, 1, n)), 2)
    label = _label(r, price > 400, "Oui", "Non")
    rows = [["Prix TTC", "Téléphone", "Code postal", "Date d'achat", "Remise", "Département", "Abonné", "Fidèle"]]
    for k, day in enumerate(_days(r, n)):
        amount = f"{price[k]:,.2f}".replace(",", r.choice(["\u202f", "\xa0", " "])).replace(".", ",") + " €"
        number = f"0{r.integers(1, 8)}" + "".join(f" {r.integers(100):02}" for _ in range(4))
        rows.append([amount, number, f"{r.integers(1, 96):02}{r.integers(999):03}", f"{day:%d/%m/%Y}"])
        rows[-1] += [f"-{r.integers(60)} %", r.choice(["2A", "2B", "01", "75"]), r.choice(["VRAI", "FAUX"]), label[k]]
    return b"\xef\xbb\xbf" + _text(rows, delimiter=";").encode(), "Fidèle"


def geography(n, r):
    """Degrees, U+2212, (1.234,50), 400%, 1,5E+03, days of Excel, dashes, empty columns; labels 1.0 beside a comma."""
    north = r.uniform(-60, 60, n)
    label = _label(r, north > 5, "1.0", "0.0")
    rows = [["Lat", "Delta", "Net", "Growth", "Sci", "Date", "Version", "Empty", "Gap", "Hot"]]
    for k in range(n):
        far, net, change = abs(north[k]), r.normal(0, 1000), r.normal(0, 10)
        rows.append([f"{int(far)}° {int(far % 1 * 60):02}' {far * 60 % 1 * 60:.2f}\" {'N' if north[k] > 0 else 'S'}"])
        rows[-1] += [("\u2212" if change < 0 else "") + f"{abs(change):.2f}".replace(".", ",")]
        rows[-1] += [f"({_german(-net)})" if net < 0 else _german(net), f"{r.uniform(0, 400):.0f}%"]
        rows[-1] += [f"{np.exp(r.normal(5, 3)):.2E}".replace(".", ","), 43831 + r.integers(1500)]
        rows[-1] += [r.choice(["2.1", "2.2"]), "", r.choice(["-", "NA"]), label[k]]
    return _text(rows, delimiter=";").encode(), "Hot"
