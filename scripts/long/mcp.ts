/**
 * The client scenarios of the MCP conformance suite, each against a session of Reprise whose toolset is the server of the
 * scenario:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/mcp.ts [--in FOLDER] [--only SCENARIO]
 *
 * The suite wants a newer Node than this project: both are installed from the package registry into a folder, once.
 * Prints each scenario with the checks that it passed. `EXPECTED` names those that cannot pass yet, and why; one that
 * passes in spite of that, or fails without standing there, is an error.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { installed, NEWER_NODE } from '../../conformance/registry.js';

const PACKAGES = [NEWER_NODE, '@modelcontextprotocol/conformance@0.1.16'];
const SCENARIO_MS = 60_000;

/** Scenarios that fail, and why. */
const EXPECTED: Readonly<Record<string, string>> = {
  'auth/2025-03-26-oauth-metadata-backcompat':
    'its metadata names another issuer than the address they are at, which the MCP package refuses as RFC 8414 demands',
  'auth/cross-app-access-complete-flow': 'signed-in.ts has no company whose identity provider vouches for its users',
};

const { values: options } = parseArgs({
  options: {
    in: { type: 'string', default: path.join(tmpdir(), 'reprise-mcp-conformance') },
    only: { type: 'string' },
  },
});
const root = path.resolve(import.meta.dirname, '..');
const folder = options.in;
const suite = [
  installed(folder, PACKAGES)('node'),
  path.join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js'),
] as const;

const scenarios = listed().filter((name) => options.only === undefined || name === options.only);
const wrong: string[] = [];
let [passed, checks] = [0, 0];
for (const scenario of scenarios) {
  const { ok, good, all } = run(scenario);
  const expected = EXPECTED[scenario];
  if (ok) passed++;
  checks += good;
  if (ok === (expected !== undefined)) wrong.push(scenario);
  console.log(
    `${ok ? 'passed' : 'FAILED'}  ${scenario}: ${good} of ${all} checks${expected === undefined ? '' : ` (${expected})`}`,
  );
}
console.log(`${passed} of ${scenarios.length} scenarios, ${checks} checks`);
if (wrong.length > 0) {
  console.error(`not as expected: ${wrong.join(', ')}`);
  process.exitCode = 1;
}

function listed(): string[] {
  const [node, cli] = suite;
  const text = execFileSync(node, [cli, 'list'], { encoding: 'utf8' });
  const clients = text.slice(text.indexOf('Client scenarios'));
  return [...clients.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name ?? '');
}

function run(scenario: string): { readonly ok: boolean; readonly good: number; readonly all: number } {
  const [node, cli] = suite;
  const tsx = path.join(root, 'node_modules/tsx/dist/cli.mjs');
  const client = path.join(root, 'packages/tools/test/mcp/client.ts');
  const command = `${process.execPath} ${tsx} --conditions=@reprise/source ${client}`;
  const args = [cli, 'client', '--command', command, '--scenario', scenario, '--timeout', String(SCENARIO_MS)];
  const { status, stdout, stderr } = spawnSync(node, args, { encoding: 'utf8', cwd: folder });
  const counted = /Passed: (\d+)\/(\d+)/.exec(stdout + stderr);
  if (options.only !== undefined) console.log(stdout, stderr);
  return { ok: status === 0, good: Number(counted?.[1] ?? 0), all: Number(counted?.[2] ?? 0) };
}
