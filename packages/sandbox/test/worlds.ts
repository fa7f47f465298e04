/** Worlds whose journals carry code: the app's own, or, as in a file of an attacker, any. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRepriseError, type RepriseError } from '@reprise/contracts';
import {
  type Adapter,
  type App,
  memory,
  openKernelWorld,
  type PureCode,
  type Store,
  type VerifyReport,
  verifyStore,
  type World,
} from '@reprise/kernel';
import { bundlePureCode, type SandboxOptions, sandbox } from '../src/index.js';
import { one, pay } from './apps/counter.js';

const APPS = fileURLToPath(new URL('apps', import.meta.url));

/** The tests run on sources, so the bundles are made of sources, too. */
export const CONDITIONS = { conditions: ['@reprise/source'] };

/** Bundles one of the modules in `apps`. */
export function bundleOf(name: string): Promise<Uint8Array> {
  return bundlePureCode(join(APPS, `${name}.ts`), CONDITIONS);
}

/** Bundles the counter's first version with something else that its reducer does in every delivery. */
export async function bundleOfMutant(twist: string, whenPaid = ''): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-sandbox-'));
  const module = join(folder, 'mutant.ts');
  const counter = JSON.stringify(join(APPS, 'counter.ts'));
  const lines = [
    `import { appOf, counterWith } from ${counter};`,
    'let more = 0;',
    `export const app = appOf(counterWith(() => { ${twist}\nreturn more; }, () => { ${whenPaid} }));`,
  ];
  writeFileSync(module, lines.join('\n'));
  try {
    return await bundlePureCode(module, CONDITIONS);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Code that claims to be the app's: nothing is proven, as in a forged file. */
export function forged(text: string | Uint8Array, app: App = one): PureCode {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(`// reprise pure code 1\n${text}`) : text;
  const pins = (part: 'effects' | 'plans' | 'reducers') =>
    [...app[part].values()].map(({ name, digest }) => ({ name, digest }));
  return { bytes, pins: async () => ({ reducers: pins('reducers'), plans: pins('plans'), effects: pins('effects') }) };
}

/** Pays at once. */
export const bank: Adapter = {
  effect: pay,
  name: 'test.bank',
  doExecute: async () => ({ status: 'ok', payload: { paid: true } }),
};

/** Counts, pays and closes. */
export async function count(world: World, version: 1 | 2, times = 5): Promise<void> {
  for (let i = 1; i <= times; i++) {
    const cell: [string, string] = [`demo/Counter@${version}`, `k${i % 3}`];
    await world.request(cell, { name: 'demo/Added@1', value: { by: i } });
    if (i % 2 === 0) await world.request(cell, { name: 'demo/Asked@1', value: { what: `rent ${i}` } });
  }
  await world.pump();
}

/** A world of the counter's first version that carries code. */
export async function worldWith(code: PureCode, store: Store = memory()): Promise<Store> {
  await using world = await openKernelWorld({ store, app: one, code, adapters: [bank] });
  await count(world, 1);
  await world.snapshot();
  return store;
}

/** Verifies a world with the code that it carries, and without an app. */
export async function replayAlone(store: Store, options: SandboxOptions = {}): Promise<VerifyReport> {
  return verifyStore(await store.openReadonly(), { code: sandbox(options) });
}

/** The refusal that a promise ends in. */
export async function refusal(promise: Promise<unknown>): Promise<RepriseError> {
  try {
    await promise;
  } catch (error) {
    if (isRepriseError(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
