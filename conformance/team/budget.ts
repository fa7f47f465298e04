/** A budget in money that is used up in the middle of a graph, raised, and kept in each frame; and models without a price. */
import type { AgentWorld } from 'reprise';
import { ProjectLedger } from './ledger.js';
import type { Said as Answer, Asked, Usage } from './model-server.js';
import type { Said } from './run-workflow.js';
import { inScene, type Scene } from './scene.js';
import { roleOf } from './workflow.js';

/** Dollars per million tokens, which are micro-dollars per token. */
const PRICE = { in: 3, out: 15 };

/** The budget in micro-dollars, and the one that a person sets later. */
const BUDGET = 1_000_000;
const RAISED = 4_000_000;

/** The tasks of the graph: each but the first four depends on the one four before it. */
const TASKS = 24;

const SKILLS = [{ name: 'worker', description: 'Works', tools: [] }];
const BRIEF = 'Write what the brief asks for, in all its parts and with the sources that were used for it. '.repeat(3);

/** What an answer reports: the tokens of the request as it came, and no more of the answer than the request permits. */
function usageOf({ raw, maxTokens = TOKENS_MAX }: Asked, tokensOut: number): Usage {
  return { in: Math.ceil(Buffer.byteLength(raw) / BYTES_PER_TOKEN), out: Math.min(maxTokens, tokensOut) };
}

const TOKENS_MAX = 8_000;
const BYTES_PER_TOKEN = 4;

/** Workers cost six to eight cents each, a run of the coordinator about half a cent. */
function decide(asked: Asked): Answer {
  if (roleOf(asked) === 'coordinator') return { text: 'Noted.', usage: usageOf(asked, 100) };
  const varied = Number(/Task (\d+)/.exec(asked.raw)?.[1] ?? 0) * 61;
  return { text: 'It is done.', usage: usageOf(asked, 4_000 + varied) };
}

/** A budget of a dollar, used up in the middle of the graph; then models without a price. */
export async function keepBudget(): Promise<Said> {
  const options = {
    skills: SKILLS,
    decide,
    dispatch: 'auto' as const,
    price: PRICE,
    budget: { usd: BUDGET / 1_000_000 },
  };
  const spent = await inScene(options, spendAll);
  const unpriced = await withoutPrice();
  return { lines: [...spent.lines, ...unpriced.lines], isRight: spent.isRight && unpriced.isRight };
}

async function spendAll({ project, world, server }: Scene): Promise<Said> {
  await project().plan(graph());
  const used = await project().idle({ within: '120s' });
  const middle = (await project().tasks({ status: 'completed' })).length;
  const before = { results: (await project().results()).length, asked: server.asked.length };
  const run = await project().send('Go on, whatever it costs.');
  await run.endedOrWaiting();
  const still = await project().idle({ within: '60s' });
  const spawned = (await project().results()).length - before.results;
  const asked = server.asked.length - before.asked;
  await project().limit({ usd: RAISED / 1_000_000 });
  const { status } = await project().idle({ within: '120s' });
  const done = (await project().tasks({ status: 'completed' })).length;
  const ledger = await ledgerOf(world);
  const { unverified } = await world.verify();
  const isStopped = [used, still].every((one) => one.status === 'needs_decision' && one.needs === 'budget');
  const isKept = ledger.most <= BUDGET && ledger.mostPaid <= ledger.most && ledger.differences.length === 0;
  return {
    lines: [
      `a budget of $1: tasks completed ${middle}/${TASKS}, ${used.status} (${used.needs}); a message then: new spawns ${spawned}, calls of the model ${asked}`,
      `raised to $4: tasks completed ${done}/${TASKS}, ${status}; unverified ${unverified}`,
      `max(spent + reserved) = ${ledger.most} ${ledger.most <= BUDGET ? '≤' : '>'} ${BUDGET} micro-dollars, paid ${ledger.mostPaid}, over ${ledger.frames} frames and ${ledger.jobs} jobs; differences from the ledger ${ledger.differences.length}`,
      ...ledger.differences.slice(0, 4),
    ],
    isRight:
      isStopped &&
      isKept &&
      middle > 0 &&
      middle < TASKS &&
      spawned + asked + unverified === 0 &&
      done === TASKS &&
      status === 'done',
  };
}

function graph() {
  return Array.from({ length: TASKS }, (_, i) => ({
    key: `t${i}`,
    title: `Task ${i}`,
    context: BRIEF,
    skill: 'worker',
    ...(i < 4 ? {} : { blockedBy: [`t${i - 4}`] }),
  }));
}

async function ledgerOf({ kernel }: AgentWorld): Promise<ProjectLedger> {
  const ledger = new ProjectLedger('auth', PRICE);
  for await (const { seq, records } of kernel.frames(0)) {
    ledger.add(seq, records);
    if (seq === kernel.head.seq) break;
  }
  return ledger;
}

/** A coordinator whose model has no price; then a spawn with a model that has none. */
async function withoutPrice(): Promise<Said> {
  const budget = { usd: 1 };
  const open = inScene({ skills: SKILLS, decide, budget }, async () => 'opened');
  const refused = await open.catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  const answers: string[] = [];
  const tries = (asked: Asked): Answer => {
    answers.push(...asked.answers);
    if (!asked.last.startsWith('Try') || asked.step > 0) return { text: 'Noted.' };
    return { calls: [{ tool: 'spawn_agent', args: { task: 'x', skill: 'worker', model: 'free' } }] };
  };
  const results = await inScene(
    { skills: SKILLS, decide: tries, budget, price: PRICE, others: ['free'] },
    async ({ project }) => {
      const run = await project().send('Try');
      await run.text();
      await project().idle({ within: '30s' });
      return (await project().results()).length;
    },
  );
  const said = answers[0] ?? 'nothing';
  return {
    lines: [
      `no price, the coordinator's model: ${refused}`,
      `no price, the model of a spawn: ${said}; results ${results}`,
    ],
    isRight: /price/.test(refused) && said.includes('no_price') && said.includes('give it one') && results === 0,
  };
}
