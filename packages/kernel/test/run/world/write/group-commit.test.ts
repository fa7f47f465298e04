import { seededRandom, VirtualClock } from '@reprise/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../../conformance/part.js';
import {
  anySchedule,
  PROGRAM_CELLS,
  PROGRAM_EVENTS,
  programApp,
  type ScheduledRequest,
  type ScheduleStep,
} from '../../../../../testkit/src/arbitraries/index.js';
import { type Ack, encode, memory, openKernelWorld, toHex, verifyStore, type World } from '../../../../src/index.js';
import { hold, rerun, SEED } from '../../../support/laws/hold.js';
import { nativeHash } from '../../../support/laws/run-schedule.js';
import { refusalOf } from '../../../support/laws/world-laws.js';

type Answer = string;

/** What a world came to: the answers to its requests in their order, its head, its states. */
interface Came {
  readonly answers: readonly Answer[];
  readonly head: string;
  readonly states: readonly string[];
  readonly commits: number;
}

type Submit = (world: World, requests: readonly ScheduledRequest[]) => Promise<Answer[]>;

function send(world: World, { to, creates, ops, payload }: ScheduledRequest, i: number): Promise<Answer> {
  const name = creates ? PROGRAM_EVENTS.made : PROGRAM_EVENTS.ran;
  return answerOf(world.request(to, { name, value: { ops, payload } }, { id: `r${i}` }));
}

async function answerOf(asked: Promise<Ack>): Promise<Answer> {
  const acks: Ack[] = [];
  const refusal = await refusalOf(asked.then((ack) => acks.push(ack)));
  return refusal === undefined ? acks.map(({ seq, head }) => `frame ${seq} ${head}`).join() : `refused ${refusal.code}`;
}

const together: Submit = (world, requests) => Promise.all(requests.map((request, i) => send(world, request, i)));
const oneByOne: Submit = async (world, requests) => {
  const answers: Answer[] = [];
  for (const [i, request] of requests.entries()) answers.push(await send(world, request, i));
  return answers;
};

/** No effect is started (no adapter, manual drive), so nothing but the grouping differs between two runs. */
async function run(requests: readonly ScheduledRequest[], submit: Submit): Promise<Came> {
  const store = memory({ hash: nativeHash });
  let commits = 0;
  const counted = {
    ...store,
    open: async () => {
      const open = await store.open();
      const append: typeof open.journal.append = (...given) => {
        commits++;
        return open.journal.append(...given);
      };
      return { ...open, journal: { ...open.journal, append } };
    },
  };
  const world = await openKernelWorld({
    store: counted,
    app: programApp,
    clock: new VirtualClock(),
    random: seededRandom('g'),
    drive: 'manual',
    snapshotEvery: 0,
  });
  const answers = await submit(world, requests);
  const states = [];
  for (const cell of PROGRAM_CELLS) states.push(toHex(encode((await world.state(cell)) ?? null)));
  const head = world.head.digest;
  await world.close();
  const reader = await store.openReadonly();
  const heads = new Map<number, string>();
  for await (const frame of reader.journal.read(0)) heads.set(frame.seq, frame.head);
  for (const answer of answers.filter((one) => one.startsWith('frame '))) {
    const [, seq, acknowledged] = answer.split(' ');
    expect(acknowledged).toBe(heads.get(Number(seq)));
    await verifyStore(reader, { expect: acknowledged as string });
  }
  return { answers, head, states, commits };
}

const requests = anySchedule({ stepsMax: 16, breaks: false }).map((schedule) =>
  schedule.filter((step): step is Extract<ScheduleStep, { step: 'request' }> => step.step === 'request'),
);

describe(`group commit (seed ${SEED})`, () => {
  it('requests made together lead to the same frames, states and answers as requests made one by one, in fewer commits [JRN-9, JRN-10]', async () => {
    const commits = { together: 0, oneByOne: 0 };
    const law = fc.asyncProperty(requests, async (made) => {
      const [grouped, single] = [await run(made, together), await run(made, oneByOne)];
      commits.together += grouped.commits;
      commits.oneByOne += single.commits;
      expect({ ...grouped, commits: 0 }).toEqual({ ...single, commits: 0 });
    });
    await hold(law, { numRuns: 60 / stepOf(4), command: rerun('group-commit.test.ts') });
    expect(commits.together).toBeLessThan(commits.oneByOne / 2);
  });

  it.each<[string, Submit]>([
    ['answers out of order', async (world, made) => (await together(world, made)).reverse()],
    ['drops a request', async (world, made) => together(world, made.slice(1))],
    ['executes them in another order', async (world, made) => oneByOne(world, [...made].reverse())],
  ])('a mutant that %s is found', async (_, submit) => {
    const law = fc.asyncProperty(requests, async (made) => {
      expect({ ...(await run(made, submit)), commits: 0 }).toEqual({ ...(await run(made, oneByOne)), commits: 0 });
    });
    await expect(hold(law, { numRuns: 50, shrink: false, command: '' })).rejects.toThrow();
  });
});
