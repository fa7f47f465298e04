/**
 * The owner of a society in a file, whose topmost agent has failed while agents below it work. It has one of three parts:
 *
 *   node owner.mjs FOLDER WAY prepare         has three generations of agents work, and dies while their tools run
 *   node owner.mjs FOLDER WAY cut N SIDE      takes the rights of the topmost agent, and dies at its Nth append from then
 *   node owner.mjs FOLDER WAY end             takes them again under the same id, and says what the whole journal says
 *
 * Each run of a tool writes a line to a file: the frame that was the last one then. An owner that lives says `alive`.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import type { JournalRecord, KernelCommand } from '@reprise/contracts';
import { type AgentWorld, defineAgent, defineTool, openWorld } from 'reprise';
import type { Store } from 'reprise/kernel';
import { scriptBy } from 'reprise/providers';
import { type Entity, fileVault } from 'reprise/society';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';
import { DyingStore } from '../../dying-store.js';
import { failEntity, failingSociety } from '../failing.js';
import type { Revoked } from './kill.js';

const [, , folder = '', way = '', part = '', n = '', side = ''] = process.argv;
const AGENTS = path.join(folder, 'agents.json');
const CALLS = path.join(folder, 'calls');

const GENERATIONS = 3;
/** The calls of one answer, and the answers with calls of one run. */
const CALLS_EACH = 3;
const ANSWERS = 5;
const CALL_MS = 1_500;
const QUIET_MS = 250;

let head = () => 0;

const touch = defineTool({
  name: 'touch',
  description: 'Touches something.',
  args: z.strictObject({ n: z.int() }),
  guarantee: 'idempotent',
  run: async (_, { signal }) => {
    appendFileSync(CALLS, `${head()}\n`);
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
      setTimeout(resolve, CALL_MS);
    });
    return 'touched';
  },
});

/** Answers with calls, and with calls again. */
const main = scriptBy(({ messages }) => {
  const answered = messages.filter(({ role }) => role === 'tool').length;
  if (answered >= ANSWERS * CALLS_EACH) return { text: 'Done.' };
  return { calls: Array.from({ length: CALLS_EACH }, (_, i) => ({ tool: 'touch', args: { n: answered + i } })) };
});

async function open(store: Store) {
  const society = failingSociety({ keys: fileVault(path.join(folder, 'keys')) });
  const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools: [touch] });
  const world = await openWorld({ store, models: { main }, agents: [worker], parts: [society] });
  head = () => world.kernel.head.seq;
  return { world, office: world.part(society), worker };
}

type Open = Awaited<ReturnType<typeof open>>;

async function prepare({ world, office, worker }: Open): Promise<never> {
  let parent: Entity = await office.human('ann');
  const agents: string[] = [];
  for (let i = 0; i < GENERATIONS; i++) {
    const made = await parent.register({ agentType: 'custom', displayName: `Generation ${i}`, capabilities: {} });
    agents.push(made.agent_id);
    parent = office.entity(made.agent_id);
  }
  writeFileSync(AGENTS, JSON.stringify(agents));
  for (const id of agents) await office.entity(id).send(worker, 'Touch.', { session: 'first', id: `first ${id}` });
  while (linesOf(CALLS).length < GENERATIONS * CALLS_EACH) await later(QUIET_MS);
  await failEntity(world, agents[0] as string);
  return die();
}

/** Takes the rights of the topmost agent, while another session of the lowest one begins. */
async function cut({ office, worker }: Open): Promise<void> {
  const ann = await office.human('ann');
  const [top = '', , lowest = ''] = agentsOf();
  await Promise.allSettled([
    office.entity(lowest).send(worker, 'Touch.', { session: 'more', id: 'more' }),
    way === 'narrow'
      ? ann.capabilities(top, { capabilities: { tools: [] } }, { id: 'cut' })
      : ann.setStatus(top, 'deactivate', { id: 'cut' }),
  ]);
}

/** What the journal and the calls say of the time from the frame on in which the rights were taken. */
async function statement({ world }: Open): Promise<Revoked> {
  const open = new Set<string>();
  const found = { started: 0, answered: 0, ended: 0 };
  let taken = Number.POSITIVE_INFINITY;
  for await (const { seq, records } of world.kernel.frames(0)) {
    if (records.some((record) => record.kind === 'cell_command' && isTaking(record.command)))
      taken = Math.min(taken, seq);
    for (const record of records) {
      if (record.kind === 'effect' && isMeant(record)) open.add(record.effect);
      if (record.kind === 'attempt' && open.has(record.effect) && seq >= taken) found.started++;
      const status = statusOf(record, open);
      if (status === undefined || seq < taken) continue;
      if (status === 'ok') found.answered++;
      else found.ended++;
    }
    if (seq >= world.kernel.head.seq) break;
  }
  const run = linesOf(CALLS).filter((line) => Number(line) >= taken).length;
  const { unverified } = await world.verify();
  return { taken: Number.isFinite(taken), ...found, run, open: open.size, unverified };
}

/** Whether an effect is one that the taking forbids: a narrowing of tools leaves models. */
function isMeant({ name, plan }: Extract<JournalRecord, { kind: 'effect' }>): boolean {
  return name.startsWith('tool.') || (way === 'deactivate' && plan[0] === SESSION_REDUCER);
}

/** How a record ends an open effect, which is open no more; undefined when it ends none. */
function statusOf(record: JournalRecord, open: Set<string>): string | undefined {
  if (record.kind === 'settled' && open.delete(record.effect)) return record.status;
  return record.kind === 'receipt' && open.delete(record.effect) ? record.receipt.status : undefined;
}

/** Whether a command holds the topmost agent. */
function isTaking({ name, value }: KernelCommand): boolean {
  return name === 'sys/SetRights@1' && value.hold != null && value.holder === `cell:society/Entity@1/${agentsOf()[0]}`;
}

function agentsOf(): readonly string[] {
  return JSON.parse(readFileSync(AGENTS, 'utf8'));
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

async function quiet({ kernel }: AgentWorld, ms: number): Promise<void> {
  for (let seq = -1; seq !== kernel.head.seq; ) {
    seq = kernel.head.seq;
    await later(ms);
  }
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('nobody gets here');
}

const store = new DyingStore(sqlite(path.join(folder, 'world.db')), die);
const opened = await open(store);
if (part === 'prepare') await prepare(opened);
if (part === 'cut') store.dieAt(Number(n), side as 'before' | 'after');
await cut(opened);
if (part === 'cut') {
  await quiet(opened.world, QUIET_MS);
  console.log('alive');
  die();
}
await quiet(opened.world, CALL_MS + QUIET_MS);
console.log(`found ${JSON.stringify(await statement(opened))}`);
await opened.world.close();
