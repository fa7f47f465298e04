/** Runs one session and collects every byte, event, chunk, note, print and error that comes of it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { encode } from '@reprise/kernel';
import type { ModelClient } from '../../../providers/src/index.js';
import { formWithin } from '../../../testkit/src/ports/secret-forms.js';
import { toUIMessageStream } from '../../../ui/src/index.js';
import { defineAgent, openWorld } from '../../src/index.js';
import { sqlite } from '../../src/sqlite.js';
import { script } from '../../src/testing/testing.js';

/** A place where a user puts a secret, and a world in which it comes back. */
export interface Place {
  readonly name: string;
  /** Makes the options of the session; `secret` is the planted text. */
  readonly make: (secret: string) => Promise<Scene> | Scene;
}

/** The options of the session. */
export interface Scene {
  readonly model?: ModelClient;
  /** Calls that a scripted model makes, in the order of steps; then it ends. */
  readonly calls?: readonly { readonly tool: string; readonly args: object }[];
  readonly agent?: object;
  readonly world?: object;
  readonly close?: () => unknown;
}

/** Everything that came of a run, by where it was found. */
export type Haul = Map<string, Uint8Array[]>;

/** Runs a scene to its end and collects what came of it. */
export async function haulOf({
  model,
  calls = [],
  agent: spec = {},
  world: options = {},
  close,
}: Scene): Promise<Haul> {
  const haul: Haul = new Map();
  const add = (where: string, thing: unknown): void => {
    const bytes = thing instanceof Uint8Array ? thing : Buffer.from(typeof thing === 'string' ? thing : textOf(thing));
    haul.set(where, [...(haul.get(where) ?? []), bytes]);
  };
  const folder = mkdtempSync(path.join(tmpdir(), 'canary-'));
  const restore = capture((text) => add('prints', text));
  try {
    await run(folder, { model, calls, spec, options }, add);
  } catch (error) {
    add('thrown', error);
  } finally {
    restore();
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (file.isFile()) add('files', readFileSync(path.join(file.parentPath, file.name)));
    }
    rmSync(folder, { recursive: true, force: true });
    await close?.();
  }
  return haul;
}

interface Given {
  readonly model: ModelClient | undefined;
  readonly calls: NonNullable<Scene['calls']>;
  readonly spec: object;
  readonly options: object;
}

async function run(
  folder: string,
  { model, calls, spec, options }: Given,
  add: (where: string, thing: unknown) => void,
) {
  const steps = calls.map(({ tool, args }) => ({ calls: [{ tool, args: args as never }] }));
  const main = model ?? script(...steps, { text: 'Done.' });
  const agent = defineAgent({ name: 'bird', model: 'main', instructions: 'Sing.', ...spec });
  const store = () => sqlite(path.join(folder, 'world.db'));
  await using world = await openWorld({
    store: store(),
    models: { main },
    agents: [agent],
    onProgress: (_effect: string, note: unknown) => add('notes', note),
    onError: (error: unknown, origin: unknown) => {
      add('onError', error);
      add('onError', origin);
    },
    ...options,
  } as never);
  const sung = await world.session('s', agent).send('Go');
  const approving = setInterval(async () => {
    for (const item of await world.pending()) {
      add('open items', item);
      await world.decide(item, item.kind === 'approval' ? { approve: true } : { answer: 'yes' }).catch(() => undefined);
    }
  }, 30);
  const live = (async () => {
    for await (const event of sung.stream()) add('stream', event);
  })().catch((error) => add('stream thrown', error));
  const shown = (async () => {
    for await (const chunk of toUIMessageStream(sung) as unknown as AsyncIterable<unknown>) add('chunks', chunk);
  })();
  await sung.text().then(
    (text) => add('text', text),
    (error) => add('thrown', error),
  );
  clearInterval(approving);
  await Promise.all([live, shown]);
  add('result', await sung.result());
  const kernel = world.kernel;
  for await (const event of world.events({ follow: false })) add('events', event);
  for await (const frame of kernel.frames(0)) {
    add('journal', encode(frame.records, 64));
    if (frame.seq >= kernel.head.seq) break;
  }
  for await (const ref of kernel.content.list()) add('blobs', (await kernel.content.get(ref)) ?? new Uint8Array());
}

/** Collects the printed output meanwhile. */
function capture(take: (text: string) => void): () => void {
  const streams = [process.stdout, process.stderr] as const;
  const writes = streams.map((stream) => stream.write);
  for (const stream of streams) {
    stream.write = ((text: string | Uint8Array) => {
      take(String(text));
      return true;
    }) as never;
  }
  return () => {
    for (const [i, stream] of streams.entries()) Object.assign(stream, { write: writes[i] });
  };
}

/** All that can be read of a thing: as JSON, as Node prints it, and of an error its stack and causes. */
function textOf(thing: unknown): string {
  const inspected = inspect(thing, {
    depth: 20,
    maxStringLength: null,
    maxArrayLength: null,
    breakLength: Infinity,
    showHidden: true,
  });
  const json = thing instanceof Error ? `${thing.message}\n${thing.stack}` : JSON.stringify(thing);
  return `${inspected}\n${json}`;
}

/** The places of a secret in the collected output, each with its encoding. */
export function sightings(haul: Haul, secret: string): string[] {
  return [...haul].flatMap(([where, all]) => {
    const texts = [secret, secret.toLowerCase(), secret.slice(5)];
    const forms = all.flatMap((bytes) =>
      [bytes, unescaped(bytes)].flatMap((one) => texts.map((text) => formWithin(one, text))),
    );
    const form = forms.find((one) => one !== undefined);
    return form === undefined ? [] : [`${where}: ${form}`];
  });
}

/** The bytes with JSON escapes decoded, as a JSON parser would decode them. */
function unescaped(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  return Buffer.from(
    text.replace(/\\+u00([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  );
}
