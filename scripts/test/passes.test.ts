/** What a turn and an effect take, held against a budget that does not depend on the machine. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { beyond, budget, type Measured, measured } from '../bench/passes/passes.js';
import { ROOT } from '../lib/root.mjs';

/** Each ingress is checked twice. */
const doubled: Plugin = {
  name: 'doubled',
  setup: ({ onLoad }) =>
    onLoad({ filter: /run\/world\/write\/frame-folder\.ts$/ }, async ({ path: file }) => {
      const line = '    assertIngress(ingress);';
      const text = await readFile(file, 'utf8');
      if (!text.includes(line)) throw new Error(`${path.relative(ROOT, file)} has changed: plant the pass anew`);
      return { contents: text.replace(line, line.repeat(2)), loader: 'ts' };
    }),
};

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
