"""Tools as BFCL writes them: a class that takes its state by `_load_scenario`, and holds it in attributes."""


class Folders:
    def __init__(self):
        self.here = ""
        self.files = {}

    def _load_scenario(self, scenario):
        self.here = scenario.get("here", "")
        self.files = {name: dict(files) for name, files in scenario.get("files", {}).items()}

    def cd(self, folder):
        if folder not in self.files:
            raise ValueError(f"no folder {folder}")
        self.here = folder
        return {"here": folder}

    def move(self, name, folder):
        self.files[folder][name] = self.files[self.here].pop(name)
        return {"moved": name}

    def read(self, name):
        return self.files[self.here][name]
