/** Misspelled options, which untyped callers write: each method refuses them, and names the known one. */
import { describe, expect, it } from 'vitest';
import { type AgentWorld, defineAgent, type Run, type Session } from '../../src/index.js';
import { play } from './scene.js';

const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Help.' });

interface Stage {
  readonly world: AgentWorld;
  readonly session: Session<string>;
  readonly run: Run<string>;
}

/** Calls a method as JavaScript does. */
function call(on: object, method: string, ...args: readonly unknown[]): unknown {
  const run = (on as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>)[method];
  return run?.apply(on, [...args]);
}

/** Each method: who has it, what stands before its options, a misspelled option, the known one, and its name. */
const METHODS: readonly [keyof Stage, string, readonly unknown[], string, string, string][] = [
  ['world', 'session', ['a', clerk], 'label', 'labels', 'world.session'],
  ['world', 'sessions', [], 'satus', 'status', 'sessions'],
  ['world', 'pending', [], 'labels', 'label', 'pending'],
  ['world', 'decide', ['x', { deny: 'No.' }], 'sa', 'as', 'decide'],
  ['world', 'events', [], 'folow', 'follow', 'world.events'],
  ['session', 'send', ['Hi.'], 'priorty', 'priority', 'send'],
  ['session', 'steer', ['Hi.'], 'pim', 'pin', 'steer'],
  ['session', 'followUp', ['Hi.'], 'pim', 'pin', 'followUp'],
  ['session', 'withdraw', ['x'], 'ifEpoc', 'ifEpoch', 'withdraw'],
  ['session', 'reconfigure', [{}], 'ifEpoc', 'ifEpoch', 'reconfigure'],
  ['session', 'reconfigure', [], 'modle', 'model', 'reconfigure'],
  ['session', 'pause', [], 'ifEpoc', 'ifEpoch', 'pause'],
  ['session', 'resume', [], 'ifEpoc', 'ifEpoch', 'resume'],
  ['session', 'cancel', [], 'scop', 'scope', 'cancel'],
  ['session', 'compact', [], 'ifEpoc', 'ifEpoch', 'compact'],
  ['session', 'close', [], 'ifEpoc', 'ifEpoch', 'close'],
  ['session', 'spawn', [clerk, 'Hi.'], 'budgets', 'budget', 'spawn'],
  ['session', 'events', [], 'treee', 'tree', 'session.events'],
  ['run', 'events', [], 'folow', 'follow', 'run.events'],
  ['run', 'stream', [], 'chanel', 'channel', 'run.stream'],
  ['run', 'cancel', [], 'reson', 'reason', 'run.cancel'],
];

describe('options', () => {
  it.each(METHODS)('%s.%s refuses an unknown option after %j: %s, and names %s', async (on, method, args, ...rest) => {
    const [unknown, known, name] = rest;
    await play({ agents: [clerk], steps: [{ text: 'Hi.' }] }, async ({ world }) => {
      const session = world.session('a', clerk);
      const stage: Stage = { world, session, run: await session.send('Hi.') };
      const refused = expect(async () => call(stage[on], method, ...args, { [unknown]: 1 })).rejects;
      await refused.toThrow(`invalid_argument: unknown option "${unknown}" of ${name}; expected `);
      await refused.toThrow(`Did you mean "${known}"?`);
    });
  });

  it('an unknown limit and an unknown option of a model are refused with the known one', () => {
    const of = { name: 'a', model: 'main', instructions: '' };
    // @ts-expect-error the limit is `steps`
    expect(() => defineAgent({ ...of, limits: { step: 3 } })).toThrow(/unknown limit "step".*Did you mean "steps"\?/);
    // @ts-expect-error the option is `maxTokens`
    const tokens = () => defineAgent({ ...of, options: { maxToken: 3 } });
    expect(tokens).toThrow(/unknown option "maxToken" of a model.*Did you mean "maxTokens"\?/);
  });

  it('an item that never was one, and a place that no event has, are refused with what is expected', async () => {
    await play({ agents: [clerk], steps: [{ text: 'Hi.' }] }, async ({ world }) => {
      await expect(world.decide('call_1', { approve: true })).rejects.toThrow(
        'invalid_argument: invalid pending item; at item; expected an item of world.pending(), or its id; got the text "call_1"',
      );
      await expect(world.events({ after: 'last' as never }).next()).rejects.toThrow(
        'invalid_argument: invalid cursor; at after; expected the `event_seq` of an event; got last',
      );
    });
  });
});
