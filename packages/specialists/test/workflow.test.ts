/** The workflow of a team, played once: what each role is told and may call, and what is in the journal at the end. */
import type { JournalRecord } from '@reprise/contracts';
import { memory, openWorld } from 'reprise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COORDINATOR } from './support/roles.js';
import { BODY, BRIEF, playWorkflow, RESEARCH, requestsOf, workflowTeam } from './support/workflow.js';

type Played = Awaited<ReturnType<typeof playWorkflow>>;

describe('given a project whose workflow was played to its end', () => {
  let played: Played;
  beforeAll(async () => {
    played = await playWorkflow();
  });
  afterAll(() => played.world.close());

  const told = (role: string) => requestsOf(played.asked, role).map(({ unified }) => JSON.stringify(unified));

  it('all tasks are completed, all results processed, and the project is done [SPEC-23, SPEC-28]', async () => {
    expect(played.state.status).toBe('done');
    expect((await played.project.tasks()).map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    expect((await played.project.results()).map(({ status, processed }) => [status, processed])).toEqual(
      Array.from({ length: 5 }, () => ['ok', true]),
    );
  });

  it('the coordinator has its own tools and those of the memory, and none that writes a plan [SPEC-2, SPEC-3]', () => {
    const own = ['narrative_append', 'result_read', 'results_list', 'spawn_agent', 'task_cancel', 'task_graph'];
    const others = ['memory_demote', 'memory_query', 'memory_reinforce', 'memory_store', 'memory_update', 'memory_why'];
    const expected = [...own, 'task_retry', 'task_skip', ...others].toSorted();
    for (const { tools } of requestsOf(played.asked, COORDINATOR)) expect(tools.toSorted()).toEqual(expected);
  });

  it('a specialist has the tools that its skill lists, and no other [SPEC-1, SPEC-11]', () => {
    const tools = (role: string) => requestsOf(played.asked, role).map((request) => request.tools);
    expect(tools('research')).toEqual([['Grep'], ['Grep']]);
    expect(tools('planner')).toEqual([['plan_write'], ['plan_write']]);
    expect([tools('coder'), tools('tester'), tools('writer')]).toEqual([[[]], [[]], [[]]]);
  });

  it('the coordinator is told name and line of each skill, and never a body [SPEC-4, SPEC-5]', () => {
    const requests = told(COORDINATOR);
    expect(requests.length).toBeGreaterThan(5);
    for (const request of requests) {
      for (const name of ['research', 'planner', 'coder', 'tester', 'writer']) {
        expect(request).toContain(`- ${name} — Does the work of a ${name}`);
        expect(request).not.toContain(BODY(name));
      }
    }
  });

  it('no body of a skill stands in a frame [SPEC-5]', async () => {
    for await (const { seq, records } of played.world.kernel.frames(0)) {
      expect(JSON.stringify(records)).not.toContain('secret instructions');
      if (seq === played.world.kernel.head.seq) break;
    }
  });

  it('a result enters the coordinator as a summary, or in pieces that it reads [SPEC-7]', () => {
    const requests = told(COORDINATOR).join('\n');
    expect(requests).toContain('Login is in src/login.ts.');
    expect(requests).not.toContain(RESEARCH.slice(0, 200));
    expect(requests).toContain('The session cookie is set in line');
  });

  it('the coordinator is shown tasks without their briefs [SPEC-6]', () => {
    for (const request of told(COORDINATOR))
      for (const name of ['code', 'test', 'docs']) expect(request).not.toContain(BRIEF(name));
  });

  it('a specialist sees its own brief and what it depends on, and no other task [SPEC-8]', () => {
    const [writer = ''] = told('writer');
    expect(writer).toContain(BRIEF('docs'));
    expect(writer).toContain('It has 80 lines.');
    for (const name of ['code', 'test']) expect(writer).not.toContain(BRIEF(name));
    const [tester = ''] = told('tester');
    expect(tester).toContain('The adapter is written.');
    expect(tester).not.toContain('It has 80 lines.');
  });

  it('a specialist is told nothing of the coordinator’s prompt [SPEC-17]', () => {
    for (const { role, request } of played.asked) {
      if (role !== COORDINATOR) expect(JSON.stringify(request.unified)).not.toContain('You coordinate');
    }
  });

  it('a pointer is resolved to the whole result, which the coordinator never saw [SPEC-9]', () => {
    const [planner = ''] = told('planner');
    expect(planner).toContain(RESEARCH.slice(30, 900));
  });

  it('a result keeps its task, skill, digest, model, inputs and cost [SPEC-20]', async () => {
    const [research, plan, code, , docs] = await played.project.results();
    expect(research).toMatchObject({ skill: 'research', model: 'main', inputs: [] });
    expect(research?.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(plan?.inputs).toEqual([1]);
    expect(code).toMatchObject({ task: 1, inputs: [] });
    expect(docs).toMatchObject({ task: 3, inputs: [3] });
    expect(research?.cost?.steps).toBe(2);
  });

  it('a result is in the journal before the coordinator is woken for it [SPEC-21]', async () => {
    const facts = await factsOf(played);
    for (const n of [1, 2, 3, 4, 5]) {
      const stored = facts.findIndex(({ name, value }) => name === 'specialists/ResultStored@1' && value.result === n);
      const woken = facts.findIndex(
        ({ name, value }) => name === 'specialists/CoordinatorWoken@1' && (value.results as number[]).includes(n),
      );
      expect(stored).toBeGreaterThanOrEqual(0);
      expect(woken).toBeGreaterThan(stored);
    }
  });

  it('the coordinator runs for the message and for each wake, and for nothing else [SPEC-25]', async () => {
    const woken = (await factsOf(played)).filter(({ name }) => name === 'specialists/CoordinatorWoken@1').length;
    const runs: string[] = [];
    for await (const run of await coordinatorRuns(played)) runs.push(run);
    expect(runs).toHaveLength(1 + woken);
  });

  it('finished results are listed by whether they are processed [SPEC-22]', async () => {
    expect(await played.project.results({ processed: false })).toEqual([]);
    expect(await played.project.results({ processed: true })).toHaveLength(5);
    expect(told(COORDINATOR).at(-1)).toContain('Result 5:');
  });

  it('each entry of the narrative names the one before it [SPEC-34]', async () => {
    const entries: unknown[] = [];
    for await (const { n, previous, text } of played.project.narrative()) entries.push([n, previous, text]);
    expect(entries).toEqual([
      [1, null, 'The adapter was written first.'],
      [2, 1, 'All tasks are done.'],
    ]);
  });

  it('from a memory, its result, its task, the plan and the user’s words are reached [SPEC-35, SPEC-37]', async () => {
    const [item] = await played.project.memories.search('adapter');
    const why = await played.project.memories.why(item?.id ?? 0);
    expect(why?.chain.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      'memory 1',
      'result 3',
      'message 1',
      'task 1',
      'result 2',
      'result 1',
    ]);
    expect(why?.words).toBe('Move login to OAuth');
    expect(why?.dangling).toEqual([]);
    expect((await played.project.results())[2]?.memory_ids).toEqual([1]);
  });

  it('people may write to the memory, and an item that names no source or an unknown one is refused [SPEC-35, SPEC-36]', async () => {
    const { memories } = played.project;
    const kept = await memories.store({ text: 'The page is reviewed.', result: 5 }, { id: 'memory-1' });
    expect(await memories.store({ text: 'The page is reviewed.', result: 5 }, { id: 'memory-1' })).toMatchObject({
      id: kept.id,
    });
    await expect(memories.store({ text: 'From nowhere.' })).rejects.toMatchObject({ code: 'request_rejected' });
    await expect(memories.store({ text: 'From result 99.', result: 99 })).rejects.toMatchObject({
      details: { reason: 'unknown_result' },
    });
    const said = await memories.store({ text: 'Keep it short.', said: 'Please keep it short.' });
    expect((await memories.why(said.id))?.words).toBe('Please keep it short.');
  });

  it('the world is verified without skills, tools or models [SPEC-16]', async () => {
    expect((await played.world.verify()).unverified).toBe(0);
  });

  it('a dry fork makes tasks, spawns and memories again, and calls no model [SPEC-39]', async () => {
    const { world, asked, model } = played;
    const at = await frameOf(played, 'specialists/PlanWritten@1');
    const before = asked.length;
    const into = memory();
    await world.fork({ into, at: at - 1 });
    const team = workflowTeam();
    await using again = await openWorld({ store: into, models: { main: model }, parts: [team] });
    await again.pump();
    const project = again.part(team).project('auth');
    expect((await project.idle({ within: '30s' })).status).toBe('done');
    expect((await project.tasks()).map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    expect((await project.results()).map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'ok'));
    expect(await project.memories.search('adapter')).toHaveLength(1);
    expect(asked.length).toBe(before);
  });
});

type Fact = { readonly name: string; readonly value: Readonly<Record<string, unknown>> };

async function factsOf({ world }: Played): Promise<Fact[]> {
  const found: Fact[] = [];
  for await (const { seq, records } of world.kernel.frames(0)) {
    for (const record of records) if (isFact(record)) found.push(record as unknown as Fact);
    if (seq === world.kernel.head.seq) break;
  }
  return found;
}

function isFact(record: JournalRecord): boolean {
  return record.kind === 'fact' && record.from?.[0] === 'specialists/Project@1';
}

async function frameOf({ world }: Played, name: string): Promise<number> {
  for await (const { seq, records } of world.kernel.frames(0)) {
    if (records.some((record) => record.kind === 'fact' && record.name === name)) return seq;
  }
  return -1;
}

async function coordinatorRuns({ world }: Played): Promise<string[]> {
  const found: string[] = [];
  for await (const { seq, records } of world.kernel.frames(0)) {
    for (const record of records) {
      if (record.kind !== 'fact' || record.name !== 'aos.agent/TurnStarted@1') continue;
      if (record.from?.[1] === 'auth/coordinator') found.push(JSON.stringify(record.value));
    }
    if (seq === world.kernel.head.seq) break;
  }
  return found;
}
