"""tree.py - a copy of a source tree, built, and its tests: what coverage.py and mutate.py share."""
import filecmp
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PRODUCT = ("engine", "schema", "runner")
# Tests of sources, kernels and packages, and those that need a GPU or Slurm.
NOT_PRODUCT = "(style/|kernels/|gpu/(ptx|sass|measures)$|cli/(install|package)$|fleet$)"


class Tree:
    """The sources of `root`, copied to `folder`/source and built in `folder`/`build`. Nothing is written to `root`."""

    def __init__(self, root, folder, build, jobs, *options):
        self.source = folder / "source"
        self.build = folder / build
        self.jobs = jobs
        self.copy(root)
        # Tests and executables that run during the build count lines there.
        self.environment = dict(os.environ, GCOV_PREFIX=str(folder / "gcov-of-the-build"), CI="true")
        self.command("cmake", "-G", "Ninja", "-S", self.source, "-B", self.build, "-DCMAKE_BUILD_TYPE=Release",
                     "-DCMAKE_C_FLAGS_RELEASE=-O1", "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DHAUL_CUDA_ARCHITECTURES=90",
                     *options)

    def build_all(self):
        if not self.ninja("all"):
            raise SystemExit(self.log)
        shutil.rmtree(self.environment["GCOV_PREFIX"], ignore_errors=True)

    def copy(self, root):
        names = subprocess.run(["git", "-C", root, "ls-files", "-coz", "--exclude-standard"], check=True,
                               capture_output=True, text=True).stdout.split("\0")
        names = {name for name in names if name and (root / name).is_file()}
        for name in names:
            to = self.source / name
            if not to.exists() or not filecmp.cmp(root / name, to, shallow=False):
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(root / name, to)
        for path in [path for path in self.source.rglob("*") if path.is_file()]:
            if str(path.relative_to(self.source)) not in names:
                path.unlink()

    def command(self, *words):
        """Run a command of the build; its output is in self.log. Ends the program when the command fails."""
        if not self.succeeds(*words):
            raise SystemExit(self.log)

    def succeeds(self, *words):
        done = subprocess.run([str(word) for word in words], env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        self.log = done.stdout
        return done.returncode == 0

    def ninja(self, *targets):
        return self.succeeds("ninja", "-C", self.build, "-j", self.jobs, *targets)

    def product(self, *suffixes):
        """Names of the product's sources."""
        return sorted(str(path.relative_to(self.source)) for folder in PRODUCT
                      for path in (self.source / folder).rglob("*") if path.suffix in suffixes)

    def tests(self):
        """The tests of CTest that run the product here, by name."""
        for name in self.executables():
            if not (self.build / name).exists():  # CTest does not tell the command of a missing program
                (self.build / name).parent.mkdir(parents=True, exist_ok=True)
                (self.build / name).touch(0o755)
        self.command("ctest", "--test-dir", self.build, "--show-only=json-v1")
        found = {}
        for test in json.loads(self.log[self.log.index("{"):])["tests"]:
            properties = {item["name"]: item["value"] for item in test["properties"]}
            if re.match(NOT_PRODUCT, test["name"]):
                continue
            found[test["name"]] = {
                "command": test["command"],
                "environment": dict(line.split("=", 1) for line in properties.get("ENVIRONMENT", [])),
                "folder": properties.get("WORKING_DIRECTORY", self.build),
            }
        return found

    def targets(self, test):
        """What has to be built for a test: its program, or the executables that its script names."""
        program = pathlib.Path(test["command"][0])
        if program.is_relative_to(self.build):
            text = "\n".join(test["command"])
        else:
            text = "haul\n" + "\n".join(
                word if not word.startswith(str(self.source)) or pathlib.Path(word).is_dir()
                else pathlib.Path(word).read_text(errors="replace") for word in test["command"])
        return [name for name in self.executables() if re.search(rf"(^|[ /]){re.escape(name)}($|[ \"])", text, re.M)]

    def executables(self):
        if not hasattr(self, "found_executables"):
            self.command("ninja", "-C", self.build, "-t", "targets", "all")
            self.found_executables = re.findall(r"^(\S+): C(?:XX)?_EXECUTABLE_LINKER", self.log, re.M)
        return self.found_executables

    def run(self, test, limit_s, **environment):
        """Result of a test ("passed", "failed", "skipped", "timed out") and its wall time."""
        scratch = tempfile.mkdtemp(prefix="mutation-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        os.chmod(scratch, 0o755)  # some tests look at it as another user
        start = time.monotonic()
        process = subprocess.Popen(test["command"], cwd=test["folder"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                   env={**os.environ, **test["environment"], "TMPDIR": scratch, **environment})
        try:
            result = {0: "passed", 77: "skipped"}.get(process.wait(limit_s), "failed")
        except subprocess.TimeoutExpired:
            result = "timed out"
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            shutil.rmtree(scratch, ignore_errors=True)
        return result, time.monotonic() - start
