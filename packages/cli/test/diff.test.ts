import { fileURLToPath } from 'node:url';
import { openKernelWorld } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import app from './apps/app.js';
import { run } from './run.js';
import { add, freshFolder, LEDGER, makeAgentWorld, makeLedger } from './worlds.js';

const APP = fileURLToPath(new URL('apps/app.ts', import.meta.url));
const CELL = LEDGER.join('/');

const folder = freshFolder();
const world = folder.file('ledger.db');

beforeAll(async () => {
  await makeLedger(world);
});
afterAll(() => folder.remove());

const diff = (...args: string[]) => run('show', world, CELL, '--app', APP, '--diff', ...args);

describe('reprise show --diff', () => {
  it('reprise show --diff prints the changes that the event of a frame made in the cell', async () => {
    const { code, out } = await diff('--at', '2');
    expect(code).toBe(0);
    expect(out).toMatch(/^demo\/Ledger@1\/\S+ in frame 2:\ndemo\/Added@1\n {2}replace /);
  });

  it('reprise show --diff prints patches that turn the state before the frame into the state after it', async () => {
    const stateAt = async (seq: number) =>
      JSON.parse((await run('show', world, CELL, '--app', APP, '--at', String(seq), '--json')).out).state;
    for (const seq of [2, 3, 4]) {
      const { changes } = JSON.parse((await diff('--at', String(seq), '--json')).out);
      const state = await stateAt(seq - 1);
      for (const { patches } of changes) for (const patch of patches) apply(state, patch);
      expect([seq, state]).toEqual([seq, await stateAt(seq)]);
    }
  });

  it('reprise show --diff reports that no event reached the cell in a frame of another cell', async () => {
    expect((await diff('--at', '0')).out).toContain('in frame 0: no event reached the cell');
  });

  it('reprise show --diff shows only the requested frame after a snapshot, and no change for the snapshot itself', async () => {
    const file = folder.file('snapshot.db');
    await makeLedger(file);
    const again = await openKernelWorld({ store: sqlite(file), app });
    await again.snapshot();
    const { seq } = again.head;
    await add(again, 5);
    await again.close();
    const at = async (n: number) =>
      JSON.parse((await run('show', file, CELL, '--app', APP, '--diff', '--at', String(n), '--json')).out).changes
        .length;
    expect([await at(seq), await at(seq + 1)]).toEqual([0, 1]);
  });

  it('reprise show --diff escapes every control character of an event', async () => {
    const { code, out } = await diff();
    expect(code).toBe(0);
    expect(out.replaceAll('\n', '')).toMatch(/^[^\p{Cc}\p{Cf}]*$/u);
  });

  it('reprise show --diff shows each event of a frame in which a session took several', async () => {
    const file = folder.file('agent.db');
    await makeAgentWorld(file);
    const { code, out } = await run('show', file, 'aos.agent/SessionReducer@1/s', '--diff', '--json');
    expect(code).toBe(0);
    const { changes } = JSON.parse(out);
    expect(changes.map(({ event }: { event: string }) => event)).toContain('aos.agent/LlmStepCompleted@1');
  });

  it('reprise show --diff refuses an app that reduces differently from the journal', async () => {
    const changed = fileURLToPath(new URL('apps/changed-sum.ts', import.meta.url));
    const { code, err } = await run('show', world, CELL, '--app', changed, '--diff', '--at', '4');
    expect(code).toBe(1);
    expect(err).toContain('replay_divergence');
  });

  it('reprise show --diff refuses --diff for anything but a cell, and together with --history', async () => {
    expect((await run('show', world, '2', '--diff')).err).toContain('--diff needs the address of a cell');
    expect((await run('show', world, CELL, '--diff', '--history')).code).toBe(2);
  });
});

type Patch = { op: string; path: (string | number)[]; value: unknown };

function apply(state: unknown, { op, path, value }: Patch): void {
  const last = path.at(-1) as string;
  // biome-ignore lint/suspicious/noExplicitAny: a state of any shape
  const at = path.slice(0, -1).reduce<any>((part, key) => part[key], state);
  if (op === 'remove') delete at[last];
  else at[last] = value;
}
