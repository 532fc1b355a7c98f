// A client made with the TypeScript SDK. Takes its plan as JSON and tells what it saw; judges nothing.
//
// Plan, steps and output are those of drive.py.

import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  ListRootsRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

// Longer than the test waits: whether a call takes too long is not for the client to say.
const timeout = 600_000;
const plan = JSON.parse(process.argv[2]);
const words = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const heard = { errors: [], notifications: [], roots_asked: 0 };
let linesTold = 0;

function tell(what) {
  linesTold += 1;
  process.stdout.write(`${JSON.stringify({ id: linesTold, ...what })}\n`);
}

// Says where the script is and waits until the test lets it go on.
async function word(at) {
  tell({ at });
  if ((await words.next()).done) throw new Error('the test has gone');
}

const client = new Client({ name: 'drive', version: '1' }, { capabilities: { roots: {} } });
client.onerror = (error) => heard.errors.push(error.message);
client.setRequestHandler(ListRootsRequestSchema, () => {
  heard.roots_asked += 1;
  return { roots: (plan.roots ?? []).map((uri) => ({ uri })) };
});
const listChanged = new Promise((resolve) => {
  client.setNotificationHandler(ToolListChangedNotificationSchema, ({ method }) => {
    heard.notifications.push(method);
    resolve();
  });
});
const awaited = { 'notifications/tools/list_changed': listChanged };

// What a plan can ask for. What a function returns is told as the step's fact.
const steps = {
  list: async () => (await client.listTools()).tools.map((tool) => tool.name),
  resources: async () => (await client.listResources()).resources.map((resource) => resource.uri),
  read: (uri) => client.readResource({ uri }, { timeout }),
  call: (name, args) => client.callTool({ name, arguments: args }, undefined, { timeout }),

  async call_with_progress(name, args) {
    const progress = [];
    const onprogress = (report) => progress.push([report.progress, report.total, report.message]);
    const result = await client.callTool({ name, arguments: args }, undefined, { timeout, onprogress });
    return { result, progress };
  },

  // Calls a tool, and no longer wants the answer once the test says that the call is under way.
  async abandon(name, args) {
    const answers = [];
    const control = new AbortController();
    await word('before the call');
    const options = { timeout, signal: control.signal };
    const call = client.callTool({ name, arguments: args }, undefined, options);
    const over = call.then((answer) => answers.push(answer), () => undefined);
    await word('called');
    control.abort('not wanted any more');
    await over;
    return answers;
  },

  ping: () => client.ping({ timeout }),
  pause: () => word('pause'),
  notified: (method) => awaited[method],
};

const facts = { steps: [], broken_by: [] };
try {
  const { command, args, env } = plan.entry;
  const transport = new StdioClientTransport({ command, args, env: { ...process.env, ...env } });
  await client.connect(transport, { timeout });
  for (const [name, ...args] of plan.steps) {
    facts.steps.push((await steps[name](...args)) ?? null);
  }
  await client.close();
} catch (error) {
  facts.broken_by.push(String(error));
}
tell({ facts: { ...facts, ...heard } });
process.exit();
