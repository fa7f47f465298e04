/*
 * The agent of the workloads, with a tool, and what measures them. Bundled with the sources of a commit, so only names of
 * the front door that every commit compared here has.
 */
import { createHash } from 'node:crypto';
import { defineAgent, defineTool, memory } from 'reprise';
import { openAiCompatible } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';

/** What is to be measured: the workload's only argument. */
export const task = JSON.parse(process.argv[2] ?? '{}');

const { url, file, text } = task;

const read = defineTool({
  name: 'read',
  description: 'Reads a chapter.',
  args: z.strictObject({ chapter: z.string() }),
  run: ({ chapter }) => `${chapter}: ${text}`,
});

export const clerk = defineAgent({
  name: 'clerk',
  model: 'main',
  instructions: 'Answer from the chapters.',
  tools: [read],
  limits: { steps: 8 },
});

export const models = { main: openAiCompatible({ baseUrl: url, model: 'scripted' }) };

/** The store of a workload: memory, unless it has a file. */
export function store() {
  return file === undefined ? memory({ hash: sha256 }) : sqlite(file);
}

/** One turn of a session: a text, two model calls, one tool call. */
export async function takeTurn(world, session, turn) {
  const words = `${turn}/${session} ${text.slice(turn % 97, 200)}`;
  const run = await world.session(`s${session}`, clerk).send(words, { id: `m${turn}-${session}` });
  await run.text();
}

export function sha256(bytes) {
  return new Uint8Array(createHash('sha256').update(bytes).digest());
}

/** CPU milliseconds of this process for what a function does. */
export async function cpuOf(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** CPU of a turn without any library: two requests and what the tool returns. */
export async function bareLoop(count) {
  const ask = async (messages) => {
    const body = JSON.stringify({ model: 'scripted', stream: true, messages });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body });
    const events = (await answer.text()).split('\n\n').filter((event) => event.startsWith('data: {'));
    return events.map((event) => JSON.parse(event.slice(6)))[0].choices[0].delta;
  };
  const turn = async () => {
    const user = { role: 'user', content: text.slice(0, 200) };
    const { tool_calls } = await ask([user]);
    const [call] = tool_calls;
    const content = `${JSON.parse(call.function.arguments).chapter}: ${text}`;
    await ask([
      user,
      { role: 'assistant', content: null, tool_calls },
      { role: 'tool', tool_call_id: call.id, content },
    ]);
  };
  for (let warm = 0; warm < 10; warm++) await turn();
  return (
    (await cpuOf(async () => {
      for (let i = 0; i < count; i++) await turn();
    })) / count
  );
}
