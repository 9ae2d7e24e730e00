"""The linker: what it joins runs as the modules do, and what it cannot join it names."""

import re
import shutil
import subprocess

import pytest

from gapfm_course.explorables import linked

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no Node to run scripts in")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of modules in the place of the real one: `folder(name=source)` adds to it."""
    monkeypatch.setattr(linked, "HERE", tmp_path)
    (tmp_path / "views").mkdir()

    def add(**sources):
        for name, source in sources.items():
            path = tmp_path / f"{name.replace('__', '/')}.js"
            path.write_text(source, encoding="utf-8")

    add(
        mount="export function mountAll(views) { views.a(); }\n",
        kit="export const one = 1;\n",
    )
    return add


def run(script: str) -> str:
    done = subprocess.run([NODE, "-e", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@needs_node
def test_names_that_two_modules_share_stay_their_own(folder):
    folder(
        kit='import { twice as double } from "./sums.js";\nconst mine = 3;\n'
        "export function six() { return double(mine); }\n",
        sums="const mine = 2;\nexport function twice(x) { return mine * x; }\n",
        views__a='import * as kit from "../kit.js";\nimport {\n  twice,\n} from "../sums.js";\n'
        "const mine = 10;\nexport function view() { console.log(kit.six(), twice(mine)); }\n",
    )
    script = linked._joined(("a",)) + "modules.mount.mountAll(views);"
    assert run(script) == "6 20"
    assert script.count("modules.sums = ") == 1


@needs_node
def test_the_engine_is_there_as_text_for_a_worker(folder):
    folder(
        engine="const two = 2;\nexport const four = two * two;\n",
        views__a='import { four } from "../engine.js";\nexport function view() {\n'
        "  console.log(four, new Function(`return (${sources.engine})().four`)());\n}\n",
    )
    assert run(linked._joined(("a",)) + "modules.mount.mountAll(views);") == "4 4"


@pytest.mark.parametrize("line", ["export default 1;", 'import x from "./kit.js";'])
def test_a_form_that_is_not_joined_is_named(folder, line):
    folder(views__a=f"{line}\nexport function view() {{}}\n")
    with pytest.raises(ValueError, match=f"a.js: .*{re.escape(line)}"):
        linked._joined(("a",))


def test_an_unknown_view_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"no view is called 'dragged'.*drag_list"):
        linked.for_notebook("dragged")


@pytest.mark.parametrize("view", linked.VIEWS)
@needs_node
def test_the_module_for_a_notebook_offers_a_renderer(view, tmp_path):
    path = tmp_path / "view.mjs"
    path.write_text(linked.for_notebook(view), encoding="utf-8")
    script = f"import('{path.as_uri()}').then(m => console.log(typeof m.default.render))"
    assert run(script) == "function"
