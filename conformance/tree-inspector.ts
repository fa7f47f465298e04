/**
 * The tools of a node for clients that this project did not write: a shell script, and the command line of the MCP
 * inspector, on the bridge of a running program.
 *
 *   npx tsx --conditions=@reprise/source conformance/tree-inspector.ts [--in FOLDER]
 *
 * The inspector needs a newer Node than this project: both are installed from the package registry into a folder, once.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { trees } from '@reprise/tree';
import { bridge, program } from '@reprise/tree/serve';
import { openWorld } from 'reprise';
import { externalAgent, relay } from 'reprise/external';
import { memory, verifyStore } from 'reprise/kernel';
import { appOf } from 'reprise/org';
import { installed, NEWER_NODE } from './registry.js';

const PACKAGES = [NEWER_NODE, '@modelcontextprotocol/inspector@2.12.0'];
const NINE = ['read_tree', 'read_node', 'spawn', 'fork', 'serial', 'complete', 'ask', 'answer', 'stop'];

const { values: options } = parseArgs({
  options: { in: { type: 'string', default: path.join(tmpdir(), 'reprise-mcp-inspector') } },
});
const programAt = installed(options.in, PACKAGES);
const folder = mkdtempSync(path.join(tmpdir(), 'tree-inspector-'));
const file = (name: string): string => path.join(folder, name);

/** The program of every node: its arguments are the file with its servers, and the folder of this run. */
const SCRIPT = `
prompt=$(cat)
inspect() { config=$1; shift; "$NODE" "$INSPECTOR" --cli --config "$config" --server tree "$@"; }
case $prompt in *"Results of your children"*)
  inspect "$1" --method tools/call --tool-name complete --tool-arg result=synthesized >/dev/null
  exit 0;;
esac
case $prompt in *"node #1 "*) ;; *) echo "a child is done"; exit 0;; esac

inspect "$1" --method tools/list > "$2/listed.json"

run=$(sed -n 's/.*"--run","\\([^"]*\\)".*/\\1/p' "$1")
sed 's/"token":"[^"]*"/"token":"forged"/' "$run" > "$2/forged-run.json"
sed "s#$run#$2/forged-run.json#" "$1" > "$2/forged.json"
inspect "$2/forged.json" --method tools/list > "$2/forged.txt" 2>&1
cp "$run" "$2/ended-run.json"
sed "s#$run#$2/ended-run.json#" "$1" > "$2/ended.json"

call='{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"spawn","arguments":{"goal":"one","prompt":"one"}}}'
client='{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}'
"$NODE" -e 'const { command, args } = require(process.argv[1]).mcpServers.tree; console.log([command, ...args].join("\\n"))' "$1" > "$2/command"
set -- "$1" "$2"
{
  echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":'"$client"'}'
  n=0; while [ $n -lt 1000 ]; do echo "$call"; n=$((n + 1)); done
  sleep 3
} | xargs_of "$2/command" > "$2/thousand.txt"
`;
const RUN_COMMAND = `
xargs_of() { IFS='
'; set -- $(cat "$1"); unset IFS; "$@"; }
`;
writeFileSync(file('program.sh'), `${RUN_COMMAND}${SCRIPT}`);

const link = bridge();
const shell = externalAgent({
  ...program({ name: 'shell', bridge: link, command: ['/bin/sh', file('program.sh'), '{mcp_config}', folder] }),
  env: { ...inspector(), MCP_INSPECTOR_SECRET_STORE: 'memory' },
});
const part = trees({ agents: [shell], bridge: link });
const store = memory();
const world = await openWorld({ store, models: { relay: relay() }, parts: [part] });
const tree = await world.part(part).start('inspected', { goal: 'Let clients look' });
const { status, text } = await tree.result();
hold(status === 'complete' && text === 'synthesized', 'the tree is complete by calls of the inspector', {
  status,
  text,
});

const listed = JSON.parse(readFileSync(file('listed.json'), 'utf8')) as { readonly tools: readonly { name: string }[] };
const names = listed.tools.map(({ name }) => name);
hold(names.join() === NINE.join(), 'the inspector lists nine tools', names);
hold(readFileSync(file('forged.txt'), 'utf8').includes('forbidden'), 'a forged token is refused', read('forged.txt'));
const ended = await inspect(file('ended.json'));
hold(ended.includes('no_turn'), 'a token is refused after the end of its program', ended);
const nodes = await tree.nodes();
hold(nodes.length === 2, 'a call that is sent 1,000 times makes one node', nodes.length);
const answers = read('thousand.txt').trim().split('\n').slice(1);
hold(new Set(answers).size === 1 && answers[0]?.includes('node_id') === true, 'every answer is the same', answers);
await world.close();
const reader = await store.openReadonly();
hold((await verifyStore(reader, { app: appOf([trees({ agents: [shell] })]) })).unverified === 0, 'everything replays');
await reader.close();
console.log(
  'inspector: lists nine tools; a forged token: forbidden; after the end: no_turn; 1,000 sends of one call: one node; verified',
);

function inspector(): Record<'NODE' | 'INSPECTOR', string> {
  return {
    NODE: programAt('node'),
    INSPECTOR: programAt('mcp-inspector'),
  };
}

/** What the inspector prints; this process goes on meanwhile, since it is the one that answers. */
function inspect(config: string): Promise<string> {
  const { NODE, INSPECTOR } = inspector();
  const args = [INSPECTOR, '--cli', '--config', config, '--server', 'tree', '--method', 'tools/list'];
  return new Promise((resolve) => {
    execFile(NODE, args, { encoding: 'utf8' }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}

function read(name: string): string {
  return readFileSync(file(name), 'utf8');
}

function hold(holds: boolean, what: string, actual?: unknown): void {
  if (!holds) throw new Error(`${what}: it is not so; ${JSON.stringify(actual)}`);
}
