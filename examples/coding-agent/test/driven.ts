/** Starts the command as its user does: a process, its pipes, its signals. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Actor, agentApp } from 'reprise';
import { actorOf, type Principal, readFrame, type VerifyReport, verifyStore } from 'reprise/kernel';
import { sqlite } from 'reprise/sqlite';
import { afterEach } from 'vitest';
import { program } from '../../../scripts/lib/program.js';
import { writeDemo } from '../src/demo/folder.js';

const MAIN = await program(new URL('../src/main.ts', import.meta.url));
const WAIT_MS = 60_000;

const made: string[] = [];
const started = new Set<ChildProcessWithoutNullStreams>();

afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
  started.clear();
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The command while it runs. */
export interface Driven {
  readonly pid: number;
  /** The output so far. */
  readonly out: () => string;
  /** Types a line. */
  type(line: string): void;
  /** Ends the input. */
  end(): void;
  signal(name: NodeJS.Signals): void;
  /** Waits until it has printed a text a number of times; returns the output up to then. */
  until(text: string, times?: number): Promise<string>;
  readonly ended: Promise<Ended>;
}

/** A demo folder, and the place of its worlds. */
export async function place(files: Readonly<Record<string, string>> = {}) {
  const home = mkdtempSync(path.join(tmpdir(), 'reprise-coder-'));
  made.push(home);
  const folder = path.join(home, 'cart');
  const worlds = path.join(home, 'worlds');
  await writeDemo(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return { home, folder, worlds, at: [folder, '--worlds', worlds] as const };
}

/** A slow test, so that it can be interrupted. */
export const SLOW_TEST = {
  'test/slow.test.js': `import { writeFileSync } from 'node:fs';
import { test } from 'node:test';

test('slow', async () => {
  writeFileSync('started.txt', '');
  await new Promise((resolve) => setTimeout(resolve, 120_000));
});
`,
};

/** Starts the command. */
export function drive(...args: readonly string[]): Driven {
  const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, ANTHROPIC_API_KEY: ___, ...env } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], { env });
  started.add(child);
  let out = '';
  let err = '';
  let heard: () => void = () => undefined;
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => {
      started.delete(child);
      resolve({ code, out, err });
      heard();
    });
  });
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
    heard();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk;
  });
  child.stdin.on('error', () => undefined); // it may have been killed
  const until = async (text: string, times = 1): Promise<string> => {
    const late = Date.now() + WAIT_MS;
    while (out.split(text).length <= times) {
      if (!started.has(child) || Date.now() > late)
        throw new Error(`it never said "${text}" ${times} times:\n${out}\n${err}`);
      await new Promise<void>((resolve) => {
        heard = resolve;
        setTimeout(resolve, 1_000);
      });
    }
    return out;
  };
  return {
    pid: child.pid ?? 0,
    out: () => out,
    type: (line) => void child.stdin.write(`${line}\n`),
    end: () => void child.stdin.end(),
    signal: (name) => void child.kill(name),
    until,
    ended,
  };
}

/** Replays a world with nothing but the pure app. */
export async function verified(worlds: string, number = 1): Promise<VerifyReport> {
  const store = await sqlite(path.join(worlds, `${number}.db`)).openReadonly();
  try {
    return await verifyStore(store, { app: agentApp });
  } finally {
    await store.close();
  }
}

/** An act from outside: a message to the agent or a decision, the principal whose rights counted, and who acted. */
type Act = readonly [what: 'message' | 'decision', by: string, actor: Actor];

/** The messages and decisions in the journal of a world, in order. */
export async function acts(worlds: string, number = 1): Promise<readonly Act[]> {
  const store = await sqlite(path.join(worlds, `${number}.db`)).openReadonly();
  try {
    const found: Act[] = [];
    for await (const { seq, bytes } of store.journal.read(0)) found.push(...actIn(readFrame(bytes, seq).ingress));
    return found;
  } finally {
    await store.close();
  }
}

function actIn(ingress: ReturnType<typeof readFrame>['ingress']): readonly Act[] {
  const by = ingress.principal as Principal;
  if (ingress.kind === 'command' && ingress.command.name === 'sys/Decide@1')
    return [['decision', by, actorOf(by, ingress.command.value.actor)]];
  const isSaid = ingress.kind === 'request' && /\/(UserInput|HostCommand)@1$/.test(ingress.event.name);
  return isSaid ? [['message', by, actorOf(by, ingress.actor)]] : [];
}
