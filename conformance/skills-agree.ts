/**
 * Agreement about skill files with the reference validator of the Agent Skills standard:
 *
 *   npx tsx --conditions=@reprise/source conformance/skills-agree.ts [--folders 200] [--seed 1] [--at FOLDER]
 *
 * Generates folders of skills in the standard's form, half of them invalid, and has each judged twice: by
 * `skills-ref validate` (npm package skills-ref 0.1.5, fetched by npx: it needs the registry or npm's cache) and by
 * `reprise skills lint --json`. Validity alone is compared: a valid skill without `metadata.reprise-tools` cannot be
 * spawned here, which the standard knows nothing of.
 *
 * Left out on purpose, since the two differ and ours is what the standard's text says, or what safety asks for: names
 * with letters beyond a to z; anchors, aliases and tags; descriptions that are lists, maps or empty scalars; a byte
 * order mark; files and front matter beyond our bounds.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Made, makeSkills } from './skills/make.js';

const REFERENCE = 'skills-ref@0.1.5';

const { values: options } = parseArgs({
  options: {
    folders: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    at: { type: 'string' },
  },
});

const place = options.at ?? mkdtempSync(path.join(tmpdir(), 'reprise-skills-'));
try {
  const made = makeSkills(Number(options.folders), Number(options.seed));
  for (const { folder, files } of made) {
    mkdirSync(path.join(place, folder), { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(place, folder, file), text);
  }
  compare(made, await judgeByReference(made), await judgeByReprise());
} finally {
  if (options.at === undefined) rmSync(place, { recursive: true, force: true });
}

/** Prints how many agree, and each folder about which they do not. */
function compare(
  made: readonly Made[],
  reference: ReadonlyMap<string, boolean>,
  ours: ReadonlyMap<string, boolean>,
): void {
  const differing = made.filter(({ folder }) => reference.get(folder) !== ours.get(folder));
  const unmeant = made.filter(({ folder, valid }) => reference.get(folder) !== valid);
  for (const { folder, what } of differing)
    console.log(
      `${folder}: the reference says ${word(reference.get(folder))}, reprise ${word(ours.get(folder))} (${what})`,
    );
  for (const { folder, what } of unmeant)
    console.log(`${folder} was not meant to be ${word(reference.get(folder))} (${what})`);
  const valid = [...ours.values()].filter(Boolean).length;
  const agree = made.length - differing.length;
  console.log(`${agree} agree: ${valid} valid, ${ours.size - valid} invalid`);
  if (differing.length > 0 || unmeant.length > 0) process.exitCode = 1;
}

function word(valid: boolean | undefined): string {
  if (valid === undefined) return 'nothing';
  return valid ? 'valid' : 'invalid';
}

/** The verdicts of the reference validator: one process for each folder, all behind one npx. */
async function judgeByReference(made: readonly Made[]): Promise<ReadonlyMap<string, boolean>> {
  const loop =
    'for folder in */; do if skills-ref validate "$folder" >/dev/null 2>&1; then echo "1 $folder"; else echo "0 $folder"; fi; done';
  const out = await output(
    'npx',
    ['--yes', '-p', REFERENCE, '-c', `skills-ref --version >/dev/null && ${loop}`],
    place,
  );
  const verdicts = new Map<string, boolean>();
  for (const [, verdict, folder = ''] of out.matchAll(/^([01]) (.*)\/$/gm)) verdicts.set(folder, verdict === '1');
  if (verdicts.size !== made.length) throw new Error(`${REFERENCE} judged ${verdicts.size} of ${made.length} folders`);
  return verdicts;
}

/** Our verdicts, by the command. */
async function judgeByReprise(): Promise<ReadonlyMap<string, boolean>> {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const bin = fileURLToPath(new URL('../packages/cli/src/bin.ts', import.meta.url));
  const args = ['--conditions=@reprise/source', '--import', tsx, bin, 'skills', 'lint', '--json', place];
  const { skills } = JSON.parse(await output(process.execPath, args, place)) as {
    readonly skills: readonly { readonly source: string; readonly valid: boolean }[];
  };
  return new Map(skills.map(({ source, valid }) => [path.basename(path.dirname(source)), valid]));
}

async function output(program: string, args: readonly string[], cwd: string): Promise<string> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  return out;
}
