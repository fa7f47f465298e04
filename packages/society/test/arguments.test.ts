/**
 * Whatever texts a call has, it is answered and no cell fails: a text of a client is a value until a schema has said that
 * it can be a key. The arguments are made from the schemas that clients are shown, for each tool, each with one text that
 * is odd or at a bound.
 */
import type { Served } from '@reprise/agent';
import type { Principal, Value } from '@reprise/contracts';
import { faultsOf } from '@reprise/testkit';
import { anyArguments, boundArguments } from '@reprise/testkit/ports';
import fc from 'fast-check';
import { defineAgent } from 'reprise';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { SOCIETY_TOOLS, type SocietyToolName } from '../src/pure/index.js';
import { fileSchema } from '../src/wire/index.js';
import { agentOf, type Office, writeTo } from './support/crew.js';
import { openOffice } from './support/office.js';

/** Calls of each tool; the long form of the law sets more. */
const CALLS = Number(process.env.REPRISE_ARGUMENT_CALLS ?? 60 / stepOf(10));
const SEED = Number(process.env.REPRISE_SEED ?? 20260101);

/** How long a call may take: far more than any needs. */
const PATIENCE_MS = 60_000;

/** Ids that name a store, a group or a return, and nothing behind it. */
const ODD_IDS = [
  'group:#1',
  'staging:#1',
  'private:#1',
  'l1-notes:#1',
  '!#1',
  `group:${'g'.repeat(128)}#999999999999`,
  `group:${'g'.repeat(174)}#1`,
  `staging-${'0'.repeat(64)}-0`,
  `staging-${'0'.repeat(64)}-9999999999999999`,
  'skill:',
  'group:crew#0',
  'group:crew#99',
];

/** The agent that swarms of the law are made of. */
const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look.' });

/** An empty answer, so that swarms go on as long as a test does. */
const SAYS = Array.from({ length: 2_000 }, () => ({ text: 'Found.' }));

async function lawOffice() {
  const office: Office = await openOffice({ agents: [scout], steps: SAYS });
  const { world, office: society } = office;
  const ann = await society.human('ann');
  await society.human('ben');
  const bot = await agentOf(society, ann, { displayName: 'Bot', capabilities: {} });
  await ann.use('agent_set_status', { agent_id: bot.id, to: 'activate' });
  const crew = society.group('crew');
  await crew.open({ owner: 'ann' });
  await crew.join('ann', 'owner');
  await crew.join(bot.id, 'member');
  await writeTo(office, ann, 'crew', 'Bodies have at most 1 MiB.');
  await writeTo(office, bot, 'crew', 'Names have at most 64 letters.');
  const known = {
    entity_id: ['ann', bot.id],
    parent_entity_id: ['ann', bot.id],
    agent_id: [bot.id],
    group_id: ['crew'],
    group: ['crew'],
    item_id: ['group:crew#1', 'group:crew#2', 'private:ann#1'],
    supersedes: ['group:crew#1'],
    swarm_id: ['looking'],
    after: [bot.id, '0', '1'],
    visibility: ['group', 'private'],
    coordinator_agent_id: [bot.id],
    agent: [{ slot: 'scout', agent_type: 'swarm-worker', capabilities: {}, count: 1, task: 'Read.' }],
    signature: [`${'A'.repeat(86)}==`],
    public_key: [`${'A'.repeat(43)}=`],
    proof: [`${'A'.repeat(86)}==`],
    expected_version: [0, 1],
    budget_usd: [1],
    capabilities: [{}],
    staging_group_id: [`staging-${bot.id}-1`],
  };
  const [served] = world.served as readonly [Served];
  const principals: readonly Principal[] = ['human:ann', 'human:ben', `cell:society/Entity@1/${bot.id}`];
  return { world, society, served, known, principals, bot, [Symbol.asyncDispose]: () => world.close() };
}

type LawOffice = Awaited<ReturnType<typeof lawOffice>>;

/** How a call is sent: as a client of MCP, or by the API. */
type Way = 'served' | 'use';

interface Call {
  readonly tool: SocietyToolName;
  readonly args: Readonly<Record<string, unknown>>;
  readonly way: Way;
  readonly as: number;
}

/** Sends a call. @returns `answered` or the code of the refusal */
async function sent({ served, world, society, principals, bot }: LawOffice, call: Call): Promise<string> {
  const { tool, args, way } = call;
  const principal = principals[call.as % principals.length] as Principal;
  const { signal } = new AbortController();
  const answer =
    way === 'served'
      ? served.call(world.kernel.as(principal), tool, args as Value, crypto.randomUUID(), { signal })
      : society.entity(call.as % 3 === 2 ? bot.id : 'ann').use(tool, args as never);
  const late = new Promise<never>((_, reject) => setTimeout(reject, PATIENCE_MS, new Error('not answered')).unref());
  return Promise.race([answer, late]).then(
    () => 'answered',
    (error: { readonly code?: unknown }) => {
      if (typeof error.code === 'string') return error.code;
      throw error;
    },
  );
}

/** The calls that name an item by an id. */
const BY_ITEM: Readonly<Partial<Record<SocietyToolName, (id: string) => Readonly<Record<string, unknown>>>>> = {
  memory_read_warm: (item_id) => ({ item_id }),
  memory_share: (item_id) => ({ item_id, group_id: 'crew' }),
  memory_assess: (item_id) => ({ item_id, verdict: 'right', basis: 'user' }),
  memory_validate: (item_id) => ({ item_id }),
  memory_write_warm: (supersedes) => ({
    type: 'note',
    content: 'Text.',
    visibility: 'group',
    group: 'crew',
    supersedes,
  }),
};

describe('given ids of items whose store, group or return cannot be', () => {
  it('every call with such an id is answered, and no cell of the world fails [SCH-8]', async () => {
    await using office = await lawOffice();
    const { world } = office;
    const { seq: from } = world.kernel.head;
    for (const [tool, argsOf] of Object.entries(BY_ITEM)) {
      for (const id of ODD_IDS) {
        for (const as of [0, 2]) {
          await sent(office, { tool: tool as SocietyToolName, args: argsOf(id), way: 'served', as });
          expect(await faultsOf(world.kernel, from), `${tool} of ${id}`).toEqual([]);
        }
      }
    }
    await world.verify();
  });
});

describe(`given ${CALLS} calls of each tool of a society, each with an odd text (seed ${SEED})`, () => {
  it.each(Object.keys(SOCIETY_TOOLS) as SocietyToolName[])(
    'every call of %s is answered, and no cell of the world fails [SCH-6, SCH-8]',
    async (tool) => {
      await using office = await lawOffice();
      const schema = fileSchema(SOCIETY_TOOLS[tool].args, 'input');
      const calls: fc.Arbitrary<Call> = fc.record({
        tool: fc.constant(tool),
        args: anyArguments(schema, { known: office.known, odd: ODD_IDS }),
        way: fc.constantFrom<Way>('served', 'use'),
        as: fc.nat({ max: 5 }),
      });
      const codes = new Map<string, number>();
      let { seq: from } = office.world.kernel.head;
      const bound = boundArguments(schema, { known: office.known }).flatMap((args) =>
        [0, 2].map((as): Call => ({ tool, args, way: 'served', as })),
      );
      for (const call of [...bound, ...fc.sample(calls, { seed: SEED, numRuns: CALLS })]) {
        const code = await sent(office, call);
        codes.set(code, (codes.get(code) ?? 0) + 1);
        expect(code, JSON.stringify(call).slice(0, 2_000)).not.toBe('cell_failed');
        expect(await faultsOf(office.world.kernel, from), JSON.stringify(call).slice(0, 2_000)).toEqual([]);
        from = office.world.kernel.head.seq;
      }
      expect(codes.get('answered') ?? 0).toBeGreaterThan(0);
      await office.world.verify();
    },
  );
});
