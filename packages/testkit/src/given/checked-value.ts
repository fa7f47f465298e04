import type { Address, Value } from '@reprise/contracts';
import type { App, ReducerDefinition } from '@reprise/kernel';
import { Bench } from './bench.js';
import { sink } from './stand-ins.js';

const RELAY = 'testkit/Relay@1';
const JUDGE: Address = ['testkit/Judge@1', 'given'];
const JUDGED = 'testkit/Judged@1';

/**
 * A value as the engine's own checker lets it pass, constant defaults filled in: what a world's door does to an
 * event and a dispatcher to a payload. It is sent as an event of that schema, from one cell to another.
 *
 * @param what what the value is, for the message
 * @throws Error with the checker's words when it does not fit
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
