/**
 * The stored golden worlds, in bytes: every build replays them, for ever.
 *
 * A folder for each semantics number of the kernel, for unreleased worlds, and in it a folder for each release that
 * wrote such worlds. The worlds of a release are never written again.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRepriseError, KERNEL_SEMANTICS } from '@reprise/contracts';
import { loadWorld, replay, saveWorld } from '@reprise/testkit';
import { firstChange, isWhole, partsText } from './parts.js';
import { type Golden, type GoldenWorld, goldenWorld, type Outcome, outcomeOf, pinned, written } from './worlds.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = path.join('conformance/golden', String(KERNEL_SEMANTICS));

/** One stored golden world: `<name>.world`, and beside it its parts and its results. */
export interface Kept {
  readonly golden: GoldenWorld;
  /** Its folder, from the root of the repository. */
  readonly folder: string;
  readonly world: Uint8Array;
  readonly parts: string;
  readonly pins: string;
}

/** The folders of the present semantics: the one that is written, and one for each release. */
export function keptFolders(): string[] {
  const entries = readdirSync(path.join(ROOT, FOLDER), { withFileTypes: true });
  const releases = entries.filter((entry) => entry.isDirectory()).map(({ name }) => path.join(FOLDER, name));
  return [FOLDER, ...releases.sort()];
}

/** The worlds of a folder. */
export function keptWorlds(folder: string): Kept[] {
  const files = readdirSync(path.join(ROOT, folder)).filter((file) => file.endsWith('.world'));
  return files.sort().map((file) => readKept(folder, path.basename(file, '.world')));
}

function readKept(folder: string, name: string): Kept {
  const read = (suffix: string) => readFileSync(fileOf(folder, name, suffix));
  return {
    golden: goldenWorld(name),
    folder,
    world: new Uint8Array(read('world')),
    parts: read('parts').toString(),
    pins: read('json').toString(),
  };
}

/** The pinned results of a golden world that is not released yet. */
export function readGolden(name: string): Golden {
  return JSON.parse(readFileSync(fileOf(FOLDER, name, 'json'), 'utf8')) as Golden;
}

/** Stores a golden world of this build in place of the unreleased one. */
export async function keep(golden: GoldenWorld): Promise<void> {
  mkdirSync(path.join(ROOT, FOLDER), { recursive: true });
  const store = await written(golden);
  const world = await saveWorld(store);
  writeFileSync(fileOf(FOLDER, golden.name, 'world'), world);
  writeFileSync(fileOf(FOLDER, golden.name, 'parts'), partsText(world));
  writeFileSync(fileOf(FOLDER, golden.name, 'json'), pinsText(pinned(await outcomeOf(golden, store))));
}

/** Stores the unreleased worlds for a release, whose folder must not exist. @returns the folder */
export function keepForRelease(release: string): string {
  const folder = path.join(FOLDER, release);
  if (existsSync(path.join(ROOT, folder)))
    throw new Error(`${folder} is there: what a release kept is never written again`);
  mkdirSync(path.join(ROOT, folder));
  for (const { golden, world, parts, pins } of keptWorlds(FOLDER)) {
    for (const [suffix, content] of Object.entries({ world, parts, json: pins }))
      writeFileSync(fileOf(folder, golden.name, suffix), content);
  }
  return folder;
}

function fileOf(folder: string, name: string, suffix: string): string {
  return path.join(ROOT, folder, `${name}.${suffix}`);
}

function pinsText(golden: Golden): string {
  return `${JSON.stringify(golden, null, 2)}\n`;
}

/** The errors of a stored world, each with the file and, for a world, the part; empty for a sound one. */
export async function findings(kept: Kept): Promise<string[]> {
  const found = changesOf(kept);
  const said = await replayKept(kept);
  if ('outcome' in said) return [...found, ...otherPins(kept, said.outcome)];
  return [...found, `${named(kept, 'world')}: ${said.refusal}`];
}

/** The files that are not byte for byte unchanged, with the places. Decodes nothing. */
export function changesOf(kept: Kept): string[] {
  // The list of parts is used only as far as it is whole itself.
  if (!isWhole(kept.parts)) return [`${named(kept, 'parts')}: these lines do not have the digest that they end with`];
  const change = firstChange(kept.world, kept.parts);
  if (change === undefined) return [];
  return [`${named(kept, 'world')}: ${change.name} is not what was kept (bytes ${change.from} to ${change.to - 1})`];
}

/** Replays a stored world with the code of this build. */
export async function replayKept({ golden, world }: Kept): Promise<{ outcome: Outcome } | { refusal: string }> {
  try {
    const { firstDifference, unverified } = await replay(world, { app: golden.app });
    if (firstDifference !== undefined) return { refusal: `replayed otherwise: ${JSON.stringify(firstDifference)}` };
    if (unverified > 0)
      return { refusal: `${unverified} frames are of definitions that this build does not have any more` };
    return { outcome: await outcomeOf(golden, await loadWorld(world)) };
  } catch (error) {
    if (isRepriseError(error) && error.code !== 'internal_error') return { refusal: error.message };
    throw error;
  }
}

function otherPins(kept: Kept, outcome: Outcome): string[] {
  const expected = pinsText(pinned(outcome));
  if (kept.pins === expected) return [];
  const [was, is] = [kept.pins.split('\n'), expected.split('\n')];
  const line = is.findIndex((text, i) => text !== was[i]);
  return [`${named(kept, 'json')}: line ${line + 1} says ${was[line]?.trim()}, the world came to ${is[line]?.trim()}`];
}

function named({ folder, golden }: Kept, suffix: string): string {
  return `${folder}/${golden.name}.${suffix}`;
}
