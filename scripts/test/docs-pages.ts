/**
 * The pages whose code is run, and their convention. The first line of a fence decides the use of the block:
 * of the block:
 *
 * - `ts file=NAME`, `js file=NAME`: a file of the page's folder, as it is from here on;
 * - `sh run` (`sh run exit=N`): commands, run in that folder in the order of the page;
 * - `ts run=NAME`: a part of the program NAME. All parts of one name are one file, which runs once;
 * - `output`: exactly what the block before it prints. A block without one prints nothing;
 * - `ts`: a module of its own that must compile. So must every TypeScript file and program.
 *
 * Fences of any other kind are for the reader only.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A fenced block. */
export interface Block {
  /** All of the fence's first line after the backticks. */
  readonly info: string;
  readonly text: string;
  /** The line of the page on which the text begins, from 1. */
  readonly line: number;
}

/** A block that is executed, with its expected output. */
export type Action = { readonly block: Block; readonly output: Block | undefined } & (
  | { readonly does: 'file'; readonly file: string }
  | { readonly does: 'commands'; readonly exit: number }
  | { readonly does: 'part'; readonly program: string }
  | { readonly does: 'module' }
);

/** A page and the uses of its blocks, in order. */
export interface Page {
  /** From the root of the repository. */
  readonly file: string;
  readonly actions: readonly Action[];
}

/** A page that does not keep to the convention. */
export class PageError extends Error {}

/** Reads the pages of some folders. */
export function readPages(root: string, folders: readonly string[]): Page[] {
  return folders.flatMap((folder) =>
    readdirSync(path.join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => parsePage(`${folder}/${name}`, readFileSync(path.join(root, folder, name), 'utf8'))),
  );
}

/** The blocks of a page, with their uses. */
export function parsePage(file: string, text: string): Page {
  const blocks = blocksOf(text);
  const actions: Action[] = [];
  for (const [i, block] of blocks.entries()) {
    const next = blocks[i + 1];
    const output = next?.info === 'output' ? next : undefined;
    const role = roleOf(block, file);
    if (role !== undefined) actions.push({ ...role, block, output });
    if (output !== undefined && role?.does !== 'commands' && role?.does !== 'part')
      throw new PageError(`${file}:${output.line}: this output follows nothing that prints`);
  }
  return { file, actions };
}

function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```([^\n`]*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    info: (match[1] ?? '').trim(),
    text: match[2] ?? '',
    line: text.slice(0, match.index).split('\n').length + 1,
  }));
}

type Role = Action extends infer A ? (A extends unknown ? Omit<A, 'block' | 'output'> : never) : never;

function roleOf({ info, line }: Block, page: string): Role | undefined {
  const file = /^(?:ts|js) file=([\w.-]+)$/.exec(info)?.[1];
  if (file !== undefined) return { does: 'file', file };
  const program = /^ts run=([\w-]+)$/.exec(info)?.[1];
  if (program !== undefined) return { does: 'part', program };
  const commands = /^sh run(?: exit=(\d+))?$/.exec(info);
  if (commands !== null) return { does: 'commands', exit: Number(commands[1] ?? 0) };
  if (info === 'ts') return { does: 'module' };
  if (/^(ts|js)\b/.test(info) || info.includes('=') || info.includes(' run'))
    throw new PageError(`${page}:${line}: no block is marked "${info}"; see scripts/test/docs-pages.ts`);
  return undefined;
}

/** The programs of a page: their parts in order. */
export function programsOf(page: Page): Map<string, (Action & { does: 'part' })[]> {
  const programs = new Map<string, (Action & { does: 'part' })[]>();
  for (const action of page.actions) {
    if (action.does !== 'part') continue;
    programs.set(action.program, [...(programs.get(action.program) ?? []), action]);
  }
  return programs;
}

/** Writes the real output into a page: `DOCS_UPDATE=1 npx vitest run scripts/test/docs.test.ts`. */
export function rewriteOutputs(root: string, page: Page, printed: ReadonlyMap<Block, string>): void {
  const file = path.join(root, page.file);
  const lines = readFileSync(file, 'utf8').split('\n');
  for (const [block, text] of [...printed].sort(([a], [b]) => b.line - a.line)) {
    const old = block.text.split('\n').length - 1;
    lines.splice(block.line - 1, old, ...text.split('\n').slice(0, -1));
  }
  writeFileSync(file, lines.join('\n'));
}
