/** What a turn and an effect take, held against a budget that does not depend on the machine. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { beyond, budget, type Measured, measured, oldBytes } from '../bench/passes/passes.js';
import { ROOT } from '../lib/root.mjs';

/** A mistake in a source. */
function planted(filter: RegExp, line: string, mistake: string): Plugin {
  return {
    name: 'planted',
    setup: ({ onLoad }) =>
      onLoad({ filter }, async ({ path: file }) => {
        const text = await readFile(file, 'utf8');
        if (!text.includes(line)) throw new Error(`${path.relative(ROOT, file)} has changed: plant the mistake anew`);
        return { contents: text.replace(line, mistake), loader: 'ts' };
      }),
  };
}

/** Each ingress is checked twice. */
const CHECK = '    assertIngress(ingress);';
const doubled = planted(/run\/world\/write\/frame-folder\.ts$/, CHECK, CHECK.repeat(2));

/** What has left a map stays reachable from the tables that it had before. */
const kept = planted(/ports\/time\/passing-map\.ts$/, 'box.value = undefined;', '');

/** The most bytes of an effect that may live until old objects are collected; without boxes that are emptied it is 10 kB. */
const OLD_BYTES_MAX = 7_000;

describe('passes over values', () => {
  let allowed: Measured;
  let found: Measured;
  beforeAll(async () => {
    [allowed, found] = [await budget(), await measured()];
  });

  it('a turn of a session and an effect of a plan take no more than their budget', () => {
    expect(beyond(found, allowed)).toEqual([]);
  });

  it('a budget is near what is taken: what got cheaper stays so', () => {
    expect(beyond(allowed, found)).toEqual([]);
  });

  it('an effect makes no controller, no timer and no listener', () => {
    for (const name of ['controllers', 'timers', 'listeners'])
      expect([name, found.effects[name] ?? 0]).toEqual([name, 0]);
  });

  it('one more pass over each ingress is found', async () => {
    expect(beyond(await measured([doubled]), allowed).join()).toMatch(/checks of effects/);
  });
});

describe('the garbage of an effect', () => {
  it('an effect leaves little to the collector of old objects', async () => {
    expect(await oldBytes()).toBeLessThan(OLD_BYTES_MAX);
  });

  it('a map that holds on to what has left it is found', async () => {
    expect(await oldBytes([kept])).toBeGreaterThan(OLD_BYTES_MAX);
  });
});
