/** Jobs whose session has fewer rights than the job, and jobs with several attempts. */
import type { Address } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { inOffice, type Office, worker } from './support/office.js';

const hasNoTool = { exercise: { may: { tool: ['none'], llm: ['*'] } } };

describe('given a job with a grant', () => {
  it('the session begins under these rights, and a tool outside them is denied', () =>
    inOffice(async ({ hire, settle, heard, asked, pool }) => {
      await hire(1, 'hang', { grant: hasNoTool });
      await settle();
      expect(await heard(1)).toEqual(['queued', 'preparing', 'running', 'ok']);
      expect(asked.at(-1)?.messages.at(-1)?.isError).toBe(true);
      expect(await pool()).toEqual({ running: 0, waiting: 0 });
    }));

  it('a grant that the owner may not give fails the job, and its session never begins', () =>
    inOffice(async ({ hire, settle, heard, asked, world, pool }) => {
      const holder = 'cell:test/Desk@1/d' as const;
      await world.kernel.command('sys/SetRights@1', { holder, grant: { may: { tool: ['ask_desk'] } } });
      await hire(1, 'hang', { grant: { exercise: { may: { tool: ['hang'] } } } });
      await settle();
      expect((await heard(1)).at(-1)).toMatch(/^failed rights\//);
      expect(asked).toEqual([]);
      expect(await pool()).toEqual({ running: 0, waiting: 0 });
    }));
});

describe('given a job whose session is lost', () => {
  /** Closes the session of a job, so that it takes no input. */
  const occupied = async ({ world }: Office, key: string) => {
    const session: Address = ['aos.agent/SessionReducer@1', key];
    const { adopted, agents } = await world.adopted(worker);
    const value = { ...adopted, adopt: 'pin', agents } as never;
    await world.kernel.request(session, { name: 'aos.agent/AgentAdopted@1', value });
    const close = { command_id: 'c', command: { type: 'Close' } } as never;
    await world.kernel.request(session, { name: 'aos.agent/HostCommand@1', value: close });
  };

  it('a job without another attempt fails, and says why', () =>
    inOffice(async (office) => {
      const { hire, settle, heard, pool } = office;
      await occupied(office, 'd/j1');
      await hire(1, 'count');
      await settle();
      expect((await heard(1)).at(-1)).toMatch(/^failed (session\/|session_)/);
      expect(await pool()).toEqual({ running: 0, waiting: 0 });
    }));

  it('another attempt is prepared again and has a session of its own [WORK-1, WORK-9]', () =>
    inOffice(async (office) => {
      const { hire, settle, heard, news, prepared } = office;
      await occupied(office, 'd/j1');
      await hire(1, 'count', { attempts: 2 });
      await settle();
      expect(await heard(1)).toEqual(['queued', 'preparing', 'running', 'preparing', 'running', 'ok']);
      expect((await news()).at(-1)).toMatchObject({ session: 'd/j1~2', attempt: 2 });
      expect(prepared).toEqual(['count', 'count']);
    }));
});
