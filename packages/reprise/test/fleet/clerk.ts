/**
 * A process of a fleet of sessions, of one release: `clerk.mjs DATABASE NAME SECRET BANK TTL PORT ADDRESS RELEASE`. The second
 * release has other instructions, another description of a tool, and a tool more.
 */
import { type AgentWorld, defineAgent, defineTool, isRepriseError, openWorld } from 'reprise';
import { defineOperation, openFleet } from 'reprise/fleet';
import { scriptBy } from 'reprise/providers';
import * as z from 'zod';
import type { FromMember, ToMember } from '../../../fleet/test/processes/members.js';

const [database = '', name = '', secret = '', bank = '', ttl = '', , , release = ''] = process.argv.slice(2);
const isSecond = release === 'second';

const say = (message: FromMember): void => void process.send?.(message);

/** Pays at the bank, which counts the keys of each order. */
async function pay(order: string, key: string): Promise<string> {
  const answer = await fetch(bank, { method: 'POST', body: JSON.stringify({ order, key }) });
  return answer.ok ? `paid ${order}` : 'the bank is closed';
}

const order = z.strictObject({ order: z.string() });
const paying = defineTool({
  name: 'pay',
  description: isSecond ? 'Pays an order, and writes it down.' : 'Pays an order.',
  args: order,
  guarantee: 'idempotent',
  run: (args, { idempotencyKey }) => pay(args.order, idempotencyKey),
});
const approved = defineTool({
  name: 'pay_much',
  description: 'Pays an order that a person has approved.',
  args: order,
  guarantee: 'idempotent',
  approval: 'always',
  run: (args, { idempotencyKey }) => pay(args.order, idempotencyKey),
});
const look = defineTool({ name: 'look', description: 'Looks around.', args: z.strictObject({}), run: () => 'nothing' });
const clerk = defineAgent({
  name: 'clerk',
  model: 'main',
  instructions: `You are of the ${release} release.`,
  tools: isSecond ? [paying, approved, look] : [paying, approved],
});

/** It calls the tool that the message names, and then says of which release its instructions are. */
const model = scriptBy(({ unified, last }) => {
  const [tool = '', of = ''] = last.split(' ');
  if (unified.messages.at(-1)?.role === 'user') return { calls: [{ tool, args: { order: of } }] };
  return { text: JSON.stringify(unified).includes('of the second release') ? 'second' : 'first' };
});

const text = z.strictObject({ text: z.string() });
const told = z.strictObject({ session: z.string(), text: z.string() });

/** Says something to a session, and waits for its answer. */
const ask = defineOperation({
  name: 'clerk/ask@1',
  input: told,
  output: text,
  run: async (world: AgentWorld, input, { request }) => {
    const run = await world.session(input.session, clerk).send(input.text, request);
    return { text: await run.text() };
  },
});

/** Says something to a session that will wait for a person. */
const leave = defineOperation({
  name: 'clerk/leave@1',
  input: told,
  output: text,
  run: async (world: AgentWorld, input, { request }) => {
    await world.session(input.session, clerk).send(input.text, request);
    return { text: 'left' };
  },
});

/** Approves all that waits in the world. */
const approve = defineOperation({
  name: 'clerk/approve@1',
  input: z.null(),
  output: z.strictObject({ approved: z.int() }),
  run: async (world: AgentWorld, _input, { request }) => {
    const items = await world.pending();
    for (const item of items)
      await world.decide(item, { approve: true }, { ...request, id: `${request.id}/${item.id}` });
    return { approved: items.length };
  },
});

/** Folds the journal of the world again. @returns how many frames no app replays */
const verify = defineOperation({
  name: 'clerk/verify@1',
  input: z.null(),
  output: z.strictObject({ unverified: z.int() }),
  run: async (world: AgentWorld) => ({ unverified: (await world.verify()).unverified }),
});

const fleet = await openFleet({
  ...{ database, name, secret, ttl: Number(ttl), connectionsMax: 4, idleMs: 150 },
  world: (id) => `${name}-${id}`,
  open: (_id, base) => openWorld({ ...base, agents: [clerk], models: { main: model } }),
  operations: [ask, leave, approve, verify],
  onError: ({ error }) => say({ told: isRepriseError(error) ? error.code : String(error), reason: '' }),
});

async function asked({ world, what, id, within }: ToMember): Promise<number | string> {
  const options = { id, within, as: 'human:ann' } as const;
  if (what === 'order') return (await fleet.call(world, ask, { session: 's', text: `pay ${id}` }, options)).text;
  if (what === 'person')
    return (await fleet.call(world, leave, { session: 's', text: `pay_much ${id}` }, options)).text;
  if (what === 'look') return (await fleet.call(world, verify, null, options)).unverified;
  return (await fleet.call(world, approve, null, options)).approved;
}

process.on('message', (message: ToMember) => {
  const begun = performance.now();
  const { n } = message;
  asked(message).then(
    (said) => say({ n, ok: true, said, ms: performance.now() - begun }),
    (error: unknown) => {
      const said = isRepriseError(error) ? error.code : String(error);
      say({ n, ok: false, said, reason: isRepriseError(error) ? String(error.details.reason) : '', ms: 0 });
    },
  );
});
process.once('SIGTERM', () => void fleet.close());
void fleet.closed.then(() => process.exit(0));
process.once('disconnect', () => process.exit(0));
say({ ready: fleet.address });
