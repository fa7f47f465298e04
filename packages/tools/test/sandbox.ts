/** A real temporary folder and a way to call tools on it, for the tests of this package. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildOf, type Tool, type ToolAdapterOptions, type ToolCallReceipt, toolCallAdapter } from '@reprise/agent';
import {
  type AdapterContext,
  type AdapterOutcome,
  type ContentStore,
  getBytes,
  memory,
  putValue,
} from '@reprise/kernel';
import { afterEach } from 'vitest';
import { type WorkspaceOptions, workspace } from '../src/index.js';

const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** 2024-05-06T07:08:09.125Z: the modification time of every file in a sandbox, unless a test sets another. */
export const WHEN = new Date(Date.UTC(2024, 4, 6, 7, 8, 9, 125));

/** The answer of a tool. */
export interface Answer {
  /** The whole output, as people see it. */
  readonly text: string;
  readonly refused: boolean;
  /** The receipt's payload, and where its content is. */
  readonly receipt: ToolCallReceipt;
  readonly content: ContentStore;
}

/** Calls a tool by name. */
export type Call = (name: string, args?: Record<string, unknown>, over?: Partial<AdapterContext>) => Promise<Answer>;

/** Makes a folder `work` with these files, inside a folder of its own whose other children are "outside". */
export function sandbox(files: Readonly<Record<string, string | Uint8Array>> = {}) {
  const outside = mkdtempSync(path.join(tmpdir(), 'reprise-tools-'));
  made.push(outside);
  const root = path.join(outside, 'work');
  mkdirSync(root);
  for (const [name, content] of Object.entries(files)) put(path.join(root, name), content);
  return { outside, root, call: caller({ root }) };
}

/** Writes a file, its folders too, at a known time. */
export function put(file: string, content: string | Uint8Array): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  utimesSync(file, WHEN, WHEN);
}

/** Calls the tools of a workspace. */
export function caller(options: WorkspaceOptions): Call {
  return callerOf(workspace(options));
}

/** Calls tools through their adapter, as a world does. */
export function callerOf(tools: readonly Tool[], options: Partial<ToolAdapterOptions> = {}): Call {
  const opened = memory().open();
  const adapter = toolCallAdapter(buildOf([{ name: 'a', tools }]), { now: () => 0, ...options });
  return async (name, args = {}, over = {}) => {
    const { content } = await opened;
    const tool = tools.find((candidate) => candidate.name === name);
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    const { fingerprint, guarantee } = tool.entry;
    const params = {
      tool: name,
      call_id: 'c1',
      session: { key: 's', labels: {} },
      args_ref: await putValue(content, args),
      fingerprint,
      guarantee,
    };
    const outcome = (await adapter.doExecute(params, {
      ...contextOf(content),
      ...over,
    })) as AdapterOutcome<ToolCallReceipt>;
    if (outcome.status !== 'ok') throw new Error(`the outcome is ${JSON.stringify(outcome)}`);
    const receipt = outcome.payload;
    const text = new TextDecoder().decode(await getBytes(content, receipt.operator_output_ref));
    return { text, refused: receipt.is_error, receipt, content };
  };
}

function contextOf(content: ContentStore): AdapterContext {
  return {
    idempotencyKey: 'a'.repeat(64),
    attempt: 1,
    deadline: null,
    signal: new AbortController().signal,
    content,
    progress: () => {},
    rights: async () => ({ may: {} }),
    ask: async () => ({ how: 'cancelled' }),
    secret: async (name) => `value of ${name}`,
  };
}
