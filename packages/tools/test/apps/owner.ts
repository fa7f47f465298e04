/**
 * A host with programs of every kind, which waits to be killed. Each program and its children write their process ids
 * into files of the given folder, `NAME.pid`.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildOf, type Tool, toolCallAdapter } from '@reprise/agent';
import { memory, putValue } from '@reprise/kernel';
import { externalAgent } from '../../src/external/index.js';
import { processes } from '../../src/index.js';
import { mcp } from '../../src/mcp/index.js';

const root = process.argv[2] ?? '';

/**
 * A script that records itself, starts one process in its group, one outside of it, and one outside of it without any
 * environment, and runs forever.
 */
const family = (name: string) => `
  const { spawn } = require('node:child_process');
  const note = (name) => "require('node:fs').writeFileSync(" + JSON.stringify(name + '.pid') + ", String(process.pid)); process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);";
  spawn(process.execPath, ['-e', note('${name}-child')], { stdio: 'ignore' });
  spawn(process.execPath, ['-e', note('${name}-left')], { stdio: 'ignore', detached: true }).unref();
  spawn(process.execPath, ['-e', note('${name}-bare')], { stdio: 'ignore', detached: true, env: {} }).unref();
  eval(note('${name}'));
`;

const tools: readonly Tool[] = [
  ...processes({ root, shell: true, background: true, approval: 'never' }),
  ...(externalAgent({
    name: 'helper',
    command: [process.execPath, '-e', family('external')],
    protocol: 'stdout',
    cwd: root,
  }).tools as readonly Tool[]),
];
const { content } = await memory().open();
const closing = new AbortController().signal;
const adapter = toolCallAdapter(buildOf([{ name: 'a', tools }]), {
  now: () => 0,
  closing,
  world: { transcript: async () => [] } as never,
});

async function call(name: string, args: Record<string, unknown>): Promise<void> {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  const { fingerprint, guarantee } = tool.entry;
  const args_ref = await putValue(content, args as never);
  const params = { tool: name, call_id: 'c', session: { key: 's', labels: {} }, args_ref, fingerprint, guarantee };
  await adapter.doExecute(params, {
    idempotencyKey: 'a'.repeat(64),
    attempt: 1,
    deadline: null,
    signal: closing,
    content,
    progress: () => {},
    rights: async () => ({ may: {} }),
    ask: async () => ({ how: 'cancelled' }),
    secret: async () => '',
  });
}

const node = process.execPath;
void call('run_process', { argv: [node, '-e', family('run')] });
writeFileSync(path.join(root, 'shell.cjs'), family('shell'));
void call('run_shell', { command: `'${node}' shell.cjs | cat` });
void call('start_process', { argv: [node, '-e', family('background')] });
void call('turn_helper', { text: 'Go' });
const server = mcp('server', { command: [node, '-e', family('mcp')], cwd: root }).open({ closing } as never);
void server.list({ content, secret: async () => '', signal: closing } as never).catch(() => undefined);
process.stdout.write(`ready ${path.basename(root)}\n`);
setInterval(() => {}, 1_000);
