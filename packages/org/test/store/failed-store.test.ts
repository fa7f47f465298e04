/** Calls that wait for a store whose cell fails: each ends. */
import { openAgentWorld } from '@reprise/agent';
import { isRepriseError } from '@reprise/contracts';
import { memory } from '@reprise/kernel';
import { llmGenerateAdapter, script } from '@reprise/providers';
import { describe, expect, it } from 'vitest';
import { storeAt } from '../../src/index.js';
import { call, defectiveMemory, office, SCOPE } from './clerks.js';

const codeOf = (asked: Promise<unknown>) =>
  asked.then(
    () => 'no error',
    (error: unknown) => (isRepriseError(error) ? error.code : 'another error'),
  );

const TEXT = 'Customers pay by invoice.';

describe('a store whose cell fails', () => {
  it('a failed store ends what an app asks of it, at the fault and after it [RED-39]', async () => {
    const part = defectiveMemory();
    await using world = await openAgentWorld({
      ...{ store: memory(), agents: [], parts: [part], models: { main: {} } },
      llm: (judge) => llmGenerateAdapter({ main: script() }, { judge }),
    });
    const notes = await world.part(part).open('public');
    await notes.store({ text: TEXT, said: TEXT });
    const asked = [() => notes.demote(1), () => notes.demote(1), () => notes.store({ text: TEXT, said: TEXT })];
    for (const ask of asked) expect(await codeOf(ask())).toBe('cell_failed');
    expect(await world.trouble()).toMatchObject([{ where: storeAt('public') }]);
    await world.verify();
  });

  it('a failed store answers the memory tools of a model with cell_failed, at the fault and after it, and the run goes on', async () => {
    const steps = [
      call('memory_store', { text: TEXT }),
      call('memory_demote', { id: 1 }),
      call('memory_reinforce', { id: 1 }),
    ];
    const look: Parameters<typeof office>[1] = async ({ told, world }) => {
      expect([told[1], told[2]]).toEqual([
        expect.stringContaining('cell_failed'),
        expect.stringContaining('cell_failed'),
      ]);
      expect(await world.trouble()).toMatchObject([{ where: storeAt(SCOPE) }]);
    };
    await office(steps, look, undefined, defectiveMemory());
  });
});
