/** The page that lists the public API of `reprise`, made from the sources. */
import type { Entry, Offer } from './entries.js';

/** The path of the page. */
export const API_PAGE = 'docs/reference/api.md';

const INTRODUCTION = `# Public API

Every name that an entry of the package \`reprise\` exports: its kind, its signature on one line, and what it is. Classes and interfaces show the names of their members. A long signature ends in a digest, so that every change of it changes this page.

This page is generated from the sources: \`DOCS_UPDATE=1 npx vitest run scripts/test/api.test.ts\`. A change of the public API changes this page, and a reviewer sees it here.
`;

/** The page. */
export function apiPage(entries: readonly Entry[]): string {
  const own = entries.filter(({ specifier }) => specifier === 'reprise' || specifier.startsWith('reprise/'));
  return [INTRODUCTION, overviewOf(own), ...own.map(sectionOf)].join('\n');
}

function overviewOf(entries: readonly Entry[]): string {
  const rows = entries.map(({ specifier, offers }) => {
    const values = offers.filter(({ isValue }) => isValue).length;
    return `| [\`${specifier}\`](#${anchorOf(specifier)}) | ${offers.length} | ${values} |\n`;
  });
  return `| entry | names | values among them |\n| --- | --- | --- |\n${rows.join('')}`;
}

function sectionOf({ specifier, offers }: Entry): string {
  const rows = offers.map(rowOf).join('');
  return `## ${specifier}\n\n| name | kind | signature | what it is |\n| --- | --- | --- | --- |\n${rows}`;
}

function rowOf({ name, kind, isValue, signature, summary }: Offer): string {
  const shown = kind === 'class' && !isValue ? 'class, as a type' : kind;
  return `| \`${name}\` | ${shown} | ${asCode(signature)} | ${cell(summary)} |\n`;
}

/** As code in a table: with fences longer than any run of backticks in it. */
function asCode(text: string): string {
  const fence = text.includes('`') ? '``' : '`';
  return cell(fence === '`' ? `\`${text}\`` : `${fence} ${text} ${fence}`);
}

/** A bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function anchorOf(specifier: string): string {
  return specifier.replaceAll('/', '');
}
