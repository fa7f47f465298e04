/** A rolling deployment of an agent with another definition, while a call of a tool waits for a person. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle } from '../../../../conformance/bundle.js';
import { Member, openBank, type ToMember } from '../../../fleet/test/processes/members.js';
import { describePostgres } from '../../../store-postgres/test/describe-postgres.js';

const WORLDS = ['amber', 'basalt', 'chalk'];
/** A world in which a person is asked before the deployment, and answers after it. */
const WAITING = 'dolomite';

/** What may be told to a caller: each says to make the call again. */
const MAY_BE: ReadonlySet<string> = new Set(['call_unanswered', 'host_closed', 'gone']);
const PATIENCE_MS = 60_000;

async function until(condition: () => boolean): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !condition(); await pause(20))
    if (performance.now() > end) throw new Error('nothing happens any more');
}

describePostgres('a rolling deployment of another definition of an agent', (own) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-clerks-'));
  const program = path.join(folder, 'clerk.mjs');
  beforeAll(() => bundle(fileURLToPath(new URL('clerk.ts', import.meta.url)), program));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('sessions answer each message once, tools run once, and what waits for a person is done once after the approval', async () => {
    const bank = await openBank();
    const name = own.fresh();
    const all: Member[] = [];
    const wrong: string[] = [];
    const start = async (release: string): Promise<Member> => {
      const secret = 'the secret of the fleet of clerks';
      const member = new Member({ program, database: own.url, name, secret, bank: bank.url, ttl: 3_000, release });
      all.push(member);
      await member.ready;
      return member;
    };
    let serving: readonly Member[] = [];
    let turn = 0;
    const ask = async (world: string, what: ToMember['what'], id: string): Promise<string> => {
      for (const end = performance.now() + PATIENCE_MS; ; await pause(20)) {
        const said = await (serving[turn++ % serving.length] as Member).call(world, what, id, 8_000);
        if (said !== 'gone' && said.ok) return String(said.said);
        const code = said === 'gone' ? said : String(said.said);
        if (!MAY_BE.has(code)) wrong.push(code);
        if (performance.now() > end) throw new Error(`${what} of ${world}: ${code}`);
      }
    };
    try {
      const olds = [await start('first'), await start('first')];
      serving = olds;
      expect(await ask(WAITING, 'person', 'waits')).toBe('left');
      const answers: string[] = [];
      let isOpen = true;
      const customers = WORLDS.map(async (world) => {
        for (let n = 0; isOpen; n++) answers.push(await ask(world, 'order', `${world}-${n}`));
      });
      await until(() => answers.length > 12);
      for (const old of olds) {
        const next = await start('second');
        serving = [...serving, next];
        const before = answers.length;
        await until(() => answers.length > before + 8);
        serving = serving.filter((one) => one !== old);
        old.child.kill('SIGTERM');
        await old.ended;
      }
      const deployed = answers.length;
      await until(() => answers.length > deployed + 8);
      isOpen = false;
      await Promise.all(customers);
      expect(await ask(WAITING, 'answer', 'yes')).toBe('1');
      await until(() => bank.keysOf.has('waits'));
      expect(await ask(WAITING, 'order', 'afterwards')).toBe('second');

      expect(wrong).toEqual([]);
      expect(answers.slice(0, 12)).toEqual(Array(12).fill('first'));
      expect(answers.slice(-6)).toEqual(Array(6).fill('second')); // sessions of before have the new definition
      expect(bank.keysOf.size).toBe(answers.length + 2);
      expect([...bank.keysOf].filter(([, keys]) => keys.size !== 1)).toEqual([]);
      for (const world of [...WORLDS, WAITING]) expect(await ask(world, 'look', `verify-${world}`)).toBe('0');
    } finally {
      for (const { child } of all) child.kill('SIGKILL');
      bank.close();
    }
  });
});
