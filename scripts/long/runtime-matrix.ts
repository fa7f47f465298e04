/**
 * Everything that has a golden head, under other runtimes, time zones and languages:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/runtime-matrix.ts
 *     [--node 20.19.0 --node 24 …] [--bun 1.4.5] [--deno 2.9.6] [--browser]
 *
 * Each runtime replays the golden worlds and the scenarios from their recorded wire bytes in a separate process, and a
 * page of a Chromium the golden worlds. Every head must be the pinned one. The Chromium has to be installed; without
 * one the page is left out with a note, which is a failure with `--browser`.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { type Page, startBrowser } from '../../examples/chat/drive/browser.js';
import { compared, DIFFERENT, type Heads, pinnedHeads } from '../runtimes/compared.js';
import { bundleHeads, bundlePage } from '../runtimes/programs.js';
import { type Make, type Runtime, runtimeOf, thisNode } from '../runtimes/runtimes.js';

const run = promisify(execFile);

/** Node: the releases that are promised, the oldest of the first line and the two after. The others: as of today. */
const RELEASES: Readonly<Record<Make, readonly string[]>> = {
  node: ['20.19.0', '22', '24'],
  bun: ['1.4.5'],
  deno: ['2.9.6'],
};

/** Where and in which language a machine may stand: none may reach a byte. */
const PLACES = [
  { name: 'UTC, C', zone: 'UTC', language: 'C' },
  { name: 'Apia, Turkish', zone: 'Pacific/Apia', language: 'tr_TR' },
  { name: 'Tehran, Arabic', zone: 'Asia/Tehran', language: 'ar_EG' },
  { name: 'Lord Howe, Lithuanian', zone: 'Australia/Lord_Howe', language: 'lt_LT' },
] as const;

type Place = (typeof PLACES)[number];

interface Row {
  readonly runtime: string;
  readonly place: string;
  /** For each world, and for all scenarios, what came of the comparison. */
  readonly found: readonly string[];
}

const release = { type: 'string', multiple: true } as const;
const { values: options } = parseArgs({
  options: { node: release, bun: release, deno: release, browser: { type: 'boolean', default: false } },
});
const folder = await mkdtemp(path.join(os.tmpdir(), 'reprise-matrix-'));
const pinned = pinnedHeads();
const rows: Row[] = [];
try {
  const program = path.join(folder, 'heads.mjs');
  await bundleHeads(program);
  const own = await thisNode();
  await tryProcess(own, program);
  for (const make of Object.keys(RELEASES) as Make[]) {
    for (const version of options[make] ?? RELEASES[make]) {
      const runtime = await runtimeOf(make, version, folder);
      if (runtime.name !== own.name) await tryProcess(runtime, program);
    }
  }
  await tryBrowser();
} finally {
  await rm(folder, { recursive: true, force: true });
}
print();

async function tryProcess({ name, command, args }: Runtime, program: string): Promise<void> {
  for (const place of PLACES) {
    const language = place.language === 'C' ? 'C' : `${place.language}.UTF-8`;
    const env = { ...process.env, TZ: place.zone, LANG: language, LC_ALL: language };
    const { stdout } = await run(command, [...args, program], { env, maxBuffer: 1 << 24 });
    rows.push({ runtime: name, place: place.name, found: compared(JSON.parse(stdout) as Heads, pinned, place.zone) });
  }
}

async function tryBrowser(): Promise<void> {
  const browser = await startBrowser();
  if (browser === undefined) {
    console.log('There is no Chromium here, and so no page: install one, or name it in CHROMIUM.');
    if (options.browser) process.exitCode = 1;
    return;
  }
  const file = path.join(folder, 'page.js');
  await bundlePage(file);
  const script = await readFile(file, 'utf8');
  try {
    const page = await browser.open('about:blank', { width: 800, height: 600 });
    const agent = await page.evaluate<string>('navigator.userAgent');
    const runtime = `page of Chromium ${agent.match(/Chrome\/(\d+)/)?.[1]}`;
    for (const place of PLACES) rows.push(await onPage(page, script, runtime, place));
  } finally {
    await browser.close();
  }
}

async function onPage(page: Page, script: string, runtime: string, place: Place): Promise<Row> {
  await page.call('Emulation.setTimezoneOverride', { timezoneId: place.zone });
  const locale = place.language === 'C' ? 'en-US' : place.language.replace('_', '-');
  await page.call('Emulation.setLocaleOverride', { locale });
  await page.evaluate(script);
  const heads = await page.evaluate<Heads>('heads');
  return { runtime, place: place.name, found: compared(heads, { worlds: pinned.worlds }, place.zone) };
}

function print(): void {
  const columns = [...Object.keys(pinned.worlds), 'scenarios'];
  console.log(`| runtime | place | ${columns.join(' | ')} |\n|${'---|'.repeat(columns.length + 2)}`);
  for (const { runtime, place, found } of rows) console.log(`| ${runtime} | ${place} | ${found.join(' | ')} |`);
  const different = rows.flatMap(({ found }) => found).filter((what) => what.startsWith(DIFFERENT)).length;
  console.log(`runtime matrix: ${rows.length} runtimes and places, ${different} differences`);
  if (different > 0) process.exitCode = 1;
}
