/** The fleet as a program: one of its processes is killed, the other one is replaced, and no order is lost or charged twice. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { describePostgres } from '../../../packages/store-postgres/test/describe-postgres.js';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
/** Its processes are started with the same arguments. */
const FROM_SOURCES = ['--conditions=@reprise/source', '--import', import.meta.resolve('tsx')];

describePostgres('the fleet', (own) => {
  it('given a process that is killed and one that is told to end under load, no order is lost, none is charged twice, and every journal verifies', async () => {
    const child = spawn(process.execPath, [...FROM_SOURCES, MAIN], { env: { ...process.env, DATABASE_URL: own.url } });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (said += String(part)));
    const code = await new Promise((ended) => child.once('exit', ended));
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('lost 0, twice 0, unpaid 0') });
    for (const part of ['is killed', 'told to end', 'the longest wait was']) expect(said).toContain(part);
    expect(said).toMatch(/^[1-9]\d* orders were accepted/m);
  });
});
