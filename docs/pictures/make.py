#!/usr/bin/env python3
"""make.py HAUL [FOLDER]: the pictures of README, from a run that docs/results/data keeps (nvbandwidth on one H200).

terminal.svg is what `haul show latest` prints, page.png (if there is a chromium) the top of `haul report`. With FOLDER
terminal.svg alone is written, there.
"""
import html, lzma, os, pathlib, re, shutil, subprocess, sys, tempfile

haul = os.path.abspath(sys.argv[1])
here = pathlib.Path(__file__).resolve().parent
folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else here).resolve()
WIDTH, LINE, CHARACTER, MARGIN = 114, 17, 7.8, 14
STYLE = """text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d7dce2; white-space: pre }
.b { font-weight: 700 } .d { fill: #8d96a0 } .p { fill: #7ee787 } rect { fill: #15181c }"""
CLASSES = {"1": "b", "2": "d"}


def spans(line):
    """A line with the escape sequences of a terminal, as pieces of SVG text."""
    parts = re.split(r"\033\[([0-9;]*)m", line)
    text = html.escape(parts[0])
    for codes, piece in zip(parts[1::2], parts[2::2]):
        name = CLASSES.get(codes)
        piece = html.escape(piece)
        text += f'<tspan class="{name}">{piece}</tspan>' if name and piece else piece
    return text


def picture(command, lines):
    height = (len(lines) + 1) * LINE + 2 * MARGIN
    width = WIDTH * CHARACTER + 2 * MARGIN
    rows = [f'<tspan class="p">$ {html.escape(command)}</tspan>'] + [spans(line) for line in lines]
    texts = "".join(f'<text x="{MARGIN}" y="{MARGIN + (i + 0.8) * LINE:.1f}">{row}</text>\n'
                    for i, row in enumerate(rows) if row)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" role="img">\n'
            f"<title>{html.escape(command)}</title><style>{STYLE}</style>\n"
            f'<rect width="100%" height="100%" rx="8"/>\n{texts}</svg>\n')


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    with lzma.open(here.parent / "results/data/h200-nvbandwidth.db.xz") as file:
        pathlib.Path("results.db").write_bytes(file.read())
    ask = f"stty cols {WIDTH}; '{haul}' show latest --db results.db 2>/dev/null"
    printed = subprocess.run(["script", "-qec", ask, "/dev/null"], stdin=subprocess.DEVNULL, capture_output=True,
                             check=True, env={**os.environ, "TERM": "xterm", "COLUMNS": "", "LC_ALL": "C.UTF-8"}).stdout.decode()
    (folder / "terminal.svg").write_text(picture("haul show latest", printed.replace("\r", "").splitlines()))
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser and folder == here:
        subprocess.run([haul, "report", "page.html", "latest", "--db", "results.db", "-q"], check=True)
        subprocess.run([browser, "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1000,720",
                        f"--screenshot={here}/page.png", f"file://{scratch}/page.html"], check=True,
                       capture_output=True)
