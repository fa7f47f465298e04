/** A real temporary folder and a way to call the workspace tools on it, for the tests of this package. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isToolError, type ToolContext } from '@reprise/agent';
import { afterEach } from 'vitest';
import { type WorkspaceOptions, workspace } from '../src/index.js';

const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** 2024-05-06T07:08:09.125Z: what every file of a sandbox was last changed at, unless a test says otherwise. */
export const WHEN = new Date(Date.UTC(2024, 4, 6, 7, 8, 9, 125));

/** What a tool answered. */
export interface Answer {
  readonly text: string;
  readonly refused: boolean;
}

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

/** Calls the tools of a workspace by name, arguments parsed as the adapter would. */
export function caller(options: WorkspaceOptions) {
  const tools = new Map(workspace(options).map((tool) => [tool.name, tool]));
  return async (name: string, args: Record<string, unknown> = {}): Promise<Answer> => {
    const tool = tools.get(name);
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    const context = { signal: new AbortController().signal } as ToolContext;
    const result = await tool.run(tool.args.parse(args), context);
    if (isToolError(result)) return { text: result.message, refused: true };
    return { text: String(result), refused: false };
  };
}
