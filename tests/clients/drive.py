"""A client made with the Python SDK. Takes its plan as JSON and tells what it saw; judges nothing.

The plan: `entry` (what to start as the server, as in an `.mcp.json`), `strict`, `roots`, `steps`. A step is a
list whose first element says which of the functions below it is for; the others are its arguments.

On stdout stand JSON lines, numbered by `id`: `at` names a place where the script waits for a line on stdin,
`facts` is the last one. Both generations of the SDK are known: 1.x has a session over two streams, 2.x a
client that finds out by itself which protocol the server speaks.
"""

import json
import os
import sys
from contextlib import asynccontextmanager
from importlib.metadata import version

import anyio
import anyio.to_thread
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

FIRST_GENERATION = version("mcp").startswith("1.")
PLAN = json.loads(sys.argv[1])
lines_told = 0


def tell(**what):
    global lines_told
    lines_told += 1
    print(json.dumps({"id": lines_told, **what}), flush=True)


async def word(at):
    """Says where the script is and waits until the test lets it go on."""
    tell(at=at)
    if not await anyio.to_thread.run_sync(sys.stdin.readline):
        raise EOFError("the test has gone")


def plain(model):
    """A result as it stood on the wire."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


class Heard:
    """What reaches the client beside the answers that it waits for."""

    def __init__(self):
        self.errors = []
        self.notifications = []
        self.roots_asked = 0
        self.news = anyio.Event()

    async def message(self, message):
        if isinstance(message, Exception):
            self.errors.append(str(message))
            # A handler that lets nothing pass in silence. In 1.x an exception from here ends the session.
            if PLAN.get("strict"):
                raise message
        elif method := getattr(getattr(message, "root", message), "method", None):
            self.notifications.append(method)
            self.news.set()

    async def roots(self, _context):
        self.roots_asked += 1
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in PLAN.get("roots", [])])

    async def notification(self, method):
        while method not in self.notifications:
            self.news = anyio.Event()
            await self.news.wait()


class Steps:
    """What a plan can ask for. What a function returns is told as the step's fact."""

    def __init__(self, client, session, heard):
        self.client, self.session, self.heard = client, session, heard

    async def list(self):
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def resources(self):
        return [str(resource.uri) for resource in (await self.client.list_resources()).resources]

    async def read(self, uri):
        return plain(await self.client.read_resource(uri))

    async def call(self, name, arguments):
        return plain(await self.client.call_tool(name, arguments))

    async def call_with_progress(self, name, arguments):
        reports = []

        async def report(progress, total, message):
            reports.append([progress, total, message])

        result = await self.client.call_tool(name, arguments, progress_callback=report)
        return {"result": plain(result), "progress": reports}

    async def abandon(self, name, arguments):
        """Calls a tool, and no longer wants the answer once the test says that the call is under way."""
        answers = []
        scope = anyio.CancelScope()
        await word("before the call")
        request = self.session._request_id if FIRST_GENERATION else None

        async def call():
            with scope:
                answers.append(await self.call(name, arguments))

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await word("called")
            scope.cancel()
        # 2.x tells the server by itself; in 1.x that is left to the program.
        if FIRST_GENERATION:
            params = types.CancelledNotificationParams(requestId=request, reason="not wanted any more")
            note = types.CancelledNotification(method="notifications/cancelled", params=params)
            await self.session.send_notification(types.ClientNotification(note))
        return answers

    async def ping(self):
        return plain(await self.session.send_ping())

    async def pause(self):
        await word("pause")

    async def notified(self, method):
        await self.heard.notification(method)


@asynccontextmanager
async def connected(heard):
    """The client and its session, connected to the entry's server in the environment of this process."""
    entry = PLAN["entry"]
    environment = {**os.environ, **entry.get("env", {})}
    server = StdioServerParameters(command=entry["command"], args=entry["args"], env=environment)
    handlers = {"message_handler": heard.message, "list_roots_callback": heard.roots}
    if FIRST_GENERATION:
        async with stdio_client(server) as (read, write):
            async with ClientSession(read, write, **handlers) as session:
                await session.initialize()
                yield session, session
    else:
        from mcp import Client

        async with Client(server, **handlers) as client:
            yield client, client.session


def leaves(error):
    """The errors in a group of errors."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for part in error.exceptions for leaf in leaves(part)]
    return [repr(error)]


async def main():
    heard = Heard()
    facts = {"steps": [], "broken_by": []}
    try:
        async with connected(heard) as (client, session):
            steps = Steps(client, session, heard)
            for name, *arguments in PLAN["steps"]:
                facts["steps"].append(await getattr(steps, name)(*arguments))
    except Exception as error:
        facts["broken_by"] = leaves(error)
    facts |= {"errors": heard.errors, "notifications": heard.notifications, "roots_asked": heard.roots_asked}
    tell(facts=facts)


anyio.run(main)
