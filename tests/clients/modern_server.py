"""A small server made with the second generation of the SDK, whose newest protocol knows no `initialize`.

A client that speaks it too never introduces itself: each request says for itself what it is about, and what
the server wants of the client is the answer to a call, which the client then sends again.
"""

from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import ListRoots, Resolve
from mcp.types import ListRootsResult

server = MCPServer("small")


async def roots_of_the_client() -> ListRoots:
    return ListRoots()


@server.tool()
async def count(upto: int, ctx: Context) -> str:
    """Reports progress for each step."""
    for step in range(1, upto + 1):
        await ctx.report_progress(step, upto, f"step {step}")
    return "counted"


@server.tool()
async def ask_roots(roots: Annotated[ListRootsResult, Resolve(roots_of_the_client)]) -> list[str]:
    """Asks the client for its roots, and says which they are."""
    return [str(root.uri) for root in roots.roots]


@server.tool()
async def protocol(ctx: Context) -> str | None:
    """The version of the protocol that client and server agree on."""
    return ctx.protocol_version


server.run("stdio")
