/** What a message to a session costs its stores. */
import { memory, type Store } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/index.js';
import { play } from './scene.js';

/** A store that counts what is put into it, and which frames are read from it. */
function counting(store: Store) {
  const count = { puts: 0, reads: 0 };
  const counted: Store = {
    ...store,
    open: async (...given) => {
      const open = await store.open(...given);
      const content = Object.create(open.content) as typeof open.content;
      content.put = (bytes) => {
        count.puts++;
        return open.content.put(bytes);
      };
      const journal = Object.create(open.journal) as typeof open.journal;
      journal.read = (...place) => {
        count.reads++;
        return open.journal.read(...place);
      };
      return Object.assign(Object.create(open) as typeof open, { content, journal });
    },
  };
  return { store: counted, count };
}

const scouts = ['x', 'y', 'z'].map((name) => defineAgent({ name, model: 'main', instructions: name }));
const lead = defineAgent({ name: 'lead', model: 'main', instructions: 'Lead.', spawns: scouts });

describe('a message to a session', () => {
  it('a message stores its text but not the agent again, and reads no frame back [SES-16]', async () => {
    const { store, count } = counting(memory());
    const steps = [{ text: '1' }, { text: '2' }, { text: '3' }];
    await play({ agents: [lead], steps, store, drive: 'manual', goesOn: true }, async ({ world }) => {
      const session = world.session('s', lead);
      await session.send('first');
      const before = { ...count };
      await session.send('second');
      await session.pause();
      expect({ puts: count.puts - before.puts, reads: count.reads - before.reads }).toEqual({ puts: 1, reads: 0 });
    });
  });

  it('a message stores the agent again when a part of it was erased since [SES-16]', async () => {
    const { store, count } = counting(memory());
    await play({ agents: [lead], steps: [{ text: '1' }], store, goesOn: true }, async ({ world }) => {
      await (await world.session('s', lead).send('first')).result();
      const state = await world.session('s', lead).state();
      const before = count.puts;
      await world.kernel.erase({ refs: state === undefined ? [] : [state.config.system_ref] });
      await world
        .session('t', lead)
        .send('second')
        .catch(() => undefined);
      expect(count.puts - before).toBeGreaterThan(8);
    });
  });
});
