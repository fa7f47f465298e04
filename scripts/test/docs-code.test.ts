/** Pages, hints and comments name options, paths, commands and codes that are there. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { ERROR_CODES } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { runCli, type Sink } from '../../packages/cli/src/index.js';
import { NEEDS } from '../lib/needs.mjs';
import { workspacePackages } from '../lib/packages.mjs';
import { publishedManifest } from '../release/manifest.mjs';
import {
  commandLines,
  type OptionTable,
  optionsIn,
  optionTables,
  pagesOf,
  pathsNowhere,
  propertiesOf,
  sourcesOf,
  unknownIn,
} from './docs-code.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const pages = pagesOf(ROOT);
const sources = sourcesOf(ROOT);

/** Tables that list every property of some interfaces, and tables that list some of them. */
const LISTED: Readonly<
  Record<string, { readonly of: readonly string[]; readonly some?: true; readonly but?: readonly string[] }>
> = {
  'docs/reference/tools.md#Options': { of: ['packages/agent/src/tools/tool/tool.ts#ToolSpec'] },
  'docs/reference/server.md#`serveHttp(world, options)`': {
    of: [
      'packages/server/src/mount/served-http.ts#ServeHttpOptions',
      'packages/server/src/mount/open-door.ts#DoorOptions',
      'packages/server/src/world/serving.ts#ServerNames',
    ],
  },
  'docs/reference/server.md#`serveHttp(world, options)` 2': {
    of: ['packages/server/src/protocol/limits.ts#HttpLimits'],
  },
  'docs/reference/server.md#`serveStdio(world, options)`': {
    of: ['packages/server/src/stdio.ts#ServeStdioOptions', 'packages/server/src/world/serving.ts#ServerNames'],
  },
  'docs/reference/mcp.md#The server': {
    of: [
      'packages/tools/src/mcp/transport/server.ts#StdioServer',
      'packages/tools/src/mcp/transport/server.ts#HttpServer',
    ],
  },
  'docs/reference/mcp.md#Options': { of: ['packages/tools/src/mcp/mcp.ts#McpOptions'] },
  'docs/how-to/use-mcp-servers.md': { of: ['packages/tools/src/mcp/mcp.ts#McpOptions'], some: true },
  'docs/how-to/run-an-external-agent.md': {
    of: ['packages/tools/src/external/external-agent.ts#ExternalAgentOptions'],
  },
  'docs/how-to/use-a-real-model.md': {
    of: [
      'packages/providers/src/transport/transport.ts#TransportOptions',
      'packages/providers/src/openai/openai-compatible.ts#OpenAiCompatibleOptions',
      'packages/providers/src/model/profile-options.ts#ProfileOptions',
      'packages/providers/src/model/profile-options.ts#AnswerOptions',
    ],
    some: true,
  },
};

const helps = new Map<string, Promise<string>>();

/** The help of some verbs of the command; '' when it has none. */
function helpOf(verbs: readonly string[]): Promise<string> {
  const key = verbs.join(' ');
  const known = helps.get(key) ?? printed([...verbs, '--help']);
  helps.set(key, known);
  return known;
}

async function printed(args: readonly string[]): Promise<string> {
  let text = '';
  const sink = (isOut: boolean): Sink => ({
    isTTY: false,
    columns: undefined,
    closed: false,
    write: async (more) => {
      if (isOut) text += more;
    },
  });
  const code = await runCli(args, {
    out: sink(true),
    err: sink(false),
    interrupted: () => new AbortController().signal,
  });
  return code === 0 ? text : '';
}

const tables = pages.filter(({ file }) => file.startsWith('docs/')).flatMap(optionTables);
const ofOptions = tables.filter(({ header }) => /^(?:options?|bound of `limits`)$/.test(header));

function listed({ place }: OptionTable) {
  return LISTED[place] ?? LISTED[place.split('#')[0] ?? ''];
}

/** The text below a heading of the second level. */
function sectionOf(place: string): string {
  const [file = '', heading = ''] = place.replace(/ \d+$/, '').split('#');
  const text = pages.find((page) => page.file === file)?.text ?? '';
  return text.split(/^## /m).find((section) => section.startsWith(heading)) ?? '';
}

describe('what pages say of the code', () => {
  it('every path of the repository that a page names is there', () => {
    expect(pages.flatMap((page) => pathsNowhere(ROOT, page))).toEqual([]);
    const mutant = {
      file: 'ARCHITECTURE.md',
      text: 'see `kernel/src/pure/engine/fold.ts`, `cell/nowhere.ts`, `docs/no.md`\n',
    };
    expect(pathsNowhere(ROOT, mutant)).toEqual(['ARCHITECTURE.md:1: cell/nowhere.ts', 'ARCHITECTURE.md:1: docs/no.md']);
  });

  it('every page that an error, a hint or a comment of the sources names is there', () => {
    const named = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/(?<![\w/])docs\/[a-z/-]+\.md/g)].map(([page]) => ({ file, page })),
    );
    expect(named.filter(({ page }) => !existsSync(path.join(ROOT, page)))).toEqual([]);
    expect(named.length).toBeGreaterThan(5);
  });

  it('both READMEs say which entry needs which package, and name every package that is not installed by itself', async () => {
    const workspaces = (await workspacePackages()).map(({ manifest }) => manifest);
    const main = workspaces.find(({ name }) => name === 'reprise');
    const optional = Object.keys(publishedManifest(main, workspaces).peerDependenciesMeta);
    expect(optional.length).toBeGreaterThan(3);
    for (const file of ['README.md', 'packages/reprise/README.md']) {
      const text = pages.find((page) => page.file === file)?.text ?? '';
      const rows = (/\| you use \| install \|\n([\s\S]*?)\n\n/.exec(text)?.[1] ?? '').split('\n');
      const isListed = (entry: string, name: string) =>
        rows.some((row) => row.includes(`\`${entry}\``) && row.includes(`\`${name}\``));
      expect([file, Object.entries(NEEDS).filter(([entry, name]) => !isListed(entry, name))]).toEqual([file, []]);
      expect([file, optional.filter((name) => !rows.some((row) => row.includes(`\`${name}\``)))]).toEqual([file, []]);
      expect(rows.some((row) => row.includes('Node below 22.13') && row.includes('`libsql`'))).toBe(true);
    }
  });

  it('every table of options lists the properties of its type', () => {
    const inCode = ofOptions.filter(({ place }) => !place.startsWith('docs/reference/cli.md#'));
    expect(inCode.filter((table) => listed(table) === undefined).map(({ place }) => place)).toEqual([]);
    for (const table of inCode) {
      const { of = [], some } = listed(table) ?? {};
      const properties = new Set(of.flatMap((one) => propertiesOf(ROOT, one)));
      const names = table.names.map((name) => name.replace(/[(?].*$/, ''));
      expect([table.place, names.filter((name) => !properties.has(name))]).toEqual([table.place, []]);
      if (some !== true)
        expect([table.place, [...properties].filter((one) => !names.includes(one))]).toEqual([table.place, []]);
    }
  });

  it('every table of options of the command lists the options of its help', async () => {
    const verbs = tables.filter(({ place }) => place.startsWith('docs/reference/cli.md#`reprise '));
    expect(verbs.length).toBeGreaterThan(8);
    for (const { place, header, names } of verbs) {
      const inner = /^options? of `(\w+)`(?: and `\w+`)?$/.exec(header)?.[1];
      const [, verb = ''] = /#`reprise (\w+)/.exec(place) ?? [];
      const help = optionsIn(await helpOf(inner === undefined ? [verb] : [verb, inner])).filter(
        (one) => one !== '-h' && one !== '--help',
      );
      const shown = names.flatMap((name) => name.split(', ')).map((name) => name.replace(/ .*$/, ''));
      expect([place, shown.filter((one) => !help.includes(one))]).toEqual([place, []]);
      // What every verb of a group takes stands once, in the words of its section.
      const section = sectionOf(place);
      expect([place, help.filter((one) => !shown.includes(one) && !section.includes(one))]).toEqual([place, []]);
    }
  });

  it('every command that a page, an error or a hint shows is one that the command has, with its options', async () => {
    // The page of first mistakes shows a command that is misspelled.
    const right = pages.filter(({ file }) => file !== 'docs/reference/first-mistakes.md');
    const lines = [...right, ...sources].flatMap(commandLines);
    const unknown: string[] = [];
    for (const line of lines) unknown.push(...(await unknownIn(line, helpOf)));
    expect(unknown).toEqual([]);
    expect(lines.length).toBeGreaterThan(50);
    const mutants = ['npx reprise frob w.db', 'npx reprise verify w.db --frob', 'npx reprise tree frob'];
    for (const text of mutants)
      for (const line of commandLines({ file: 'x.md', text })) expect(await unknownIn(line, helpOf)).toHaveLength(1);
  });

  it('every error code that a page links or a docstring throws is one of the closed list', () => {
    const codes: ReadonlySet<string> = new Set(ERROR_CODES);
    const linked = pages.flatMap(({ file, text }) =>
      [...text.matchAll(/\[`([a-z_]+)`\]\((?:\.\.\/|docs\/)*errors\/([a-z_]+)\.md/g)]
        .filter(([, name = '', page]) => name !== page || !codes.has(name))
        .map(([link]) => `${file}: ${link}`),
    );
    expect(linked).toEqual([]);
    // The first code of each; what follows it may be a reason inside of `request_rejected`.
    const thrown = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/@throws RepriseError `([a-z_]+)`/g)].flatMap(([, code = '']) =>
        codes.has(code) ? [] : [`${file}: ${code}`],
      ),
    );
    expect(thrown).toEqual([]);
  });
});
