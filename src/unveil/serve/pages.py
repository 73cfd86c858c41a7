"""The pages, from the choice of files to the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.resources import files
from secrets import token_urlsafe

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from unveil.assessment.scenario import SEVERAL
from unveil.errors import CallError, UnveilError
from unveil.models.learners import attacker_names
from unveil.serve import question
from unveil.serve.copies import stored
from unveil.serve.desk import DEMO_COMMAND, KINDS, Desk
from unveil.serve.forms import Form, check_secret, form_of
from unveil.serve.guard import REPORT_POLICY
from unveil.serve.plan import SCENARIO
from unveil.serve.question import Problem
from unveil.serve.worker import unforeseen
from unveil.show.report.page import template_text

TYPES = {".html": "text/html", ".md": "text/markdown", ".json": "application/json", ".toml": "application/toml"}


@dataclass(frozen=True)
class Pages:
    """Routes of the application, each a step of the work at the desk."""

    desk: Desk
    secret: str = field(default_factory=token_urlsafe, repr=False)

    def app(self) -> Starlette:
        """The application; it trusts whoever asks, so that a guard must stand before it."""
        reads = {
            "/": self.files, "/columns": self.columns, "/question": self.question, "/run": self.run,
            "/state": self.state, "/report": self.report, "/save/{name}": self.save, "/style.css": self.style,
            "/script.js": self.script,
        }  # fmt: skip
        changes = {
            "/files": self.choose, "/demo": self.demo, "/copies/{role}": self.copy,
            "/copies/{role}/remove": self.remove, "/columns": self.correct, "/uniques": self.uniques,
            "/question": self.ask, "/stop": self.stop,
        }  # fmt: skip
        return Starlette(
            routes=[
                *(Route(path, answer, methods=["GET"]) for path, answer in reads.items()),
                *(Route(path, answer, methods=["POST"]) for path, answer in changes.items()),
            ],
            exception_handlers={UnveilError: self._refused, Exception: self._failed},
        )

    # Files

    async def files(self, request: Request) -> Response:
        """The page on which files are chosen."""
        return await self._page("files.html")

    async def choose(self, request: Request) -> Response:
        """Take the files that the form names."""
        return await self._taken(request, self.desk.choose_files, "files.html", "/columns")

    async def demo(self, request: Request) -> Response:
        """Choose the files of the demonstration."""
        await form_of(request, self.secret)
        await run_in_threadpool(self.desk.choose_demo)
        return _on("/columns")

    async def copy(self, request: Request) -> Response:
        """Take a copy of a file that the browser sends."""
        check_secret(request.headers.get("x-csrf", ""), self.secret)
        role, name = request.path_params["role"], request.query_params.get("name", "")
        path = await stored(self.desk.folder, role, name, request.stream())
        await run_in_threadpool(self.desk.copy_came, role, path)
        return self._copied(role)

    async def remove(self, request: Request) -> Response:
        """Remove the copies of a role."""
        await form_of(request, self.secret)
        await run_in_threadpool(self.desk.forget_copies, request.path_params["role"])
        return self._copied(request.path_params["role"])

    def _copied(self, role: str) -> Response:
        return JSONResponse([path.name for path in self.desk.copied.get(role, [])])

    # Columns

    async def columns(self, request: Request) -> Response:
        """The page on what each column was taken for."""
        return await self._page("columns.html") if self.desk.pair else _on("/")

    async def correct(self, request: Request) -> Response:
        """Read the files again as the form says."""
        return await self._taken(request, self.desk.correct_columns, "columns.html", "/question")

    # Question

    async def question(self, request: Request) -> Response:
        """The page on which keys, targets and options are chosen."""
        return await self._page("question.html") if self.desk.pair else _on("/")

    async def uniques(self, request: Request) -> Response:
        """How many persons the keys of a form single out."""
        form = await form_of(request, self.secret)
        try:
            return PlainTextResponse(await run_in_threadpool(self.desk.uniques, form))
        except UnveilError as error:
            return PlainTextResponse(str(error))

    async def ask(self, request: Request) -> Response:
        """Start the assessment."""
        return await self._taken(request, self.desk.ask, "question.html", "/run")

    # Run

    async def run(self, request: Request) -> Response:
        """The page of an assessment: its progress, and its report."""
        return await self._page("run.html") if self.desk.run else _on("/")

    async def state(self, request: Request) -> Response:
        """How far the assessment is."""
        return JSONResponse(None if self.desk.run is None else self.desk.run.state())

    async def stop(self, request: Request) -> Response:
        """End the assessment; its last page stays."""
        await form_of(request, self.secret)
        await run_in_threadpool(self.desk.close)
        return _on("/run")

    async def report(self, request: Request) -> Response:
        """The report as it stands, in a frame without the rights of these pages."""
        page = self.desk.run and self.desk.run.documents.get("report.html")
        if not page:
            return PlainTextResponse("There is no report yet.\n", 404)
        return HTMLResponse(page, headers={"Content-Security-Policy": REPORT_POLICY})

    async def save(self, request: Request) -> Response:
        """A document as a file to keep."""
        name, run = request.path_params["name"], self.desk.run
        kept = {} if run is None else run.documents | {SCENARIO: run.plan.scenario(self.desk.folder)}
        if run is None or name not in kept:
            return PlainTextResponse("There is no such document.\n", 404)
        run.saved.add(name)
        kind = TYPES[name[name.rindex(".") :]]
        return Response(kept[name], media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})

    # What all pages share

    async def style(self, request: Request) -> Response:
        """The style of the report, and what forms need besides."""
        return Response(template_text("report.css") + _text("style.css"), media_type="text/css")

    async def script(self, request: Request) -> Response:
        """The script of the pages."""
        return Response(_text("script.js"), media_type="text/javascript")

    async def _taken(
        self, request: Request, take: Callable[[Form], list[Problem]], template: str, onward: str
    ) -> Response:
        """Go on where the desk takes a form; else show the form again, with what is wrong beside its fields."""
        form = await form_of(request, self.secret)
        problems = await run_in_threadpool(take, form)
        if problems:
            return await self._page(template, form, problems)
        return _on(request.url.path if form.text("then") == "again" else onward)

    async def _page(self, template: str, form: Form | None = None, problems: Sequence[Problem] = ()) -> Response:
        """A page, made in a thread: it may wait for the desk, and nobody shall wait for it."""
        render = partial(
            self._environment.get_template(template).render, desk=self.desk, plan=self.desk.plan, run=self.desk.run,
            said=partial(_said, form), form=form, problems=problems, wrong=partial(_wrong, problems),
        )  # fmt: skip
        return HTMLResponse(await run_in_threadpool(render), 422 if problems else 200)

    @cached_property
    def _environment(self) -> Environment:
        made = Environment(
            loader=PackageLoader("unveil.serve", "templates"), autoescape=True, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        made.globals.update(
            secret=self.secret, kinds=KINDS, question=question, several=SEVERAL, demo_command=DEMO_COMMAND,
            attackers=("auto", *attacker_names(), "suite"),
        )  # fmt: skip
        return made

    async def _refused(self, request: Request, error: Exception) -> Response:
        return self._error(request, str(error), 400 if isinstance(error, CallError) else 422)

    async def _failed(self, request: Request, error: Exception) -> Response:
        return self._error(request, unforeseen(error), 500)

    def _error(self, request: Request, text: str, status: int) -> Response:
        if request.headers.get("x-csrf"):
            return PlainTextResponse(text, status)
        return HTMLResponse(self._environment.get_template("error.html").render(text=text, problems=()), status)


def _on(path: str) -> Response:
    return RedirectResponse(path, 303)


def _said(form: Form | None, name: str, otherwise: object = "") -> str:
    """What a field holds: what was typed, or else what is known."""
    return form.text(name) if form is not None else str(otherwise)


def _wrong(problems: Sequence[Problem], name: str) -> str:
    """What is wrong with a field; empty where nothing is."""
    return next((one.text for one in problems if one.field == name), "")


def _text(name: str) -> str:
    return (files("unveil.serve") / "templates" / name).read_text(encoding="utf-8")
