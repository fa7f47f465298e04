import type { Principal, Ref, Value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { memory, openKernelWorld } from '../../../../src/index.js';
import { closeSound, codeOf } from '../../../support/judge.js';
import { ask, cell, lab, log, note, when } from '../../../support/lab.js';

const { app } = lab({});
const holder = (key: string): Principal => `cell:${cell(key).join('/')}`;
const bytes = new TextEncoder().encode('for readers of a cell that links it');

/** Cells without rules between them: `a` has the content in its log, `s` in its state, `b` knows the digest alone. */
async function given() {
  const store = memory();
  const world = await openKernelWorld({ store, app, policy: [] });
  const ref: Ref = await world.content.put(bytes);
  await ask(world, 'a', [log(ref as unknown as Value)]);
  await ask(world, 's', [when('w', log(ref as unknown as Value))]);
  await ask(world, 'b', [note(ref.toString())]);
  return { store, world, ref };
}

describe('given content that some cells link [CON-4]', () => {
  it('a principal who has only the digest reads no content, through any cell', async () => {
    const { store, world, ref } = await given();
    const stranger = world.as(holder('b'));
    expect(await codeOf(stranger.blob(ref, { cell: cell('a'), log: 'history' }))).toBe('policy_denied');
    expect(await codeOf(stranger.blob(ref, { cell: cell('s') }))).toBe('policy_denied');
    expect(await codeOf(stranger.blob(ref, { cell: cell('b') }))).toBe('cap_denied');
    expect(await codeOf(world.as('operator').blob(ref, { cell: cell('b') }))).toBe('cap_denied');
    const refusal = await world
      .as('operator')
      .blob(ref, { cell: cell('b') })
      .catch((error: Error) => error.message);
    expect(refusal).toMatch(/^cap_denied: operator may not read this content through a cell that does not link it/);
    await closeSound(world, store, app);
  });

  it('a principal who may read a cell reads the content that the cell links, from its state or its log', async () => {
    const { store, world, ref } = await given();
    expect(await world.as(holder('a')).blob(ref, { cell: cell('a'), log: 'history' })).toEqual(bytes);
    expect(await codeOf(world.as(holder('a')).blob(ref, { cell: cell('a') }))).toBe('cap_denied'); // not in its state
    expect(await world.as(holder('s')).blob(ref, { cell: cell('s') })).toEqual(bytes);
    expect(await world.as('operator').blob(ref, { cell: cell('s') })).toEqual(bytes);
    await closeSound(world, store, app);
  });
});
