/** What an agent is, and what is recorded of it. */
import { getValue, isRepriseError } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { agentDef, defineAgent, defineTool, readText } from '../../src/index.js';
import { play } from './scene.js';

const echo = defineTool({ name: 'echo', description: '', args: z.strictObject({}), run: () => 'ho' });
const spec = { name: 'a', model: 'main', instructions: 'Act.' } as const;

describe('a definition', () => {
  it.each([
    ['a name with blanks', { ...spec, name: 'a b' }],
    ['no model', { ...spec, model: '' }],
    ['instructions that are no text', { ...spec, instructions: 1 }],
    ['two tools of one name', { ...spec, tools: [echo, { ...echo }] }],
    ['a limit of zero', { ...spec, limits: { steps: 0 } }],
    ['a misspelled option, which would leave its limits out', { ...spec, limit: { steps: 1 } }],
    ['an unknown limit', { ...spec, limits: { moons: 1 } }],
    ['an unknown loop policy', { ...spec, loop: 'never' }],
    ['an unknown setting', { ...spec, options: { heat: 1 } }],
    ['a temperature that is a text', { ...spec, options: { temperature: 'hot' } }],
    ['returns without a schema', { ...spec, returns: {} }],
    ['a context source without a lane', { ...spec, context: [{ name: 'x', load: () => '' }] }],
    ['an adoption that nobody knows', { ...spec, adopt: 'sometime' }],
    ['a grace of an hour', { ...spec, cancelGrace: '1h' }],
  ])('a definition with %s is refused by defineAgent', (_, wrong) => {
    expect(() => defineAgent(wrong as never)).toThrowError(
      expect.toSatisfy((error) => isRepriseError(error, 'invalid_definition')),
    );
  });

  it('a definition is data in the journal: one complete blob, and equal definitions give equal bytes [TOOL-1]', async () => {
    const agent = defineAgent({ ...spec, limits: { usd: 0.5, wall: '5m' }, loop: 'operator', tools: [echo] });
    const models = { main: { price: { in: 3, out: 15 } } };
    await play({ agents: [agent], steps: [{ text: 'x' }, { text: 'y' }], models }, async ({ world }) => {
      const session = world.session('s', agent);
      await (await session.send('Hi')).result();
      const state = await session.state();
      const def = agentDef.parse(await getValue(world.kernel.content, state?.def_ref as never));
      expect(def.config).toEqual(state?.config);
      expect(def.config.limits).toMatchObject({ max_micro_money: 500_000, max_wall_ms: 300_000, max_steps: 50 });
      expect(def.config.loop?.actions).toEqual(['steer', 'complete_with_warning']);
      await (await session.send('Hi')).result();
      expect((await session.state())?.config_rev).toBe(state?.config_rev);
    });
  });

  it('a definition that names a model which the world does not have is refused before anything is written', async () => {
    const agent = defineAgent({ ...spec, model: 'unknown' });
    await expect(play({ agents: [agent], steps: [] }, async () => undefined)).rejects.toSatisfy((error) =>
      isRepriseError(error, 'unknown_model'),
    );
    const known = defineAgent(spec);
    await play({ agents: [known], steps: [] }, async ({ world }) => {
      const head = world.kernel.head.seq;
      await expect(world.define(agent)).rejects.toSatisfy((error) => isRepriseError(error, 'unknown_model'));
      expect(world.kernel.head.seq).toBe(head);
      expect(() => world.session('s', agent)).toThrowError(
        expect.toSatisfy((error) => isRepriseError(error, 'unknown_agent')),
      );
    });
  });

  it('a definition with a return schema tells the model the JSON Schema', async () => {
    const agent = defineAgent({ ...spec, returns: z.strictObject({ score: z.int() }) });
    await play({ agents: [agent], steps: [{ text: '{"score":1}' }] }, async ({ world, llm }) => {
      await (await world.session('s', agent).send('Hi')).result();
      const system = await readText(world.kernel.content, llm.asked[0]?.params.system_ref as never);
      expect(system).toContain('Act.');
      expect(system).toContain('"score":{"');
    });
  });

  it('a definition accepts a schema of any library that implements the interface, with its JSON Schema beside it', async () => {
    const returns = {
      '~standard': {
        version: 1 as const,
        vendor: 'mine',
        validate: (value: unknown) => (typeof value === 'number' ? { value } : { issues: [{ message: 'no number' }] }),
      },
    };
    expect(() => defineAgent({ ...spec, returns })).toThrowError(
      expect.toSatisfy((error) => isRepriseError(error, 'invalid_definition')),
    );
    const agent = defineAgent({ ...spec, returns, returnsJsonSchema: { type: 'number' } });
    await play({ agents: [agent], steps: [{ text: '7' }] }, async ({ world }) => {
      expect((await (await world.session('s', agent).send('Hi')).result()).value).toBe(7);
    });
  });
});

describe('a changed definition', () => {
  const first = defineAgent({ ...spec, instructions: 'One.' });
  const second = defineAgent({ ...spec, instructions: 'Two.' });

  it('a changed definition is adopted by a session at its next input, while the world runs [SES-16]', async () => {
    await play({ agents: [first], steps: [{ text: 'x' }, { text: 'y' }] }, async ({ world, llm }) => {
      await (await world.session('s', first).send('Hi')).result();
      const { ref } = await world.define(second);
      const session = world.session('s', second);
      await (await session.send('Hi')).result();
      expect((await session.state())?.def_ref.hex).toBe(ref.hex);
      const texts = llm.asked.map(({ params }) => readText(world.kernel.content, params.system_ref));
      expect(await Promise.all(texts)).toEqual(['One.', 'Two.']);
    });
  });

  it('a changed definition is not adopted by a pinned session', async () => {
    const pinned = defineAgent({ ...spec, instructions: 'One.', adopt: 'pin' });
    const changed = defineAgent({ ...spec, instructions: 'Two.', adopt: 'pin' });
    await play({ agents: [pinned], steps: [{ text: 'x' }, { text: 'y' }] }, async ({ world }) => {
      await (await world.session('s', pinned).send('Hi')).result();
      const before = await world.session('s', pinned).state();
      await world.define(changed);
      await (await world.session('s', changed).send('Hi')).result();
      expect((await world.session('s', changed).state())?.def_ref.hex).toBe(before?.def_ref.hex);
    });
  });
});

describe('context sources', () => {
  it('context sources are read once for each run, and their texts are recorded', async () => {
    let asked = 0;
    const agent = defineAgent({
      ...spec,
      tools: [echo],
      context: [{ name: 'clock', lane: 'inputs', load: ({ key }) => `${key} ${++asked}` }],
    });
    const steps = [{ calls: [{ tool: 'echo' }] }, { text: 'x' }, { text: 'y' }];
    await play({ agents: [agent], steps }, async ({ world, llm }) => {
      const session = world.session('s', agent);
      await (await session.send('Hi')).result();
      await (await session.send('Hi')).result();
      expect(asked).toBe(2);
      const given = llm.asked[1]?.params.context;
      expect(given).toMatchObject([{ lane: 'inputs', name: 'clock' }]);
      expect(await readText(world.kernel.content, given?.[0]?.text_ref as never)).toBe('s 1');
    });
  });
});
