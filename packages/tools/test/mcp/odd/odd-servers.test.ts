/**
 * Servers that are odd in every way at once, made by a seed, each judged by its raw list and called at every tool. Long
 * form: `ODD_SERVERS=200`, half of them on standard input; `ODD_SERVERS_SEED` gives other ones, and `ODD_SERVERS_TABLE=1` the
 * figures.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { memory } from '@reprise/kernel';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { deedsFor as deeds } from './odd-server.mjs';
import { type OddServer, oddServer } from './odd-servers.js';
import { Linked, linkedTo } from './stage.js';

const runs = Number(process.env.ODD_SERVERS ?? 6);
const SEED = Number(process.env.ODD_SERVERS_SEED ?? 383);
const servers = fc.sample(oddServer, { seed: SEED, numRuns: runs });
const LIMIT_MS = 60_000 + runs * 5_000;

/** How long a call may take, on a busy machine. Its own timeout would be ten minutes. */
const AT_ONCE_MS = 20_000;

type Deed = { readonly say: string; readonly end?: string } | { readonly do: 'exit' | 'wait'; readonly ms?: number };
const deedsFor = deeds as (server: OddServer, message: object) => readonly Deed[];

async function onStdio(server: OddServer): Promise<Linked> {
  const { content } = await memory().open();
  const program = path.join(import.meta.dirname, 'odd-server.mjs');
  const env = { ODD_SERVER: JSON.stringify(server) };
  return new Linked({ command: [process.execPath, program], env }, content);
}

async function overHttp(server: OddServer): Promise<Linked> {
  const resumed = new Map<string, readonly Deed[]>();
  return linkedTo(
    createServer((request, response) => {
      void answer(request, response).catch(() => response.destroy());
    }),
  );

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const from = String(request.headers['last-event-id']);
    const later = resumed.get(from);
    if (request.method === 'GET' && later !== undefined) return events(response, later);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const body = Buffer.concat(await request.toArray()).toString('utf8');
    const message = JSON.parse(body) as { id?: number; method: string; params?: { name?: string } };
    if (message.id === undefined) return void response.writeHead(202).end();
    const name = message.params?.name ?? '';
    const isCall = message.method === 'tools/call' && Object.hasOwn(server.calls, name);
    const how = isCall ? server.calls[name]?.how : 'events';
    const found = deedsFor(server, message);
    if (how === 'events') return events(response, found);
    if (how === 'resumed') {
      resumed.set(`event-${message.id}`, found);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void response.end(`id: event-${message.id}\nretry: 10\ndata:\n\n`);
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    for (const deed of found) await carryOut(response, deed, (text) => text);
    response.end();
  }

  async function events(response: ServerResponse, found: readonly Deed[]): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const deed of found) await carryOut(response, deed, (text) => `data: ${text}\n\n`);
    response.end();
  }
}

async function carryOut(response: ServerResponse, deed: Deed, form: (text: string) => string): Promise<void> {
  if ('say' in deed) response.write(form(deed.say));
  else if (deed.do === 'wait') await new Promise((resolve) => setTimeout(resolve, deed.ms));
  else {
    await new Promise((resolve) => setTimeout(resolve, 20)); // what was written is on its way
    response.destroy();
  }
}

async function atOnce(call: Promise<string>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('nothing came'), AT_ONCE_MS);
  });
  return Promise.race([call, late]).finally(() => clearTimeout(timer));
}

const figures = { servers: 0, raw: 0, offered: 0, leftOut: 0, calls: 0, answered: 0, failed: 0 };
const reasons = new Map<string, number>();
afterAll(() => {
  if (process.env.ODD_SERVERS_TABLE !== undefined) console.log(figures, Object.fromEntries(reasons));
});

/** Compares what is offered with the raw list, calls every tool, and counts. */
async function judge(server: OddServer, linked: Linked, isHttp: boolean): Promise<void> {
  const offered = await linked.tools();
  const raw = server.tools;
  const why = JSON.stringify(linked.leftOut);
  expect(offered.length + linked.leftOut.length, why).toBe(raw.length);
  for (const { name, isGood } of raw) {
    if (name === undefined) continue;
    const isLeftOut = linked.leftOut.some((one) => one.tool === name && one.why.length > 8);
    expect(offered.includes(name) || isLeftOut, `${name} is neither offered nor left out`).toBe(true);
    if (isGood) expect(offered, why).toContain(name);
  }
  for (const one of linked.leftOut) {
    const words = `the tool ${JSON.stringify(one.tool)} is left out: `;
    expect(linked.reports.filter((report) => report.includes(words))).not.toEqual([]);
    reasons.set(one.why.slice(0, 40), (reasons.get(one.why.slice(0, 40)) ?? 0) + 1);
  }
  for (const name of offered) {
    const { what, answer, how, deeds: done } = server.calls[name] ?? { what: 'nothing', how: 'json', deeds: [] };
    const said = await atOnce(linked.call(name, {}));
    expect(said, what).not.toBe('nothing came');
    const isTorn = isHttp && how === 'json' && done.some((deed) => 'do' in deed && deed.do === 'exit');
    if (answer !== undefined && !isTorn) expect(said, `${what} by ${how}`).toBe(answer);
    figures.calls++;
    figures[said.startsWith('answer') ? 'answered' : 'failed']++;
  }
  figures.servers++;
  figures.raw += raw.length;
  figures.offered += offered.length;
  figures.leftOut += linked.leftOut.length;
}

describe.each([
  ['standard input', onStdio, 0],
  ['HTTP', overHttp, 1],
] as const)('an odd server on %s', (_, make, half) => {
  it(
    `offers its tools as its raw list has them, and ends every call (seed ${SEED}) [TOOL-61] [TOOL-62]`,
    async () => {
      for (const [at, server] of servers.entries()) {
        if (at % 2 !== half) continue;
        const linked = await make(server);
        try {
          await judge(server, linked, half === 1);
        } catch (error) {
          throw new Error(`server ${at}: ${(error as Error).message}\n${JSON.stringify(server).slice(0, 600)}`);
        } finally {
          linked.close();
        }
      }
    },
    LIMIT_MS,
  );
});
