"""A small server made with the first generation of the Python SDK: what it asks of the client and tells it."""

from mcp.server.fastmcp import Context, FastMCP

server = FastMCP("small")


@server.tool()
async def count(upto: int, ctx: Context) -> str:
    """Reports progress for each step."""
    for step in range(1, upto + 1):
        await ctx.report_progress(step, upto, f"step {step}")
    # The TypeScript SDK drops reports that it has not looked at when it reads the answer: let it catch up.
    await ctx.session.send_ping()
    return "counted"


@server.tool()
async def ask_roots(ctx: Context) -> list[str]:
    """Asks the client for its roots, and says which they are."""
    answer = await ctx.session.list_roots()
    return [str(root.uri) for root in answer.roots]


@server.tool()
async def ping_client(ctx: Context) -> str:
    """Pings the client while the call is in flight."""
    await ctx.session.send_ping()
    return "pong"


@server.tool()
async def announce(ctx: Context) -> str:
    """Says that the list of tools has changed."""
    await ctx.session.send_tool_list_changed()
    return "announced"


server.run("stdio")
