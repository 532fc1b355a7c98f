// One run of the Inspector's command line. Takes its plan as JSON: `entry` (what to start as the server, as
// in an `.mcp.json`) and `arguments`. Tells how the run ended and what it printed; judges nothing.

import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const plan = JSON.parse(process.argv[2]);
const inspector = join(dirname(fileURLToPath(import.meta.url)), 'node_modules/.bin/mcp-inspector');

// The Inspector hands its own environment on in part only, so that the entry has to name the rest.
const entry = { ...plan.entry, env: { ...process.env, ...plan.entry.env } };
const config = join(mkdtempSync(join(process.cwd(), 'inspector-')), 'mcp.json');
writeFileSync(config, JSON.stringify({ mcpServers: { UnityMCP: entry } }));

const fixed = ['--cli', '--config', config, '--server', 'UnityMCP', '--format', 'json'];
// Whether a start takes too long is not for the client to say.
const patient = ['--connect-timeout', '0'];
const child = spawn(process.execPath, [inspector, ...fixed, ...patient, ...plan.arguments], {
  stdio: ['ignore', 'pipe', 'pipe'],
  env: { ...process.env, MCP_INSPECTOR_SECRET_STORE: 'memory' },
});
const ended = new Promise((resolve) => child.on('close', resolve));
const [status, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
process.stdout.write(`${JSON.stringify({ id: 1, facts: { status, stdout, stderr } })}\n`);
