/*
 * The workload on LangGraph with its SQLite checkpointer: a session is a thread. An effect is a task of an entrypoint
 * (`tasks`), whose result is stored as a write of the thread's checkpoint, or a node of a graph that loops (`graph`),
 * which stores a checkpoint at each step. The database syncs every commit (`full`), or as the package leaves it
 * (`normal`): better-sqlite3 then syncs a write-ahead log only at its checkpoints, and a loss of power takes commits.
 */
import { Annotation, END, entrypoint, START, StateGraph, task } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import Database from 'better-sqlite3';
import { serve } from './serve.mjs';

const [file, form, sync] = process.argv.slice(2);
const database = new Database(file);
const checkpointer = new SqliteSaver(database);
checkpointer.setup();
if (sync === 'full') database.pragma('synchronous = FULL');

const note = task('note', async (n) => ({ n }));
const tasks = entrypoint({ name: 'work', checkpointer }, async (effects) => {
  let sum = 0;
  for (let n = 0; n < effects; n++) sum += (await note(n)).n;
  return { sum };
});
const State = Annotation.Root({ n: Annotation(), sum: Annotation(), effects: Annotation() });
const graph = new StateGraph(State)
  .addNode('note', async ({ n, sum }) => ({ n: n + 1, sum: sum + n }))
  .addEdge(START, 'note')
  .addConditionalEdges('note', ({ n, effects }) => (n < effects ? 'note' : END))
  .compile({ checkpointer });
let threads = 0;

await serve(async ({ sessions, effects }) => {
  const began = performance.now();
  const results = await Promise.all(
    Array.from({ length: sessions }, () => {
      const configurable = { thread_id: `t${threads++}` };
      const options = { configurable, durability: 'sync', recursionLimit: effects + 10 };
      return form === 'graph' ? graph.invoke({ n: 0, sum: 0, effects }, options) : tasks.invoke(effects, options);
    }),
  );
  const ms = performance.now() - began;
  for (const { sum } of results) if (sum !== (effects * (effects - 1)) / 2) throw new Error(`the sum is ${sum}`);
  return { ms, effects: sessions * effects };
});
