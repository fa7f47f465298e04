/**
 * The conformance suite of the Model Context Protocol for servers, on a world whose part serves the suite's fixtures.
 *
 *   npx tsx --conditions=@reprise/source conformance/server-suite.ts [--in FOLDER]
 *
 * Every scenario passes, except those of `server-exceptions.json`, each with its reason; one that passes although it is
 * listed there is reported as well. A part with a schema of a wrong type must be found.
 *
 * The suite needs a newer Node than this project: both are installed from the package registry into a folder, once.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { memory, openWorld } from 'reprise';
import { serveHttp } from 'reprise/server';
import { installed, NEWER_NODE } from './registry.js';
import { fixtures } from './server-fixtures.js';

const PACKAGES = [NEWER_NODE, '@modelcontextprotocol/conformance@0.2.0-alpha.12'];

/** The revisions, and the suite's option for each: of the current one, exactly what it requires of a server. */
const REVISIONS = {
  '2025-06-18': '--spec-version',
  '2025-11-25': '--spec-version',
  '2026-07-28': '--requirements',
} as const;

type Revision = keyof typeof REVISIONS;

/** Why a scenario does not pass; `checks` names those of whose checks only so many fail. */
interface Exception {
  readonly reason: string;
  readonly scenarios: readonly string[];
  readonly checks?: Readonly<Record<string, number>>;
}

type Exceptions = Readonly<Record<string, Exception>>;

interface Result {
  readonly scenario: string;
  readonly passed: number;
  readonly failed: number;
}

const { values: options } = parseArgs({
  options: { in: { type: 'string', default: path.join(tmpdir(), 'reprise-mcp-suite') } },
});
installed(options.in, PACKAGES);
const exceptions = JSON.parse(readFileSync(new URL('server-exceptions.json', import.meta.url), 'utf8')) as Exceptions;
const parts = new Map(Object.values(exceptions).flatMap(({ checks = {} }) => Object.entries(checks)));
const excepted = new Set(Object.values(exceptions).flatMap(({ scenarios }) => scenarios));

const wrong: string[] = [];
const needed = new Set<string>();
for (const revision of Object.keys(REVISIONS) as Revision[]) {
  const results = await suite(revision, false);
  if (results.length < 10) throw new Error(`the suite ran ${results.length} scenarios of ${revision}`);
  for (const { scenario, failed } of results) {
    if (failed > 0) needed.add(scenario);
    if (parts.has(scenario) ? parts.get(scenario) !== failed : failed > 0 && !excepted.has(scenario))
      wrong.push(`${revision} ${scenario}: ${failed} checks fail`);
  }
  const good = results.filter(({ failed }) => failed === 0);
  const checks = results.reduce((sum, { passed }) => sum + passed, 0);
  console.log(
    `${revision}: ${good.length} of ${results.length} scenarios pass, ${checks} checks; ${results.length - good.length} are exceptions`,
  );
}
for (const scenario of excepted)
  if (!needed.has(scenario)) wrong.push(`${scenario} passes: it is no exception any more`);
const broken = await suite('2025-11-25', true);
const isFound = broken.some(({ scenario, failed }) => failed > 0 && /tools-list|json-schema/.test(scenario));
if (!isFound) wrong.push('a schema of a wrong type is not found');
for (const line of wrong) console.error(line);
if (wrong.length > 0) process.exit(1);
console.log(`mutant: a schema of a wrong type is found; exceptions: ${Object.keys(exceptions).join(', ')}`);

/** Runs the suite on a world of its own. */
async function suite(revision: Revision, isBroken: boolean): Promise<readonly Result[]> {
  await using world = await openWorld({ store: memory(), models: {}, parts: [fixtures(isBroken)] });
  await using serving = await serveHttp(world, { auth: () => 'human:suite', onError: () => undefined });
  const bin = path.join(options.in, 'node_modules/.bin');
  const args = [path.join(bin, 'conformance'), 'server', '--url', serving.url ?? '', REVISIONS[revision], revision];
  const output = await new Promise<string>((resolve) => {
    execFile(path.join(bin, 'node'), args, { cwd: options.in, maxBuffer: 1 << 26 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
  if (process.env.SUITE_OUTPUT !== undefined) writeFileSync(`${process.env.SUITE_OUTPUT}.${revision}`, output);
  // What a revision does not require is run as well, and listed behind the results.
  const [ran = '', others = ''] = output.split('Not scored for');
  const unscored = new Set([...others.matchAll(/^ *[✓✗] ([a-z0-9-]+) \(/gm)].map(([, name]) => name));
  return [...ran.matchAll(/^[✓✗⚠] ([a-z0-9-]+): (\d+) passed, (\d+) failed/gm)].flatMap(
    ([, scenario = '', passed, failed]) =>
      unscored.has(scenario) ? [] : [{ scenario, passed: Number(passed), failed: Number(failed) }],
  );
}
