/** Worlds for the tests, each in its own folder, and ways to damage them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineAgent, llmGenerate, openAgentWorld } from '@reprise/agent';
import type { Address, LlmGenerateParams, LlmGenerateReceipt, Ref } from '@reprise/contracts';
import { type Adapter, type EraseReport, openKernelWorld, putValue, type Store, type World } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import Database from 'libsql';
import app from './apps/app.js';

export const LEDGER: Address = ['demo/Ledger@1', 'a'];

/** Text that must never reach a terminal raw: it clears the screen, reverses text, has a control character above 0x7f and a false line. */
export const HOSTILE = '\x1b[2J\u202egnp\u009b31m\nfake line';

/** A folder that is removed after the tests. */
export function freshFolder(): { path: string; file: (name: string) => string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'reprise-cli-'));
  return {
    path,
    file: (name) => join(path, name),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** The content of a ledger world: frame 0 is the manifest, frames 1 to 4 add 1 to 4, frame 5 is a note. */
export interface Ledger {
  /** The heads from the acknowledgements, by frame, from frame 1. */
  readonly heads: readonly string[];
  readonly text: Ref;
  readonly value: Ref;
  readonly bytes: Ref;
}

export async function add(world: World, by: number): Promise<string> {
  return (await world.request(LEDGER, { name: 'demo/Added@1', value: { by } })).head;
}

/** Writes a ledger world. */
export async function makeLedger(path: string): Promise<Ledger> {
  await using world = await openKernelWorld({ store: sqlite(path), app });
  const heads = [];
  for (const by of [1, 2, 3, 4]) heads.push(await add(world, by));
  const text = await world.content.put(new TextEncoder().encode(`# Survey\n${HOSTILE}\n`));
  const value = await putValue(world.content, { b: [1, text], a: HOSTILE });
  const bytes = await world.content.put(Uint8Array.from({ length: 100 }, (_, i) => 255 - i));
  const note = { name: 'demo/Noted@1', value: { text: HOSTILE, at: [text, value, bytes] } };
  heads.push((await world.request(LEDGER, note)).head);
  return { heads, text, value, bytes };
}

/** Writes a ledger world in which only other content links a text. @returns the text */
export async function makeDeep(path: string): Promise<Ref> {
  await using world = await openKernelWorld({ store: sqlite(path), app });
  await add(world, 1);
  const text = await world.content.put(new TextEncoder().encode('deep'));
  const value = await putValue(world.content, { inner: await putValue(world.content, { text }) });
  await world.request(LEDGER, { name: 'demo/Noted@1', value: { text: '', at: [value] } });
  return text;
}

/** Writes a ledger world with two ids that begin with the same digits. @returns the ids */
export async function makeAlike(path: string): Promise<readonly [string, string]> {
  await using world = await openKernelWorld({ store: sqlite(path), app });
  await add(world, 1);
  const ids = ['0', '1'].map((digit) => `abcdef01${digit.repeat(24)}`) as [string, string];
  for (const text of ids) await world.request(LEDGER, { name: 'demo/Noted@1', value: { text, at: [] } });
  return ids;
}

/** Erases content of a ledger world. */
export async function eraseFrom(path: string, ref: Ref): Promise<EraseReport> {
  await using world = await openKernelWorld({ store: sqlite(path), app });
  return await world.erase({ refs: [ref] }, { as: 'human:dpo', reason: 'request 17' });
}

/** Opens a world with one agent that answers everything with the same words. */
export async function greeterWorld(path: string, store: Store = sqlite(path)) {
  const llm: Adapter<LlmGenerateParams, LlmGenerateReceipt> = {
    effect: llmGenerate,
    name: 'test.llm',
    doExecute: async (_, { content }) => ({
      status: 'ok',
      asked: { profile: 'test', model: 'test' },
      payload: {
        output_ref: await putValue(content, { text: 'Hello.', tool_calls: [] }),
        raw_output_ref: await content.put(new TextEncoder().encode('{}')),
        request_digest: '0'.repeat(64),
        request_bytes: 2,
        finish_reason: 'stop',
        tool_calls: [],
      },
    }),
  };
  const greeter = defineAgent({ name: 'greeter', model: 'main', instructions: 'Greet.' });
  const world = await openAgentWorld({
    store,
    agents: [greeter],
    models: { main: {} },
    llm: () => llm,
  });
  return { world, session: world.session('s', greeter) };
}

/** Writes a world with one agent that answered once. */
export async function makeAgentWorld(path: string): Promise<void> {
  const { world, session } = await greeterWorld(path);
  await session.send('Hi');
  await world.kernel.pump();
  await world.close();
}

/** Changes a database directly, without the store. */
export function tamper(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}
