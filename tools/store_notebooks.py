"""Run notebooks from top to bottom and store them: outputs of the code as it is, nothing else."""

import base64
import io
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

from gapfm_teach._support.files import replacing

METADATA = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "language_info": {"name": "python"},
}


def smaller(png: str) -> str:
    """The same picture in 32 colours, a fifth of the size: a chart has few, and an SVG beside it."""
    picture = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB").quantize(32)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode() + "\n"


def store(path: Path) -> None:
    """Execute one notebook and replace it; left as it was when a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=900,
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    notebook.metadata = METADATA
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output.data["image/png"] = smaller(output.data["image/png"])
    with replacing(path) as file:
        file.write((nbformat.writes(notebook) + "\n").encode())


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"running {name}", flush=True)
        store(Path(name))
