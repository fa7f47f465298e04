/**
 * A sandbox in its own process. See {@link sandbox}.
 *
 * Invariants
 * P1  The process has no permission that Node can withhold, no environment and no file: its two scripts and all of its
 *     input arrive through its standard input, and its output must have the shape of a message.
 * P2  It is killed when it is silent for too long, takes too much memory, sends an invalid message, or is no longer
 *     needed; always by force. It ends with its owner (`bounded-process.ts`).
 * P3  Content is read by digest alone, and only while a frame is being replayed.
 */

import { Buffer } from 'node:buffer';
import type { Ref } from '@reprise/contracts';
import { type KnownOptions, requireArgument, requireKnownOptions, wholeFrom } from '@reprise/contracts';
import {
  type ContentReader,
  codeFailed,
  encode,
  FRAME_DEPTH_MAX,
  type LoadedCode,
  type Performance,
  type Pins,
  type PureCode,
  type Sandbox,
} from '@reprise/kernel';
import { encodeMessage, type FromSandbox, readMessages, type ToSandbox } from '@reprise/kernel/sandbox';
import { type BoundedProcess, startBounded } from './bounded-process.js';
import { SANDBOX_MEMORY_MB, SANDBOX_SAYS_BYTES_MAX, SANDBOX_SILENT_MS } from './bounds.js';
import { pieceOf, pieceReader } from './child/frames.js';
import { CODE, ENGINE, IMPORTED, MESSAGE } from './child/pieces.js';
import { readCode } from './code-text.js';

/** The bounds of a sandbox. */
export interface SandboxOptions {
  /** The time in which it must answer a request, in milliseconds; 30 seconds by default. */
  readonly silentMs?: number;
  /** The memory of its code, heap and buffers together, in MiB; 1,024 by default. On Windows the heap alone. */
  readonly memoryMb?: number;
}

const SANDBOX_OPTIONS: KnownOptions<SandboxOptions> = { silentMs: wholeFrom(1), memoryMb: wholeFrom(1) };

/**
 * A sandbox: replays the pure code of a file in a process without permissions.
 *
 * The code runs in a realm without clock, random values, timers, I/O and host objects, inside a process without Node's
 * permissions and without an environment. That excludes everything that would make a replay differ, and is a high
 * barrier for malicious code; it is no guarantee against a defect of the engine. Verify files of strangers with
 * their code only where you would run a stranger's program at all.
 *
 * @example
 * const report = await verifyStore(await sqlite('world.db').openReadonly(), { code: sandbox() })
 */
export function sandbox(options: SandboxOptions = {}): Sandbox {
  requireKnownOptions(options, SANDBOX_OPTIONS, 'sandbox');
  const { silentMs = SANDBOX_SILENT_MS, memoryMb = SANDBOX_MEMORY_MB } = options;
  return { load: (code) => load(code, { silentMs, memoryMb }) };
}

/**
 * Pure code to open a world with: `openWorld({ code: pureCode(bytes) })`.
 *
 * @param bytes the output of `reprise bundle`
 */
export function pureCode(bytes: Uint8Array, options: SandboxOptions = {}): PureCode {
  requireArgument(bytes instanceof Uint8Array, 'pureCode(bytes)', 'the bytes of bundlePureCode', bytes);
  requireKnownOptions(options, SANDBOX_OPTIONS, 'pureCode');
  const own = Uint8Array.from(bytes);
  let pins: Promise<Pins> | undefined;
  return {
    bytes: own,
    pins: () => {
      pins ??= pinsIn(own, options); // one proof serves every world that is opened with this code
      return pins;
    },
  };
}

async function pinsIn(bytes: Uint8Array, options: SandboxOptions): Promise<Pins> {
  const loaded = await sandbox(options).load(bytes);
  await loaded.close();
  return loaded.pins;
}

async function load(code: Uint8Array, limits: Required<SandboxOptions>): Promise<LoadedCode> {
  const text = readCode(code);
  const { engineText, childText } = await import('#texts');
  const child = new SandboxProcess(childText, limits);
  try {
    child.write(ENGINE, Buffer.from(engineText));
    child.write(CODE, Buffer.from(`'use strict';${text}`));
    return new ProcessCode(child, expectSaid(await child.next(), 'loaded'));
  } catch (error) {
    child.end();
    throw error;
  }
}

class ProcessCode implements LoadedCode {
  readonly pins: Pins;
  #content: Pick<ContentReader, 'get'> | undefined;

  constructor(
    private readonly child: SandboxProcess,
    { reducers, plans, effects }: Said<'loaded'>,
  ) {
    this.pins = { reducers, plans, effects };
  }

  async begin(root: Ref | null, content: Pick<ContentReader, 'get'>): Promise<void> {
    this.#content = content;
    expectSaid(await this.#ask({ tell: 'begin', root }), 'begun');
  }

  async replay(frame: Parameters<LoadedCode['replay']>[0], fromBytes: boolean): Promise<Performance> {
    const { ingress } = frame;
    const inputs = encode(frame, FRAME_DEPTH_MAX);
    const said = await this.#ask({ tell: 'replay', inputs, fromBytes }, `frame ${ingress.seq}`);
    if (said.say === 'refused') return { status: 'refused', words: said.words };
    const { bytes, made, map, touched } = expectSaid(said, 'replayed', `frame ${ingress.seq}`);
    return { status: 'replayed', bytes, made, map, touched };
  }

  async close(): Promise<void> {
    this.child.end();
  }

  /** Sends a request, and sends the content that the process requests meanwhile (P3). */
  async #ask(message: ToSandbox, where?: string): Promise<FromSandbox> {
    this.child.write(MESSAGE, encodeMessage(message));
    for (;;) {
      const said = await this.child.next(where);
      if (said.say !== 'need') return said;
      const bytes = (await this.#content?.get(said.ref)) ?? null;
      this.child.write(MESSAGE, encodeMessage({ tell: 'content', ref: said.ref, bytes }));
    }
  }
}

type Said<K extends FromSandbox['say']> = Extract<FromSandbox, { readonly say: K }>;

function expectSaid<K extends FromSandbox['say']>(said: FromSandbox, say: K, where?: string): Said<K> {
  if (said.say === say) return said as Said<K>;
  const facts = where === undefined ? {} : { where };
  throw said.say === 'failed'
    ? codeFailed(said.what, facts)
    : codeFailed('the sandbox sent an unexpected message', { ...facts, expected: say, actual: said.say });
}

/** The process: its input, its output, and its end. */
class SandboxProcess {
  readonly #process: BoundedProcess;
  readonly #said: FromSandbox[] = [];
  #waiting: { take(said: FromSandbox): void; fail(why: string): void } | undefined;
  /** The reason why no more messages will come. */
  #ended: string | undefined;

  constructor(
    childText: string,
    private readonly limits: Required<SandboxOptions>,
  ) {
    const { memoryMb } = limits;
    this.#process = startBounded(childText, memoryMb, () => this.end(`it took more than ${memoryMb} MiB of memory`)); // P1
    const { child } = this.#process;
    const read = pieceReader(SANDBOX_SAYS_BYTES_MAX, ({ bytes }) => this.#hear(bytes));
    child.stdout?.on('data', (more: Buffer) => this.#guarded(() => read(more)));
    child.stdin?.on('error', () => undefined); // the process has ended, which its exit event reports
    child.on('error', (error) => this.end(`it did not start: ${error.message}`));
    child.on('close', (code, signal) =>
      this.end(code === IMPORTED ? 'it imports while it runs' : endedWith(code, signal)),
    );
  }

  write(kind: number, bytes: Uint8Array): void {
    if (this.#ended === undefined) this.#process.child.stdin?.write(pieceOf(kind, bytes));
  }

  /** The next message. Rejects with `code_failed` when none comes, for too long or for ever. */
  next(where?: string): Promise<FromSandbox> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) =>
        reject(codeFailed(`the code could not be replayed: ${why}`, where === undefined ? {} : { where }));
      const said = this.#said.shift();
      if (said !== undefined) return resolve(said);
      if (this.#ended !== undefined) return fail(this.#ended);
      const { silentMs } = this.limits;
      const silence = setTimeout(() => this.end(`it sent no message for ${silentMs} ms`), silentMs); // P2
      this.#waiting = {
        take: (first) => {
          clearTimeout(silence);
          resolve(first);
        },
        fail: (why) => {
          clearTimeout(silence);
          fail(why);
        },
      };
    });
  }

  // P2
  end(why = 'it was ended'): void {
    if (this.#ended !== undefined) return;
    this.#ended = why;
    this.#process.kill();
    for (const pipe of this.#process.child.stdio) pipe?.destroy();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.fail(why);
  }

  #hear(bytes: Buffer): void {
    this.#said.push(...readMessages(Uint8Array.from(bytes)));
    const waiting = this.#waiting;
    const first = waiting === undefined ? undefined : this.#said.shift();
    if (waiting === undefined || first === undefined) return;
    this.#waiting = undefined;
    waiting.take(first);
  }

  #guarded(body: () => void): void {
    try {
      body();
    } catch {
      this.end('it sent an invalid message');
    }
  }
}

function endedWith(code: number | null, signal: string | null): string {
  return `its process ended with ${signal ?? code}`;
}
