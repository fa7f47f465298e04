/**
 * A tool that prints a given amount, called through its adapter with a store on disk. Checks that everything is
 * stored, that the model's part is small and well-formed, and how much memory the call took.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildOf, defineTool, FAMILY_POLICIES, type Tool, type ToolCallReceipt, toolCallAdapter } from '@reprise/agent';
import { type AdapterContext, type AdapterOutcome, type ContentStore, getBytes, putValue } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import * as z from 'zod';

/** The repeated output: lines of text in several scripts, so that pieces end inside characters. */
const LINE = new TextEncoder().encode('made 漢字 🎉 in the workspace, and said so\n');

/** The size of one piece, as a pipe delivers it; not a multiple of a line. */
const PIECE_BYTES = 64 * 1024;

/** The measured result. */
export interface Found {
  readonly receipt: ToolCallReceipt;
  /** The digest of the output. */
  readonly digest: string;
  /** The model's text. */
  readonly shown: string;
  /** Time of the call, in milliseconds. */
  readonly callMs: number;
  /** The time to hash the same pieces and nothing else, in milliseconds. */
  readonly hashMs: number;
  /** The peak resident memory above the start, in bytes. */
  readonly memoryBytes: number;
}

/** The largest size below a bound that ends with a line. */
export function wholeLines(bytes: number): number {
  return bytes - (bytes % LINE.length);
}

/** Pieces of a text of this many bytes; cheap to make, so that the measurement covers their processing. */
export function* pieces(bytes: number): Generator<Uint8Array> {
  const block = new Uint8Array(PIECE_BYTES + LINE.length).map((_, at) => LINE[at % LINE.length] ?? 0);
  for (let done = 0; done < bytes; done += PIECE_BYTES) {
    const from = done % LINE.length;
    yield block.subarray(from, from + Math.min(PIECE_BYTES, bytes - done));
  }
}

/**
 * Calls a tool that prints this many bytes.
 *
 * @param answerOf how the tool answers with its output; a stream, unless a mutant replaces it
 */
export async function callLoudTool(
  bytes: number,
  answerOf: (printed: AsyncIterable<Uint8Array>) => unknown = (printed) => printed,
): Promise<Found> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reprise-output-'));
  const store = await sqlite(path.join(folder, 'world.db')).open();
  const memory = new MemoryWatch();
  try {
    async function* printed(): AsyncGenerator<Uint8Array> {
      for (const piece of pieces(bytes)) {
        memory.look();
        yield piece;
      }
    }
    const loud = defineTool({
      name: 'loud',
      description: 'Prints much.',
      args: z.strictObject({}),
      family: 'process',
      run: () => answerOf(printed()),
    });
    const started = performance.now();
    const receipt = await call(loud, store.content);
    const callMs = performance.now() - started;
    const shown = await getBytes(store.content, receipt.model_output_ref);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(shown);
    return { receipt, shown: text, callMs, memoryBytes: memory.most, ...hashed(bytes) };
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function call(tool: Tool, content: ContentStore): Promise<ToolCallReceipt> {
  const adapter = toolCallAdapter(buildOf([{ name: 'a', tools: [tool] }]), { now: () => 0 });
  const params = {
    tool: tool.name,
    call_id: 'c1',
    session: { key: 's', labels: {} },
    args_ref: await putValue(content, {}),
    fingerprint: tool.entry.fingerprint,
    guarantee: tool.entry.guarantee,
  };
  const context = { content, signal: new AbortController().signal, attempt: 1, deadline: null, idempotencyKey: '' };
  const outcome = (await adapter.doExecute(
    params,
    context as unknown as AdapterContext,
  )) as AdapterOutcome<ToolCallReceipt>;
  if (outcome.status !== 'ok') throw new Error(`the call came to ${JSON.stringify(outcome)}`);
  return outcome.payload;
}

function hashed(bytes: number): { readonly digest: string; readonly hashMs: number } {
  const started = performance.now();
  const hash = createHash('sha256');
  for (const piece of pieces(bytes)) hash.update(piece);
  return { digest: hash.digest('hex'), hashMs: performance.now() - started };
}

class MemoryWatch {
  readonly #atStart = process.memoryUsage.rss();
  most = 0;
  #looks = 0;

  look(): void {
    if (this.#looks++ % 64 === 0) this.most = Math.max(this.most, process.memoryUsage.rss() - this.#atStart);
  }
}

/** Checks that must hold for an output of any size. @returns the failed checks */
export function faultsOf({ receipt, digest, shown }: Found, bytes: number): string[] {
  const { bytesMax = 0, linesMax = 0 } = FAMILY_POLICIES.process ?? {};
  const marker = /\n\.\.\.\[truncated (\d+) bytes; sha256:([0-9a-f]{64})\]\n/.exec(shown);
  const rules: readonly (readonly [boolean, string])[] = [
    [receipt.operator_output_ref.hex === digest, 'the operator does not get what was printed'],
    [receipt.truncation_meta.original_bytes === bytes, 'the size is not told as it is'],
    [!receipt.is_error, 'it is told as a failure'],
    [Buffer.byteLength(shown) <= bytesMax, 'the model gets too much'],
    [shown.split('\n').length - 1 <= linesMax, 'the model gets too many lines'],
    [marker?.[2] === digest, 'the marker does not name the whole'],
    [
      Number(marker?.[1]) === bytes - Buffer.byteLength(shown) + Buffer.byteLength(marker?.[0] ?? ''),
      'the marker miscounts',
    ],
    [shown.startsWith('made 漢字 🎉'), 'the beginning is not kept'],
  ];
  return rules.filter(([holds]) => !holds).map(([, fault]) => fault);
}
