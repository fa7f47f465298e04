/** Jobs in real worlds: their slot, their session, and what their owner hears. */
import { readLlmOutput, readText } from '@reprise/agent';
import type { Ref, Value } from '@reprise/contracts';
import { memory, putValue, readFrame, type Store } from '@reprise/kernel';
import { jobAddress } from '@reprise/org';
import { describe, expect, it } from 'vitest';
import { inOffice } from './support/office.js';

const FREE = { running: 0, waiting: 0 };

/** What came too late, as facts. */
async function lateIn(store: Store): Promise<string[]> {
  const late: string[] = [];
  const read = await store.openReadonly();
  for await (const { bytes, seq } of read.journal.read(0)) {
    for (const record of readFrame(bytes, seq).all)
      if (record.kind === 'fact' && record.name === 'work/Late@1') late.push((record.value as { what: string }).what);
  }
  await read.close();
  return late;
}

describe('given a job of a cell', () => {
  it('a job has a slot, is prepared, runs in a session of its own, and gives its output [WORK-1, WORK-3]', () =>
    inOffice(async ({ hire, settle, heard, news, pool, world }) => {
      await hire(1, 'count');
      await settle();
      expect(await heard(1)).toEqual(['queued', 'preparing', 'running', 'ok']);
      const last = (await news()).at(-1);
      expect(last).toMatchObject({ session: 'd/j1', model: 'main', attempt: 1 });
      expect(last?.tally).toEqual({ steps: 1, tokens_in: 10, tokens_out: 5, micro_money: 0 });
      expect((await readLlmOutput(world.kernel.content, last?.output_ref as Ref)).text).toBe('count: done');
      expect(await pool()).toEqual(FREE);
      expect(jobAddress('d', 1)).toEqual(['work/Job@1', 'd/j1']);
    }));

  it('a job without a pool begins at once and frees nothing', () =>
    inOffice(async ({ hire, settle, heard }) => {
      await hire(1, 'count', { pool: null });
      await settle();
      expect(await heard(1)).toEqual(['preparing', 'running', 'ok']);
    }));

  it('jobs beyond the slots wait by priority and then by age', () =>
    inOffice(async ({ hire, settle, news, pool, tell }) => {
      await hire(1, 'ask busy', {});
      await hire(2, 'hang');
      await hire(3, 'count', { priority: 10 });
      await hire(4, 'count', { priority: 50 });
      await settle();
      expect(await pool()).toEqual({ running: 1, waiting: 0 });
      await tell('test/Stop@1', { n: 2 });
      await settle();
      const begun = (await news()).filter(({ status }) => status === 'preparing').map(({ n }) => n);
      expect(begun).toEqual([1, 4, 3, 2]);
      expect(await pool()).toEqual(FREE);
    }));

  it('the output of an earlier job is given to a later one as a link', () =>
    inOffice(async ({ hire, settle, news, asked }) => {
      await hire(1, 'count');
      await settle();
      const output_ref = (await news()).at(-1)?.output_ref as Ref;
      await hire(2, 'sum', { inputs: [{ from: 1, output_ref, view: 'full' }] });
      await settle();
      expect(asked.at(-1)?.messages[0]?.text).toContain('count: done');
    }));

  it('what a run returns by a call of the owner is answered within the frame, through the job [OWN-7]', () =>
    inOffice(async ({ hire, settle, heard, asked }) => {
      await hire(1, 'ask weather');
      await settle();
      expect(await heard(1)).toEqual(['queued', 'preparing', 'running', 'ok']);
      expect(asked.at(-1)?.last).toContain('about weather');
    }));

  it('a call that the owner refuses comes back to the model as an error', () =>
    inOffice(async ({ hire, settle, heard, asked }) => {
      await hire(1, 'ask refuse');
      await settle();
      expect(asked.at(-1)?.last).toContain('no_owner');
      expect((await heard(1)).at(-1)).toBe('ok');
    }));

  it.each([
    ['fail', 'failed provider_error_terminal/refused'],
    ['loop', 'failed limit/max_steps'],
    ['unprepared', 'failed adapter_error/skill_not_found'],
    ['broken', 'failed adapter_error/threw'],
  ])('a job whose task is to %s ends as failed, with its code, and frees its slot', (task, outcome) =>
    inOffice(async ({ hire, settle, heard, pool }) => {
      await hire(1, task);
      await settle();
      expect((await heard(1)).at(-1)).toBe(outcome);
      expect(await pool()).toEqual(FREE);
    }),
  );

  it('a job whose pool does not exist fails at once', () =>
    inOffice(async ({ hire, settle, heard }) => {
      await hire(1, 'count', { pool: 'nowhere' });
      await settle();
      expect(await heard(1)).toEqual(['queued', 'failed pool/cell_absent']);
    }));

  it('a request whose content was erased fails the job and not the world', () =>
    inOffice(async ({ hire, settle, heard, tell, world }) => {
      const request_ref = await putValue(world.kernel.content, { what: 'secret' });
      await hire(1, 'hang');
      await hire(2, 'count', { request_ref });
      await settle();
      await world.kernel.erase({ refs: [request_ref] });
      await tell('test/Stop@1', { n: 1 });
      await settle();
      expect((await heard(2)).at(-1)).toBe('failed adapter_error/blob_erased');
    }));

  it('the same event again changes nothing, and another one for the same job is refused', () =>
    inOffice(async ({ hire, settle, heard, world }) => {
      await hire(1, 'count');
      await hire(1, 'count');
      await settle();
      expect(await heard(1)).toEqual(['queued', 'preparing', 'running', 'ok']);
      await hire(1, 'sum');
      await settle();
      expect(await heard(1)).toHaveLength(4);
      const other = { name: 'work/Begin@1', value: { n: 1 } as unknown as Value };
      await expect(world.kernel.request(jobAddress('d', 1), other as never)).rejects.toThrow();
    }));

  it('two owners of one key in different reducers cannot share a job', () =>
    inOffice(async ({ hire, settle, world }) => {
      await hire(1, 'count');
      await settle();
      const job = { ...((await world.kernel.state(jobAddress('d', 1))) as object) } as { owner: unknown };
      expect(job.owner).toEqual(['test/Desk@1', 'd']);
    }));
});

describe('given a job that waits for a person or another agent', () => {
  it('a job that waits for an approval has no slot, and continues without one [WORK-8]', () =>
    inOffice(async ({ hire, settle, heard, pool, world }) => {
      await hire(1, 'approved');
      await hire(2, 'hang');
      await settle();
      expect(await heard(1)).toEqual(['queued', 'preparing', 'running', 'waiting']);
      expect(await heard(2)).toEqual(['queued', 'preparing', 'running']);
      expect(await pool()).toEqual({ running: 1, waiting: 0 });
      for (const item of await world.pending()) await world.decide(item, { approve: true });
      await settle();
      expect(await heard(1)).toEqual(['queued', 'preparing', 'running', 'waiting', 'running', 'ok']);
      expect(await pool()).toEqual({ running: 1, waiting: 0 });
    }));

  it('a job whose owner decides later has no slot meanwhile, and its model reads the decision [WORK-8, OWN-4]', () =>
    inOffice(async ({ hire, settle, heard, pool, tell, asked }) => {
      await hire(1, 'ask wait');
      await settle();
      expect((await heard(1)).at(-1)).toBe('waiting');
      expect(await pool()).toEqual(FREE);
      await tell('test/Decide@1', { says: 'go ahead' });
      await settle();
      expect((await heard(1)).slice(-2)).toEqual(['running', 'ok']);
      expect(asked.at(-1)?.last).toContain('go ahead');
    }));

  it('the time limit of a job counts while it waits [WORK-7]', () =>
    inOffice(async ({ hire, settle, heard, clock, pool, world }) => {
      await hire(1, 'approved');
      await settle();
      await clock.advance(60_000);
      expect((await heard(1)).slice(-2)).toEqual(['waiting', 'timeout timeout']);
      expect(await pool()).toEqual(FREE);
      expect(await world.pending()).toEqual([]);
    }));
});

describe('given a job that is stopped', () => {
  it.each([
    ['in line', 'count', true, ['queued', 'cancelled not_needed']],
    ['while it is prepared', 'slow', false, ['queued', 'preparing', 'cancelled not_needed']],
    ['while a tool hangs', 'hang', false, ['queued', 'preparing', 'running', 'cancelled not_needed']],
    ['while its model answers', 'think', false, ['queued', 'preparing', 'running', 'cancelled not_needed']],
    [
      'while it waits for a person',
      'approved',
      false,
      ['queued', 'preparing', 'running', 'waiting', 'cancelled not_needed'],
    ],
    [
      'while its owner decides',
      'ask wait',
      false,
      ['queued', 'preparing', 'running', 'waiting', 'cancelled not_needed'],
    ],
  ])('a job that is stopped %s ends once, and its slot is free [WORK-1, WORK-2]', (_when, task, isBehind, statuses) =>
    inOffice(async (office) => {
      const { hire, settle, heard, pool, tell } = office;
      if (isBehind) await hire(9, 'hang');
      await hire(1, task);
      await settle();
      await tell('test/Stop@1', { n: 1 });
      await tell('test/Stop@1', { n: 1 });
      await office.clock.advance(2_000);
      expect(await heard(1)).toEqual(statuses);
      expect(await pool()).toEqual(isBehind ? { running: 1, waiting: 0 } : FREE);
      await office.clock.advance(700_000);
      expect(await heard(1)).toEqual(statuses);
    }),
  );

  it('a stop and an answer that come after the end are recorded as late and change nothing [WORK-4]', async () => {
    const store = memory();
    await inOffice(
      async (office) => {
        const { hire, settle, tell, heard, job } = office;
        await hire(1, 'ask wait');
        await settle();
        const [place] = ((await office.world.kernel.state(['test/Desk@1', 'd'])) as { parked: Value[] }).parked;
        await tell('test/Stop@1', { n: 1 });
        await office.clock.advance(2_000);
        const before = await job(1);
        await tell('test/Stop@1', { n: 1 });
        await tell('test/AnswerAgain@1', { place: place as Value });
        await settle();
        expect(await job(1)).toEqual(before);
        expect((await heard(1)).at(-1)).toBe('cancelled not_needed');
      },
      { store },
    );
    expect(await lateIn(store)).toEqual(['work/Stop@1', 'aos.agent/OwnerAnswer@1']);
  });

  it('a session cancelled by a person ends its job as cancelled', () =>
    inOffice(async ({ hire, settle, heard, world, clock, pool }) => {
      await hire(1, 'hang');
      await settle();
      const cancel = { command_id: 'c', command: { type: 'Cancel', scope: 'all' } };
      await world.kernel.request(['aos.agent/SessionReducer@1', 'd/j1'], {
        name: 'aos.agent/HostCommand@1',
        value: cancel,
      });
      await clock.advance(2_000);
      expect((await heard(1)).at(-1)).toBe('cancelled session_cancelled');
      expect(await pool()).toEqual(FREE);
    }));

  it('work for an owner that has ended is stopped', () =>
    inOffice(async ({ hire, settle, tell, job, pool, clock }) => {
      await hire(1, 'hang');
      await hire(2, 'hang');
      await settle();
      await tell('test/Quit@1', {});
      await clock.advance(62_000);
      expect(await job(1)).toMatchObject({ status: 'timeout' });
      expect(await job(2)).toMatchObject({ status: 'cancelled', code: 'owner_absent' });
      expect(await pool()).toEqual(FREE);
    }));
});

describe('given the time limit of a job', () => {
  it('a hanging tool is cancelled at the limit, and the slot is free once [WORK-2, WORK-7]', () =>
    inOffice(async ({ hire, settle, heard, clock, pool }) => {
      await hire(1, 'hang');
      await hire(2, 'count');
      await settle();
      await clock.advance(59_999);
      expect((await heard(1)).at(-1)).toBe('running');
      await clock.advance(2_001);
      expect((await heard(1)).at(-1)).toBe('timeout timeout');
      expect((await heard(2)).at(-1)).toBe('ok');
      expect(await pool()).toEqual(FREE);
    }));

  it('the time in line does not count', () =>
    inOffice(async ({ hire, settle, heard, clock }) => {
      await hire(1, 'hang', { timeout_ms: 100_000 });
      await hire(2, 'hang', { timeout_ms: 1_000 });
      await settle();
      await clock.advance(50_000);
      expect(await heard(2)).toEqual(['queued']);
      await clock.advance(53_000);
      expect((await heard(2)).at(-1)).toBe('timeout timeout');
    }));

  it('a preparation that hangs is cancelled at the limit', () =>
    inOffice(async ({ hire, settle, heard, clock, pool }) => {
      await hire(1, 'slow');
      await settle();
      await clock.advance(60_000);
      expect(await heard(1)).toEqual(['queued', 'preparing', 'timeout timeout']);
      expect(await pool()).toEqual(FREE);
    }));

  it('what a preparation read is named by its digest, and what it made is in the journal [WORK-5, WORK-9]', () =>
    inOffice(async ({ hire, settle, news, prepared, world }) => {
      await hire(1, 'count');
      await settle();
      expect(prepared).toEqual(['count']);
      const { digest } = (await news()).at(-1) ?? {};
      expect(digest).toMatch(/caaaa$/);
      const [first] = await (async () => {
        const items: Value[] = [];
        for await (const item of world.kernel.log(['aos.agent/SessionReducer@1', 'd/j1'], 'transcript'))
          items.push(item);
        return items as unknown as { parts: { text_ref: Ref }[] }[];
      })();
      expect(await readText(world.kernel.content, first?.parts[0]?.text_ref as Ref)).toBe('Job 1: count');
    }));
});
