"""What all steps have in common: lathe-cli, a folder of projects, and the beginning of one."""

import json
import os
import shutil
import subprocess


class Programs:
    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.cli = os.path.join(arguments.bin, "lathe-cli")
        self.folder = os.path.join(arguments.work, folder)
        self.cache = os.path.join(self.folder, "cache")
        self.environment = {**os.environ, "XDG_CACHE_HOME": self.cache}
        os.makedirs(self.folder, exist_ok=True)

    def lathe(self, *words):
        return subprocess.run([self.cli, *words], stdout=subprocess.PIPE, text=True, check=True, env=self.environment).stdout

    def tune(self, model, project, *words):
        """Events of a run from nothing, with nothing compiled before it, or of one that goes on with --resume."""
        if not self.arguments.resume:
            shutil.rmtree(self.cache, ignore_errors=True)
            for suffix in ("", "-wal", "-shm"):
                if os.path.exists(project + suffix):
                    os.remove(project + suffix)
        out = self.lathe("tune", model, "--project", project, "--time", f"{self.arguments.seconds}s", "--head-start", "none", "--json", *words)
        return [json.loads(line) for line in out.splitlines()]
