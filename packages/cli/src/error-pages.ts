/**
 * The pages of the error codes. They ship with this package, so that an error leads somewhere wherever it is thrown:
 * `npx reprise explain CODE`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ErrorCode } from '@reprise/contracts';

/** How to read the page of an error code. */
export function pageOf(code: string): string {
  return `npx reprise explain ${code}`;
}

/** The page of an error code, in Markdown, with links that lead somewhere from anywhere. */
export async function readPage(code: ErrorCode): Promise<string> {
  return absoluteLinks(await readFile(new URL(`${code}.md`, folder()), 'utf8'));
}

/** What a page says first: its code and what happened. */
export async function summaryOf(code: ErrorCode): Promise<string> {
  const page = await readPage(code);
  return /## What happened\s+([^\n]+)/.exec(page)?.[1] ?? '';
}

/** The build lays the pages beside itself; in the repository they stand with the other documentation. */
function folder(): URL {
  const built = new URL('errors/', import.meta.url);
  return existsSync(built) ? built : new URL('../../../docs/errors/', import.meta.url);
}

function absoluteLinks(page: string): string {
  return page.replace(/\]\((?!https?:|#)([^)\s]+)\)/g, (_, target: string) => `](${new URL(target, onlineFolder())})`);
}

/** Where the pages stand in the repository that `package.json` names. */
function onlineFolder(): string {
  const { repository } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly repository: { readonly url: string };
  };
  return `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/docs/errors/`;
}
