/*
 * The workload on DBOS Transact: a session is a workflow, an effect a step. PostgreSQL as it is installed: fsync and
 * synchronous_commit on.
 */
import { DBOS } from '@dbos-inc/dbos-sdk';
import { serve } from './serve.mjs';

const work = DBOS.registerWorkflow(
  async (effects) => {
    let sum = 0;
    for (let n = 0; n < effects; n++) sum += (await DBOS.runStep(async () => ({ n }), { name: 'note' })).n;
    return { sum };
  },
  { name: 'work' },
);
DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: process.argv[2],
  logLevel: 'error',
  runAdminServer: false,
  applicationVersion: '1',
});
await DBOS.launch();

await serve(async ({ sessions, effects }) => {
  const began = performance.now();
  const handles = await Promise.all(Array.from({ length: sessions }, () => DBOS.startWorkflow(work)(effects)));
  const results = await Promise.all(handles.map((handle) => handle.getResult()));
  const ms = performance.now() - began;
  for (const { sum } of results) if (sum !== (effects * (effects - 1)) / 2) throw new Error(`the sum is ${sum}`);
  return { ms, effects: sessions * effects };
});
