/**
 * An app that is interrupted: `app.ts FOLDER KIND`. It works on something that does not end by itself, and closes its
 * world at Ctrl-C, as the pages on operating advise.
 */
import path from 'node:path';
import { defineAgent, openWorld, type Toolset } from 'reprise';
import { mcp } from 'reprise/mcp';
import { script } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { processes } from 'reprise/tools';

const [root = '.', kind = ''] = process.argv.slice(2);

/** Notes its process id and that of a child, and ends for no signal that it can ignore. */
const STUBBORN = 'trap "" TERM INT HUP; sleep 900 & echo $$ $! > pids.tmp; mv pids.tmp pids; while :; do sleep 1; done';

const CALLS: Readonly<Record<string, readonly [string, Record<string, string | string[]>]>> = {
  command: ['run_shell', { command: STUBBORN }],
  background: ['start_process', { argv: ['/bin/sh', '-c', STUBBORN] }],
};
const call = CALLS[kind];
const toolsets: Toolset[] =
  kind === 'mcp' ? [mcp('silent', { command: ['/bin/sh', '-c', `cd '${root}'; ${STUBBORN}`] })] : [];
const worker = defineAgent({
  name: 'worker',
  model: 'main',
  instructions: 'Work.',
  tools: processes({ root, shell: true, background: true, approval: 'never' }),
  toolsets,
});
const main = script(
  ...(call === undefined ? [] : [{ calls: [{ tool: call[0], args: call[1] }] }]),
  ...Array.from({ length: 20 }, () => ({ calls: [{ tool: 'run_process', args: { argv: ['sleep', '900'] } }] })),
);
const world = await openWorld({ store: sqlite(path.join(root, 'world.db')), models: { main }, agents: [worker] });
process.once('SIGINT', () => void world.close().then(() => process.exit(130)));
await world.session('s', worker).send('Begin.');
