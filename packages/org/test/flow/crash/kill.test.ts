/** `kill -9` against a queue at work. Random commits, at full size and for all flow reducers: `scripts/long/flow.ts`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JournalRecord } from '@reprise/contracts';
import { readFrame, verifyStore } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { program } from '../../../../../scripts/lib/program.js';
import { Dice } from '../support/dice.js';
import { app } from '../support/office.js';
import { holdLine } from '../support/trials.js';

const SEED = 20_26;
const ITEMS = 120;
const KILLS = 4;

const CHILD = await program(new URL('kill-child.ts', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'reprise-flow-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts the child; kills it so long after it began its work. @returns whether it got done first */
async function run(file: string, killAfterMs: number | undefined): Promise<boolean> {
  const child = spawn(process.execPath, [CHILD, file, String(ITEMS)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let done = false;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'done') done = true;
    else if (killAfterMs !== undefined) void sleep(killAfterMs).then(() => child.kill('SIGKILL'));
  }
  const [code, signal] = await exited;
  if (!done && signal !== 'SIGKILL') throw new Error(`the child ended with ${code ?? signal}`);
  return done;
}

describe('given a queue whose process is killed', () => {
  it(`every item ran once and in its turn after ${KILLS} kills (seed ${SEED}) [FLOW-1, FLOW-8]`, async () => {
    const file = path.join(folder, 'queue.db');
    const dice = new Dice(SEED);
    let kills = 0;
    for (let n = 0; n < KILLS; n++) if (!(await run(file, 5 + dice.roll(120)))) kills++;
    expect(await run(file, undefined)).toBe(true);
    expect(kills).toBeGreaterThan(0);

    const store = await sqlite(file).openReadonly();
    const records: JournalRecord[] = [];
    for await (const { bytes, seq } of store.journal.read(0)) records.push(...readFrame(bytes, seq).all);
    holdLine(records, 3, ITEMS);
    await verifyStore(store, { app });
    await store.close();
  });
});
