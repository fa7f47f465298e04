import type { Address, Value } from '@reprise/contracts';
import type { App, ReducerDefinition } from '@reprise/kernel';
import { Bench } from './bench.js';
import { sink } from './stand-ins.js';

const RELAY = 'testkit/Relay@1';
const JUDGE: Address = ['testkit/Judge@1', 'given'];
const JUDGED = 'testkit/Judged@1';

/**
 * Checks a value with the engine's own checker and fills in constant defaults, as a world does with an event and an
 * executor with a payload. The value is sent as an event of that schema, from one cell to another.
 *
 * @param what the name of the value in the message
 * @throws Error with the checker's message when the value does not fit
 */
export function checkedValue(what: string, node: ReducerDefinition['state'], value: unknown): Value {
  const { records, refused } = new Bench(appOfOne(node)).request([RELAY, 'given'], { name: JUDGED, value });
  if (refused !== undefined) throw new Error(`${what} breaks its schema: ${refused.what}`);
  const sent = records.find((record) => record.kind === 'event');
  return sent?.kind === 'event' ? sent.event.value : null;
}

function appOfOne(node: ReducerDefinition['state']): App {
  const relay: ReducerDefinition = {
    ...sink(RELAY),
    reduce: (_draft, { value }, ctx) => ctx.send(JUDGE, { name: JUDGED, value }),
  };
  const judge: ReducerDefinition = { ...sink(JUDGE[0]), events: new Map([[JUDGED, { node, creates: true }]]) };
  return { reducers: new Map([relay, judge].map((one) => [one.name, one])), plans: new Map(), effects: new Map() };
}
