/**
 * The pages of the error codes. They ship with this package, so that the page can be read wherever the error is thrown:
 * `npx reprise explain CODE`.
 */

import { readFile } from 'node:fs/promises';
import type { ErrorCode } from '@reprise/contracts';
import { manifest, pagesFolder } from './package.js';

/** The command that prints the page of an error code. */
export function pageOf(code: string): string {
  return `npx reprise explain ${code}`;
}

/** The page of an error code, in Markdown, with absolute links. */
export async function readPage(code: ErrorCode): Promise<string> {
  return absoluteLinks(await readFile(new URL(`${code}.md`, pagesFolder()), 'utf8'));
}

/** The first line of "What happened" on the page of an error code. */
export async function summaryOf(code: ErrorCode): Promise<string> {
  const page = await readPage(code);
  return /## What happened\s+([^\n]+)/.exec(page)?.[1] ?? '';
}

function absoluteLinks(page: string): string {
  return page.replace(/\]\((?!https?:|#)([^)\s]+)\)/g, (_, target: string) => `](${new URL(target, onlineFolder())})`);
}

/** The address of the pages in the repository that `package.json` names. */
function onlineFolder(): string {
  return `${manifest().repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/docs/errors/`;
}
